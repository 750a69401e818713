"""Which model a night uses: what the book says, and what is decided tonight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.champion import (
    BASELINE,
    Decision,
    Ruling,
    Seat,
    Standing,
    degradation,
    follow,
    promotion,
    recovery,
    standing,
)
from fints.errors import DataError, ModelError
from fints.plan import plan_diff
from pipelines.sentences import better_on_holdout, sentences
from pipelines.shadow import FILE, Replay, Shadow, of_whole, trial, whole, windows_after
from pipelines.succession import KEY, Chosen, Succession, seat_of

if TYPE_CHECKING:
    from fints.champion.decision import By, Kind
    from fints.champion.rules import Rules
    from pipelines.asof import AsOf
    from pipelines.fits import Fits
    from pipelines.learning import Lesson
    from pipelines.shadow import Window
    from pipelines.shelf import Shelved

_RECENT = 12
_SEATED = frozenset({"install", "promote", "recover", "rollback"})


@dataclass(slots=True, eq=False)
class Council:
    """What is decided about one target on one night.

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
    state: Standing | None = None
    made: list[Decision] = field(default_factory=list)
    known: dict[Seat, Shelved | None] = field(default_factory=dict)

    @property
    def rules(self) -> Rules:
        """How much evidence a decision needs."""
        return self.fits.settings.champion.rules

    @property
    def line(self) -> str:
        """Configuration whose models are compared."""
        return self.fits.shelf.folder.name

    def choose(self) -> Chosen:
        """Follow the book, decide what is due, and return the model of the night."""
        past = [one for one in self.succession.book.read(self.succession.decided_by) if one.seat.line == self.line]
        bound = [one for one in past if one.as_of <= self.as_of.stamp]
        self.state = standing(bound, self.line)
        self.fits.held |= {one.seat.key for one in past if one.kind in _SEATED} | _latest(past, self.line)
        last = max((one.as_of for one in past), default=None)
        free = last is None or self.as_of.stamp > last
        if self.state is None:
            self._install()
        elif free:
            self._decide(self.state)
        if free and self.made and self.succession.decided_by is None:
            self.succession.book.append(self.made)
        assert self.state is not None
        return self._chosen(self.state, bound)

    def _chosen(self, state: Standing, bound: list[Decision]) -> Chosen:
        seat, fit = state.champion, None
        if not seat.is_baseline:
            fit = self._fit(seat)
            if fit is None:
                seat = Seat.baseline(self.line)
        tonight = [*(one for one in bound if one.as_of == self.as_of.stamp), *self.made]
        recent = [one for one in reversed([*bound, *self.made]) if one.kind not in {"keep", "wait"} or one in tonight]
        ruling = Ruling(
            in_use=seat.model,
            version=seat.version,
            since=state.since,
            provisional=state.provisional,
            sentences=sentences(state, seat, self._over(state), self.rules),
            events=tuple(tonight),
            recent=tuple(recent[:_RECENT]),
        )
        if fit is not None:
            return Chosen(seat, fit, self.replay(seat, fit).current(), None, ruling)
        return Chosen(seat, None, None, self._shown(state), ruling)

    def _shown(self, state: Standing) -> tuple[Seat, Shelved] | None:
        for seat in state.seats:
            other = self._fit(seat)
            if other is not None:
                return seat, other
        return None

    def _fit(self, seat: Seat) -> Shelved | None:
        if seat not in self.known:
            self.known[seat] = self.fits.recalled(seat)
        return self.known[seat]

    def _install(self) -> None:
        """Choose the first model of a configuration: what did better on the hold-out."""
        try:
            fit = self.fits.made(self.learnt)
        except (DataError, ModelError) as error:
            why = f"Provisionally: nothing else could be fitted ({error})"
            self._add("install", Seat.baseline(self.line), f"{why}; the next fit will challenge it.")
            return
        seat = self.fits.seat(self.learnt, fit)
        self.known[seat] = fit
        ahead, why = better_on_holdout(fit)
        if not ahead:  # where it is not shipped, its own notes are not told
            dropped = fit.blend.dropped.items()
            self.fits.notes += [f"{self.fits.target}: {name} was dropped: {cause}" for name, cause in dropped]
        if fit.model is None:
            why = f"{why} Its transformer failed, so that it is not kept and the next fit will challenge it."
        self._add("install", seat if ahead else Seat.baseline(self.line), why)
        if not ahead and fit.model is not None:
            self._add("challenge", seat, f"{seat} goes on trial against {BASELINE}, which did better on the hold-out.")

    def _decide(self, state: Standing) -> None:
        if self.succession.adopt and self.succession.adopt != state.champion.version:
            self._adopt(self.succession.adopt)
        self._watch()
        self._judge()
        self.fits.lap("succession")
        self._renew()

    def _adopt(self, version: str) -> None:
        seat = self._seat_of(version)
        if seat is None or self._fit(seat) is None:
            why = f"names {version}, which is no fit of these settings that can be had; it is ignored"
            self.fits.notes.append(f"{self.fits.target}: the alias champion in the registry {why}.")
            return
        if pd.Timestamp(seat.until) > self.fits.panel["ds"].max():
            why = f"names {version}, which has learned from bars after this night; it is ignored"
            self.fits.notes.append(f"{self.fits.target}: the alias champion in the registry {why}.")
            return
        self._add("promote", seat, f"The alias champion was moved to {seat} in the registry.", by="registry")

    def _seat_of(self, version: str) -> Seat | None:
        """Find the fit of a version on the shelf, or in the registry."""
        line, _, key = version.rpartition("/")
        if line != self.line or not KEY.fullmatch(key):  # what a registry says never becomes a path as it is
            return None
        if self.fits.shelf.find(key) is None and self.succession.fetch is not None:
            self.succession.fetch(version)
        return seat_of(self.fits.shelf, key)

    def _watch(self) -> None:
        """Look at the champion, or at the one that the baseline stands in for, each time a window is over."""
        state = self._state
        seat = state.fallen or state.champion
        if seat.is_baseline:
            return
        start = state.fell if state.fallen is not None else state.recovered
        windows = self._windows(pd.Timestamp(seat.until) if start is None else start)
        count = whole(windows, self.fits.settings.h)
        if count <= state.watched:
            return
        replay = self._replay(seat)
        if replay is None:
            return
        windows = of_whole(windows, self.fits.settings.h, count)
        latest = of_whole(windows, self.fits.settings.h, min(self.rules.recent, count))
        seen = trial(replay, windows[-len(latest) :], str(seat))
        if not len(seen.loss):
            return
        if state.fallen is not None:
            verdict = recovery(seen, self.rules)
            kind: Kind = "recover" if verdict.outcome == "yes" else "keep"
        else:
            verdict = degradation(seen, self.rules)
            kind = "fall_back" if verdict.outcome == "yes" else "keep"
        figures = {**verdict.figures, "windows": count}
        if kind == "fall_back":
            why = f"{verdict.sentence} {BASELINE} is used until it recovers or a challenger proves itself."
            self._add("fall_back", Seat.baseline(self.line), why, figures=figures)
            return
        self._add(kind, seat, verdict.sentence, figures=figures)
        if kind == "keep" and state.provisional:
            self._confirm(replay, windows, seat, state.watched)

    def _confirm(self, replay: Replay, windows: list[Window], seat: Seat, watched: int) -> None:
        """See whether a provisional champion has proved itself against the baseline."""
        count, h = whole(windows, self.fits.settings.h), self.fits.settings.h
        for look in self.rules.due(count, watched):
            verdict = promotion(trial(replay, of_whole(windows, h, look), str(seat)), self.rules, look)
            if verdict.outcome == "yes":
                figures = {**verdict.figures, "windows": count}
                self._add("confirm", seat, f"No longer provisional: {verdict.sentence}", figures=figures)
                return

    def _judge(self) -> None:
        """Look at the challenger, where a look is due."""
        state, h = self._state, self.fits.settings.h
        if state.challenger is None:
            return
        seat = state.challenger
        windows = self._windows(pd.Timestamp(max(seat.until, state.champion.until)))
        for look in self.rules.due(whole(windows, h), state.looked):
            replay, champion = self._replay(seat), None
            if replay is None:
                self._add("withdraw", seat, f"{seat} cannot be had any more.")
                return
            judged = of_whole(windows, h, look)
            if not state.champion.is_baseline:
                champion = self._replay(state.champion)
                if champion is None:
                    return
            beside = None if champion is None else champion.losses(judged)
            verdict = promotion(trial(replay, judged, str(seat), beside), self.rules, look)
            kinds: dict[str, Kind] = {"yes": "promote", "no": "withdraw", "open": "wait"}
            self._add(kinds[verdict.outcome], seat, verdict.sentence, figures={**verdict.figures, "windows": look})
            if verdict.outcome != "open":
                break
        if self._state.challenger is None and self._state.provisional and self._state.champion.is_baseline:
            why = f"No longer provisional: {BASELINE} outlasted the trial of {seat}."
            self._add("confirm", self._state.champion, why)

    def _renew(self) -> None:
        """Put a newer fit on trial, where there is one and it is wanted."""
        state = self._state
        if self.learnt.until.isoformat() <= state.newest:
            return
        why = self._wanted(state)
        if not why:
            return
        try:
            fit = self.fits.made(self.learnt)
        except (DataError, ModelError) as error:  # the model in use is none the worse for it
            self.fits.notes.append(f"{self.fits.target}: the new fit failed, and is tried again: {error}.")
            return
        if fit.model is None:
            self.fits.notes.append(f"{self.fits.target}: the new fit lacks its transformer; it is not put on trial.")
            return
        seat = self.fits.seat(self.learnt, fit)
        self.known[seat] = fit
        self._add("challenge", seat, f"{seat} goes on trial: {why}.")

    def _wanted(self, state: Standing) -> str:
        """Say why a new fit is wanted; empty if it is not."""
        if state.challenger is None:
            every = self.fits.settings.retrain_every
            return f"a new fit is made every {every} sessions, and none is on trial"
        if state.stale:
            return f"{state.fallen or state.champion} shows drift, and {state.challenger} was fitted before that"
        on_trial = self._fit(state.challenger) if not state.looked else None
        if on_trial is None or on_trial.model is None:
            return ""
        plan = self.fits.searched(self.learnt).plan
        changed = [str(one) for one in plan_diff(on_trial.model.design.plan, plan) if _matters(one.kind)]
        return f"the cycles changed since {state.challenger} was fitted ({'; '.join(changed)})" if changed else ""

    def _add(
        self, kind: Kind, seat: Seat, why: str, *, by: By = "night", figures: dict[str, float] | None = None
    ) -> None:
        told = {name: float(value) for name, value in (figures or {}).items() if np.isfinite(value)}
        self.made.append(Decision(kind, seat, self.as_of.stamp, self.succession.now, why, by, told))
        self.state = follow(self.state, self.made[-1], self.line)

    @property
    def _state(self) -> Standing:
        assert self.state is not None
        return self.state

    def _over(self, state: Standing) -> int:
        """Count the windows of the trial that are over."""
        if state.challenger is None:
            return 0
        start = pd.Timestamp(max(state.challenger.until, state.champion.until))
        return whole(self._windows(start), self.fits.settings.h)

    def _windows(self, start: pd.Timestamp) -> list[Window]:
        return windows_after(self.fits.panel, start, self.fits.settings.h)

    def _replay(self, seat: Seat) -> Replay | None:
        fit = self._fit(seat)
        return None if fit is None else self.replay(seat, fit)

    def replay(self, seat: Seat, fit: Shelved) -> Replay:
        """Return a fit as it can be asked again."""
        keep = self.succession.decided_by is None
        shadow = Shadow.open(self.fits.shelf.folder / seat.key / FILE, keep=keep)
        learnt = self.fits.lesson_of(seat)
        panel, settings = self.fits.panel, self.fits.settings
        return Replay(fit, learnt, panel, settings, shadow, self.succession.now, self.succession.decided_by)


def _latest(past: list[Decision], line: str) -> set[str]:
    """Name the rows of the fits that the latest decisions are about."""
    state = standing(past, line)
    return set() if state is None else {seat.key for seat in state.seats}


def _matters(kind: str) -> bool:
    return kind in {"new", "gone"}
