"""Which model a night uses: what the book says, and what is decided tonight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fints.champion import Decision, Ruling, Seat, Standing, installed, standing
from fints.errors import DamagedBookError, DataError, ModelError
from pipelines import sentences
from pipelines.contenders import Contenders
from pipelines.deliberation import Deliberation
from pipelines.next_fit import next_fit_in_words
from pipelines.succession import Chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.champion.decision import Kind
    from pipelines.asof import AsOf
    from pipelines.fits import Fits
    from pipelines.learning import Lesson
    from pipelines.succession import Succession

_RECENT = 12
_SEATED = frozenset({"install", "promote", "recover", "rollback"})
_SEATING = _SEATED | {"fall_back"}
_LOOKS = frozenset({"keep", "wait"})


@dataclass(slots=True, eq=False)
class Council:
    """Follows the book of one target on one night, and enters what is decided.

    Parameters
    ----------
    fits : Fits
    learnt : Lesson
        Rows of the newest fit that the night may make.
    as_of : AsOf
    succession : Succession
    """

    fits: Fits
    learnt: Lesson
    as_of: AsOf
    succession: Succession
    contenders: Contenders = field(init=False)

    def __post_init__(self) -> None:
        self.contenders = Contenders(self.fits, self.succession)

    @property
    def line(self) -> str:
        """Configuration whose models are compared."""
        return self.contenders.line

    def choose(self) -> Chosen:
        """Follow the book, decide what is due, and return the model of the night.

        Where the book cannot be read, the baseline stands in, and nothing is decided or written until a person has
        mended it: what is left of it could put a model in use that had fallen.
        """
        try:
            entered = self.succession.book.read(self.succession.decided_by)
        except DamagedBookError as error:
            return self._standing_in(error)
        past = [one for one in entered if one.seat.line == self.line]
        bound = [one for one in past if one.as_of <= self.as_of.stamp]
        self.fits.held |= {one.seat.key for one in past if one.kind in _SEATED} | _latest(past, self.line)
        free = all(self.as_of.stamp > one.as_of for one in past) and not (past and self._overtaken())
        state, made = self._decided(standing(bound, self.line), free=free)
        if free and made and self.succession.decided_by is None:
            self.succession.book.append(made)
        return self._chosen(state, bound, made)

    def _overtaken(self) -> bool:
        """Whether a later night was done before: it was made without what this one would decide."""
        return self.succession.newest is not None and self.as_of.stamp < self.succession.newest

    def _decided(self, state: Standing | None, *, free: bool) -> tuple[Standing, list[Decision]]:
        """Return where the models stand after tonight, and what was decided."""
        if state is None:
            first, *rest = self._first()
            made = [first, *rest]
            return installed(first, rest), made
        deliberation = Deliberation(self.contenders, self.learnt, self.as_of, state)
        if free:
            deliberation.decide()
        return deliberation.state, deliberation.made

    def _first(self) -> list[Decision]:
        """Choose the first model of a configuration: what did better on the hold-out."""
        baseline = Seat.baseline(self.line)
        try:
            fit = self.fits.made(self.learnt)
        except (DataError, ModelError) as error:
            return [self._decision("install", baseline, sentences.nothing_else(error))]
        seat = self.fits.seat(self.learnt, fit)
        self.contenders.known[seat] = fit
        ahead, why = sentences.better_on_holdout(fit)
        if fit.model is None:
            why = sentences.without_transformer(why)
        if ahead:
            return [self._decision("install", seat, why)]
        # where it is not shipped, its own notes are not told
        self.fits.notes += sentences.dropped(self.fits.target, fit.blend.dropped)
        made = [self._decision("install", baseline, why)]
        if fit.model is not None:
            made.append(self._decision("challenge", seat, sentences.on_trial_at_once(seat)))
        return made

    def _decision(self, kind: Kind, seat: Seat, why: str) -> Decision:
        return Decision(kind, seat, self.as_of.stamp, self.succession.now, why)

    def _chosen(self, state: Standing, bound: Sequence[Decision], made: Sequence[Decision]) -> Chosen:
        seat = state.champion
        replay = None if seat.is_baseline else self.contenders.replay(seat)
        lack = "" if seat.is_baseline or replay is not None else self.fits.lack(seat)
        if lack:
            self.fits.notes.append(sentences.fit_is_lost(self.fits.target, seat, lack))
            seat = Seat.baseline(self.line)
        tonight = [*(one for one in bound if one.as_of == self.as_of.stamp), *made]
        recent = [one for one in reversed([*bound, *made]) if one.kind not in _LOOKS or one in tonight]
        over, rules = self.contenders.over(state), self.fits.settings.champion.rules
        ruling = Ruling(
            in_use=seat.model,
            version=seat.version,
            since=self.as_of.stamp if lack else state.since,
            provisional=state.provisional and not lack,
            sentences=sentences.sentences(state, lack, over, rules, self._due(state)),
            events=tuple(tonight),
            recent=_shown(recent),
        )
        if replay is not None:
            return Chosen(seat, replay.shelved, replay.current(), None, ruling)
        return Chosen(seat, None, None, self.contenders.first_of(state), ruling)

    def _due(self, state: Standing) -> str:
        """Say when the next fit is made; one that is due already failed tonight, or lacked its transformer."""
        if state.challenger is not None:
            return ""
        if self.learnt.until.isoformat() > state.newest:
            return sentences.due_already(self.learnt.until)
        return next_fit_in_words(self.fits.panel, self.fits.settings.retrain_every, self.as_of)

    def _standing_in(self, error: DamagedBookError) -> Chosen:
        """Return the baseline, beside the newest fit, which is shown and not used."""
        seat = Seat.baseline(self.line)
        self.fits.notes.append(sentences.stands_in(self.fits.target, error))
        said = sentences.unknown_champion(error)
        ruling = Ruling(seat.model, seat.version, self.as_of.stamp, sentences=said, damage=str(error))
        return Chosen(seat, None, None, self.contenders.newest(), ruling)


def _shown(recent: Sequence[Decision]) -> tuple[Decision, ...]:
    """Keep the newest decisions, and the one that says which model is in use, however old it is."""
    seated = next((place for place, one in enumerate(recent) if one.kind in _SEATING), 0)
    return (*recent[:_RECENT], recent[seated]) if seated >= _RECENT else tuple(recent[:_RECENT])


def _latest(past: Sequence[Decision], line: str) -> set[str]:
    """Name the rows of the fits that the latest decisions are about."""
    state = standing(past, line)
    return set() if state is None else {seat.key for seat in state.seats}
