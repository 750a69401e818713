"""When a model is promoted, when it is taken out of use, and when it comes back: functions of losses alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.backtest.significance import diebold_mariano, overlap_lag
from fints.champion.decision import BASELINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

PROMISE = 0.8
"""Share of values that the band watched should hold."""

Outcome = Literal["yes", "no", "open"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How much evidence a decision needs.

    Parameters
    ----------
    level : float
        Chance that a challenger which is no better is promoted in the course of its whole trial.
    looks : tuple of int
        Windows side by side after which a challenger is judged; its trial ends with the last. Each look may spend a
        share of `level` in proportion to its windows, so that looking again and again costs nothing beyond it.
    alarm : float
        Chance that one look at a champion takes it out of use although it is no worse than the baseline.
    least : int
        Windows side by side before a champion is judged at all.
    recent : int
        Most windows side by side that it is judged on: the last ones.
    margin : float
        How much farther than that of the baseline the coverage of the 80 % band may be off before chance is asked.
    drift : float
        Level of the milder sign of trouble, on which a new fit is wanted.
    """

    level: float = 0.05
    looks: tuple[int, ...] = (6, 12, 18, 24)
    alarm: float = 0.005
    least: int = 6
    recent: int = 12
    margin: float = 0.1
    drift: float = 0.05

    def spent(self, look: int) -> float:
        """Level of the look at so many windows."""
        return self.level * look / sum(self.looks)

    def due(self, windows: int, looked: int) -> tuple[int, ...]:
        """Return the looks of a trial that so many windows allow, and that were not taken yet."""
        return tuple(look for look in self.looks if looked < look <= windows)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Losses of a model and of others over the same windows, which overlap.

    Parameters
    ----------
    model : str
        Whom it is about, in words.
    loss : numpy.ndarray, shape (n,)
        CRPS of each window, in order of time.
    against : mapping of str to numpy.ndarray, shape (n,)
        The same of others, by name.
    apart, h : int
        Bars between windows, and of each.
    inside, usual : numpy.ndarray, shape (n,), optional
        Share of values inside the 80 % band of the model, and of the baseline.
    """

    model: str
    loss: FloatArray
    against: Mapping[str, FloatArray]
    apart: int
    h: int
    inside: FloatArray = field(default_factory=lambda: np.empty(0))
    usual: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def windows(self) -> int:
        """How many of them lie side by side."""
        return 0 if not len(self.loss) else 1 + ((len(self.loss) - 1) * self.apart) // self.h

    def last(self, windows: int) -> Trial:
        """Keep so many windows side by side at the end, and those that overlap with them."""
        kept = 1 + ((windows - 1) * self.h) // self.apart
        return Trial(
            self.model,
            self.loss[-kept:],
            {name: loss[-kept:] for name, loss in self.against.items()},
            self.apart,
            self.h,
            self.inside[-kept:],
            self.usual[-kept:],
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the losses say.

    Parameters
    ----------
    outcome : {"yes", "no", "open"}
    sentence : str
    figures : mapping of str to float
    """

    outcome: Outcome
    sentence: str
    figures: Mapping[str, float]


def promotion(trial: Trial, rules: Rules, look: int) -> Verdict:
    """Judge a challenger at one of its looks.

    Parameters
    ----------
    trial : Trial
        Of the challenger against the champion and the baseline, over windows that none of them was fitted on.
    rules : Rules
    look : int
        Windows side by side.

    Returns
    -------
    Verdict
        ``yes`` where it is better than every one of them, by more than chance; ``no`` at the last look otherwise.
    """
    asked = rules.spent(look)
    tests = {name: _better(trial, name) for name in trial.against}
    figures = _figures(trial, tests, look, asked)
    said = "; ".join(_against(trial, name, p) for name, p in tests.items())
    if tests and all(p < asked for p in tests.values()):
        return Verdict("yes", f"{trial.model} is better over {look} windows: {said} (asked: p < {asked:.3f}).", figures)
    last = look == max(rules.looks)
    rest = "; its trial is over" if last else f"; the next look comes at {_next(rules, look)} windows"
    sentence = f"{trial.model} has not shown over {look} windows that it is better: {said} (asked: p < {asked:.3f})"
    return Verdict("no" if last else "open", f"{sentence}{rest}.", figures)


def degradation(trial: Trial, rules: Rules) -> Verdict:
    """Judge whether a model in use is worse than the baseline, or its band no longer holds.

    Parameters
    ----------
    trial : Trial
        Against the baseline alone, with the shares inside both bands.
    rules : Rules

    Returns
    -------
    Verdict
        ``yes`` where it is worse, or where its band is off by more than chance while that of the baseline holds better
        and nothing says that it is better all the same; ``open`` where there are too few windows.
    """
    if not _enough(trial, rules):
        return Verdict("open", f"{trial.windows} of {rules.least} windows so far.", {"windows": trial.windows})
    seen = trial.last(min(rules.recent, trial.windows))
    worse = _better(seen, BASELINE, turned=True)
    tests = {BASELINE: worse}
    off, chance = _coverage(seen)
    figures = {**_figures(seen, tests, trial.windows, rules.alarm), "cov80": PROMISE + off, "coverage_p": chance}
    usual = abs(float(np.mean(seen.usual)) - PROMISE) if len(seen.usual) else 0.0
    far = len(seen.inside) > 0 and abs(off) - usual > rules.margin
    drifted = worse < rules.drift or (far and chance < rules.drift)
    figures["drift"] = float(drifted)
    said = f"{_against(seen, BASELINE, worse, 'worse')}; its 80 % band held {100 * (PROMISE + off):.0f} % of the values"
    if worse < rules.alarm:
        why = f"{seen.model} has become worse than {BASELINE} over the last {seen.windows} windows: {said}."
        return Verdict("yes", why, figures)
    if far and chance < rules.alarm and _better(seen, BASELINE) >= rules.drift:
        why = (
            f"The 80 % band of {seen.model} no longer holds over the last {seen.windows} windows (p {_p(chance)}; that "
            f"of {BASELINE} is off by {100 * usual:.0f} points): {said}."
        )
        return Verdict("yes", why, figures)
    return Verdict("no", f"Nothing is wrong with {seen.model} over the last {seen.windows} windows: {said}.", figures)


def recovery(trial: Trial, rules: Rules) -> Verdict:
    """Judge whether a model that fell is better than the baseline again, over windows since its fall."""
    if not _enough(trial, rules):
        why = f"{trial.windows} of the {rules.least} windows since its fall that it needs to come back"
        return Verdict("open", f"{trial.model} has {why}.", {"windows": trial.windows})
    seen = trial.last(min(rules.recent, trial.windows))
    better = _better(seen, BASELINE)
    figures = _figures(seen, {BASELINE: better}, trial.windows, rules.alarm)
    said = _against(seen, BASELINE, better)
    if better < rules.alarm:
        return Verdict("yes", f"{seen.model} is better than {BASELINE} again since its fall: {said}.", figures)
    return Verdict("no", f"{seen.model} is not better than {BASELINE} again since its fall: {said}.", figures)


def _enough(trial: Trial, rules: Rules) -> bool:
    """Whether there are the windows that a look needs.

    Counted one by one: where windows do not lie apart by a whole part of their length, those of so many side by side
    end a bar or two before the last of them is whole.
    """
    return len(trial.loss) > ((rules.least - 1) * trial.h) // trial.apart


def _better(trial: Trial, name: str, *, turned: bool = False) -> float:
    """One-sided p-value of losing less than another, or more if `turned`; 1 where no test can be made."""
    statistic = _statistic(trial, trial.loss, trial.against[name])
    return 1.0 if statistic is None else _chance(-statistic if turned else statistic, trial.windows)


def _statistic(trial: Trial, loss: FloatArray, other: FloatArray) -> float | None:
    test = diebold_mariano(loss, other, lag=overlap_lag(trial.h, trial.apart), least=2)
    return None if isnan(test.statistic) else test.statistic


def _chance(statistic: float, windows: int) -> float:
    """Chance of so low a statistic.

    Windows that overlap tell more than those side by side alone, but not that many times more: few side by side have
    the heavy tails of few, or the early looks of a trial would spend twice what they may.
    """
    from scipy.stats import t

    return float(t.cdf(statistic, df=max(windows - 1, 1)))


def _coverage(trial: Trial) -> tuple[float, float]:
    """By how much the band is off, and the two-sided chance of that."""
    if not len(trial.inside):
        return 0.0, 1.0
    aim = np.full(len(trial.inside), PROMISE)
    statistic = _statistic(trial, trial.inside, aim)
    off = float(np.mean(trial.inside)) - PROMISE
    return off, _of_one_side(trial) if statistic is None else 2 * _chance(-abs(statistic), trial.windows)


def _of_one_side(trial: Trial) -> float:
    """Two-sided chance of shares without any spread: that of as many bars, of one series, all inside or all outside."""
    bars = (len(trial.inside) - 1) * trial.apart + trial.h
    sides = {1.0: PROMISE, 0.0: 1 - PROMISE}
    return min(1.0, 2 * sides.get(float(np.mean(trial.inside)), 1.0) ** bars)


def _change(trial: Trial, name: str) -> float:
    other = float(np.mean(trial.against[name]))
    return float(np.mean(trial.loss)) / other - 1 if other > 0 else 0.0


def _figures(trial: Trial, tests: Mapping[str, float], windows: int, asked: float) -> dict[str, float]:
    changes = {f"change_{name}": _change(trial, name) for name in tests}
    return {"windows": windows, "asked": asked, **{f"p_{name}": p for name, p in tests.items()}, **changes}


def _against(trial: Trial, name: str, p: float, asked: str = "better") -> str:
    change = 100 * _change(trial, name)
    size = f"CRPS {abs(change):.1f} % {'lower' if change < 0 else 'higher'} than {name}"
    size = f"the same CRPS as {name}" if abs(change) < 0.05 else size  # noqa: PLR2004 — what would print as 0.0 %
    return f"{size} (p {_p(p)} that it is no {asked})"


def _next(rules: Rules, look: int) -> int:
    return min(later for later in rules.looks if later > look)


def _p(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004
