"""The models of a target: listed, and put in use by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.champion import BASELINE, Decision, Seat, standing
from fints.errors import ConfigError, DamagedBookError, UnknownNameError
from fints.series import get_target
from fints.sessions import parse_interval
from pipelines import clock
from pipelines.plans import PlanBook
from pipelines.shadow import FILE, Shadow
from pipelines.shelf import Shelf
from pipelines.succession import Succession, seat_of

if TYPE_CHECKING:
    from fints.champion import Book, Standing
    from fints.champion.decision import Kind
    from fints.settings import NightlySettings
    from pipelines.home import Home
    from pipelines.shelf import Shelved

_FARTHEST_EAST = pd.Timedelta(hours=14)
"""No clock is further ahead of UTC."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model of a target.

    Parameters
    ----------
    target, model, version, state, since, why : str
    holdout : float, optional
        Its CRPS on the hold-out over that of the baseline, less one: −0.05 is 5 % lower.
    recent : float, optional
        The same over the windows that have passed since.
    windows : int
        How many of those there are; they overlap.
    """

    target: str
    model: str
    version: str
    state: str
    since: str
    why: str
    holdout: float | None
    recent: float | None
    windows: int


@dataclass(frozen=True, slots=True)
class ModelBook:
    """The models and decisions of one target under present settings.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
    target : str
    """

    settings: NightlySettings
    home: Home
    target: str

    @property
    def book(self) -> Book:
        """Its decisions."""
        return Succession.book_under(self.home.models, (self.settings.dataset, self.settings.interval, self.target))

    @property
    def shelf(self) -> Shelf:
        """Its fits."""
        return Shelf.under(self.home.models, self.settings.dataset, self.target, self.settings.digest)

    @property
    def line(self) -> str:
        """Configuration that the settings stand for."""
        return self.shelf.folder.name

    def damage(self) -> str:
        """Say why decisions cannot be read, where, and what to do about it; empty where they can."""
        try:
            self.book.read()
        except DamagedBookError as error:
            return str(error)
        return ""

    def standing(self) -> Standing | None:
        """Say where the models stand."""
        return standing(self.book.read(), self.line)

    def decisions(self) -> list[Decision]:
        """Return what was decided under these settings, the oldest first."""
        return [one for one in self.book.read() if one.seat.line == self.line]

    def rows(self) -> list[ModelRow]:
        """List the models, that in use first; none before the first night.

        Where the decisions cannot be read, the baseline stands in, and no fit is known to have a state.
        """
        seats = [seat for key in reversed(self.shelf.keys()) if (seat := seat_of(self.shelf, key)) is not None]
        if self.damage():
            found = {Seat.baseline(self.line): "stands in", **dict.fromkeys(seats, "on the shelf")}
            return [self._row(seat, state, []) for seat, state in found.items()]
        state = self.standing()
        if state is None:
            return []
        named = [state.champion, *state.seats, *seats, Seat.baseline(self.line)]
        return [self._row(seat, _state_of(seat, state), self.decisions()) for seat in dict.fromkeys(named)]

    def promote(self, version: str, reason: str) -> Decision:
        """Put a model in use.

        Raises
        ------
        UnknownNameError
            If there is none of that version, naming those that there are.
        ConfigError
            If it is in use already, nothing was forecast yet, or no reason is given.
        DamagedBookError
            If earlier decisions cannot be read.
        """
        self.book.read()  # raises where it is damaged: a decision more would not mend it
        seats = {row.version: row for row in self.rows()}
        choices = {**{name: name for name in seats}, **{name.rpartition("/")[2]: name for name in seats}}
        if not seats:
            raise ConfigError(self._nothing_yet())
        if version not in choices:
            raise UnknownNameError("version", version, choices)
        key = choices[version].rpartition("/")[2]
        seat = Seat.baseline(self.line) if key == BASELINE else seat_of(self.shelf, key)
        if seat is None:
            raise ConfigError(
                f"the files of {version} are missing or damaged under {self.shelf.folder}; promote another version: "
                "`fints model list` names them"
            )
        last = self._last_night()
        if not seat.is_baseline and pd.Timestamp(seat.until) > self._local(last):
            raise ConfigError(
                f"{seat} has learned from bars up to {seat.until[:10]}, after the last night, {last:%Y-%m-%d}: its "
                "forecasts of that night would know them; run the next night first"
            )
        return self._decide("promote", seat, reason)

    def rollback(self, reason: str) -> Decision:
        """Put the model in use that was before the present one.

        Raises
        ------
        ConfigError
            If there was none, or no reason is given.
        """
        state = self.standing()
        if state is None:
            raise ConfigError(self._nothing_yet())
        if state.previous is None:
            raise ConfigError(
                f"no other model of {self.target} was in use before {state.champion}; there is no way back"
            )
        return self._decide("rollback", state.previous, reason)

    def _decide(self, kind: Kind, seat: Seat, reason: str) -> Decision:
        state, reason = self.standing(), " ".join(reason.split())
        if not reason:
            raise ConfigError("give a reason with --reason: it stands in the report and in the book for good")
        if state is not None and seat == state.champion:
            raise ConfigError(f"{seat} is in use already")
        decision = Decision(kind, seat, self._last_night(), clock.now(), f"By hand: {reason}", "hand")
        self.book.append([decision])
        return decision

    def _last_night(self) -> pd.Timestamp:
        """As-of of the last night: a decision by hand holds from it on, so that this night can be repeated with it."""
        nights = [path.stem for path in (PlanBook.under(self.home, self.settings).folder / self.target).glob("*.json")]
        known = [one.as_of for one in self.decisions()]
        for night in nights:
            try:
                known.append(pd.Timestamp(night))
            except ValueError:
                continue
        return max(known)

    def _local(self, night: pd.Timestamp) -> pd.Timestamp:
        """Return the latest stamp that the last bar of a night may have: those of intraday bars go by local clocks.

        The panel, which tells of which exchange, is not read for this: what a clock ahead of UTC lets pass here is
        refused by the night.
        """
        return night if parse_interval(self.settings.interval) is None else night + _FARTHEST_EAST

    def _nothing_yet(self) -> str:
        return (
            f"no night has forecast {self.target} of {self.settings.dataset} under these settings yet; run `fints "
            "nightly` first, or give the settings of the night with --config"
        )

    def _row(self, seat: Seat, state: str, decisions: list[Decision]) -> ModelRow:
        own = [one for one in decisions if one.seat == seat and one.kind not in {"keep", "wait"}]
        last = own[-1] if own else None
        holdout, recent, windows = self._scores(seat)
        return ModelRow(
            target=self.target,
            model=seat.model,
            version=seat.version,
            state=state,
            since="" if last is None else f"{last.as_of:%Y-%m-%d}",
            why="" if last is None else last.why,
            holdout=holdout,
            recent=recent,
            windows=windows,
        )

    def _scores(self, seat: Seat) -> tuple[float | None, float | None, int]:
        if seat.is_baseline:
            return None, None, 0
        fit = self.shelf.find(seat.key)
        rows = Shadow.open(self.shelf.folder / seat.key / FILE, keep=False).rows.values()
        known = [row for row in rows if row[0] == row[0] and row[1] == row[1]]
        usual = sum(row[1] for row in known)
        recent = sum(row[0] for row in known) / usual - 1 if usual else None
        return None if fit is None else _on_holdout(fit), recent, len(known)


def chosen_targets(settings: NightlySettings, named: str | None) -> list[str]:
    """Return the target that is named, or all of the settings.

    Raises
    ------
    UnknownNameError
        If there is no such target among them.
    """
    if named is None:
        return list(settings.targets)
    get_target(named)
    if named not in settings.targets:
        raise UnknownNameError("target", named, settings.targets)
    return [named]


def _on_holdout(fit: Shelved) -> float | None:
    board = fit.holdout.leaderboard
    scores = {} if board.empty else dict(zip(board["model"], board["CRPS"], strict=True))
    own, usual = scores.get(fit.blend.name), scores.get(BASELINE)
    return None if own is None or not usual else float(own / usual - 1)


def _state_of(seat: Seat, state: Standing) -> str:
    if seat == state.champion:
        return "champion, provisional" if state.provisional else "champion"
    if seat == state.challenger:
        return "challenger"
    if seat == state.fallen:
        return "fallen"
    if seat.is_baseline:
        return "always there"
    return "earlier champion" if seat in state.before else "on the shelf"


def plain(row: ModelRow) -> dict[str, object]:
    """Return a row as plain values."""
    kept: dict[str, object] = json.loads(json.dumps({name: getattr(row, name) for name in ModelRow.__slots__}))
    return kept
