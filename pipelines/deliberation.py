"""What is decided on one night about the model in use, its challenger and a newer fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.champion import Decision, Seat, degradation, followed, promotion, recovery
from fints.errors import DataError, ModelError
from fints.plan import plan_diff
from pipelines import sentences
from pipelines.shadow import of_whole, trial, whole

if TYPE_CHECKING:
    from fints.champion import Standing
    from fints.champion.decision import By, Kind
    from fints.champion.rules import Rules
    from pipelines.asof import AsOf
    from pipelines.contenders import Contenders
    from pipelines.learning import Lesson
    from pipelines.shadow import Replay, Window


@dataclass(slots=True, eq=False)
class Deliberation:
    """The decisions of one night about one target.

    Parameters
    ----------
    contenders : Contenders
    learnt : Lesson
        Rows of the newest fit that the night may make.
    as_of : AsOf
    state : Standing
        Where the models stand, after every decision.
    made : list of Decision
        Tonight.
    """

    contenders: Contenders
    learnt: Lesson
    as_of: AsOf
    state: Standing
    made: list[Decision] = field(default_factory=list)

    @property
    def rules(self) -> Rules:
        """How much evidence a decision needs."""
        return self.contenders.fits.settings.champion.rules

    def decide(self) -> None:
        """Decide what is due: what a person moved first, then the champion, its challenger, and a newer fit."""
        adopt = self.contenders.succession.adopt
        if adopt and adopt != self.state.champion.version:
            self._adopt(adopt)
        self._watch()
        self._judge()
        self.contenders.fits.lap("succession")
        self._renew()

    def _adopt(self, version: str) -> None:
        seat, fits = self.contenders.find(version), self.contenders.fits
        if seat is None or self.contenders.fit(seat) is None:
            fits.notes.append(sentences.no_such_fit(fits.target, version))
        elif pd.Timestamp(seat.until) > fits.panel["ds"].max():
            fits.notes.append(sentences.knows_the_future(fits.target, version))
        else:
            self._add("promote", seat, sentences.moved_in_registry(seat), by="registry")

    def _watch(self) -> None:
        """Look at the champion, or at the one that the baseline stands in for, each time a window is over."""
        state, h = self.state, self.contenders.h
        seat = state.fallen or state.champion
        if seat.is_baseline:
            return
        night, own = state.fell if state.fallen is not None else state.recovered, self.contenders
        windows = own.windows(pd.Timestamp(seat.until)) if night is None else own.windows_since(night)
        count = whole(windows, h)
        if count <= state.watched:
            return
        replay = self.contenders.replay(seat)
        if replay is None:
            return
        windows = of_whole(windows, h, count)
        latest = of_whole(windows, h, min(self.rules.recent, count))
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
            baseline = Seat.baseline(self.contenders.line)
            self._add("fall_back", baseline, sentences.fallen_back(verdict.sentence), figures=figures)
            return
        self._add(kind, seat, verdict.sentence, figures=figures)
        if kind == "keep" and state.provisional:
            self._confirm(replay, windows, seat, state.watched)

    def _confirm(self, replay: Replay, windows: list[Window], seat: Seat, watched: int) -> None:
        """See whether a provisional champion has proved itself against the baseline."""
        h = self.contenders.h
        count = whole(windows, h)
        for look in self.rules.due(count, watched):
            verdict = promotion(trial(replay, of_whole(windows, h, look), str(seat)), self.rules, look)
            if verdict.outcome == "yes":
                figures = {**verdict.figures, "windows": count}
                self._add("confirm", seat, sentences.confirmed(verdict.sentence), figures=figures)
                return

    def _judge(self) -> None:
        """Look at the challenger, where a look is due."""
        state, h = self.state, self.contenders.h
        if state.challenger is None:
            return
        seat, windows = state.challenger, self.contenders.trial(state)
        for look in self.rules.due(whole(windows, h), state.looked):
            replay, champion = self.contenders.replay(seat), None
            if replay is None:
                self._add("withdraw", seat, sentences.lost(seat))
                return
            judged = of_whole(windows, h, look)
            if not state.champion.is_baseline:
                champion = self.contenders.replay(state.champion)
                if champion is None:
                    return
            beside = None if champion is None else champion.losses(judged)
            verdict = promotion(trial(replay, judged, str(seat), beside), self.rules, look)
            kinds: dict[str, Kind] = {"yes": "promote", "no": "withdraw", "open": "wait"}
            self._add(kinds[verdict.outcome], seat, verdict.sentence, figures={**verdict.figures, "windows": look})
            if verdict.outcome != "open":
                break
        if self.state.challenger is None and self.state.provisional and self.state.champion.is_baseline:
            self._add("confirm", self.state.champion, sentences.outlasted(seat))

    def _renew(self) -> None:
        """Put a newer fit on trial, where there is one and it is wanted."""
        state, fits = self.state, self.contenders.fits
        if self.learnt.until.isoformat() <= state.newest:
            return
        why = self._wanted(state)
        if not why:
            return
        try:
            fit = fits.made(self.learnt)
        except (DataError, ModelError) as error:  # the model in use is none the worse for it
            fits.notes.append(sentences.new_fit_failed(fits.target, error))
            return
        if fit.model is None:
            fits.notes.append(sentences.new_fit_is_bare(fits.target))
            return
        seat = fits.seat(self.learnt, fit)
        self.contenders.known[seat] = fit
        self._add("challenge", seat, sentences.on_trial(seat, why))

    def _wanted(self, state: Standing) -> str:
        """Say why a new fit is wanted; empty if it is not."""
        fits = self.contenders.fits
        if state.challenger is None:
            return sentences.none_on_trial(fits.settings.retrain_every)
        if state.stale:
            return sentences.drifting(state.fallen or state.champion, state.challenger)
        fit = self.contenders.fit(state.challenger) if not state.looked else None
        if fit is None or fit.model is None:
            return ""
        found = plan_diff(fit.model.design.plan, fits.searched(self.learnt).plan)
        changed = [str(one) for one in found if one.kind in {"new", "gone"}]
        return sentences.cycles_changed(state.challenger, changed) if changed else ""

    def _add(
        self, kind: Kind, seat: Seat, why: str, *, by: By = "night", figures: dict[str, float] | None = None
    ) -> None:
        told = {name: float(value) for name, value in (figures or {}).items() if np.isfinite(value)}
        one = Decision(kind, seat, self.as_of.stamp, self.contenders.succession.now, why, by, told)
        self.made.append(one)
        self.state = followed(self.state, one)
