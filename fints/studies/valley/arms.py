"""What is tried, each a piece of work of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.encodings import encoding_config
from fints.plan import FrequencyPlan
from fints.studies.ledger import settings_key
from fints.studies.valley.protocol import CYCLE, PERIOD, PRIOR, TASK
from fints.tuning import Budget, Candidate, StudyStore, finish, search
from fints.tuning.evaluation import run_fold
from fints.tuning.summary import best_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.studies.valley.protocol import ValleyProtocol
    from fints.tuning import TrialSummary
    from fints.tuning.evaluation import FoldRun

KNOWN, KNOWN_LONGER, STANDS = "period known", "period known, longer", "period of 20"
DESCENT, GRADIENT, LONGER = "plain descent", "gradient alone", "gradient alone, longer"
RANDOM, TUNED = "random search", "tuned"

ARMS = (KNOWN, TUNED, DESCENT, GRADIENT, RANDOM, STANDS, KNOWN_LONGER, LONGER)
"""All of them; the last two have more steps of training, and are compared with each other."""

KEPT: Mapping[str, float] = MappingProxyType({KNOWN: PERIOD, KNOWN_LONGER: PERIOD, STANDS: PRIOR})
"""Arms that are told a period and keep it."""

DIGITS = 7

_STEP = 0.05
"""Steps of plain descent, in widths of the valley."""


@dataclass(frozen=True, slots=True)
class ValleyUnit:
    """One arm with one seed.

    Parameters
    ----------
    arm : str
        Of `ARMS`.
    seed : int
        Of the noise, of the first weights, and of what is drawn.
    how : ValleyProtocol
    folder : str
        Where the trials of a search outlast a kill; it decides nothing.
    """

    arm: str
    seed: int
    how: ValleyProtocol
    folder: str

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {**self.how.settings(), "arm": self.arm, "seed": self.seed, "period": PERIOD, "prior": PRIOR}

    def run(self) -> dict[str, object]:
        """Find a period, train with it on all that is known, and forecast the test period.

        Returns
        -------
        dict
            ``period`` that it came to. ``signal`` and ``observed``: mean squared errors by step ahead over the origins
            of the test period, against the signal beneath the noise and against what is observed. Of a search
            ``trials``: number, origin, start and end of the period, score; ``gain``: what the confirmation said.
        """
        if self.arm in KEPT:
            return self._kept(KEPT[self.arm])
        if self.arm in (GRADIENT, LONGER):
            return self._learned()
        if self.arm == DESCENT:
            return self._kept(descended(self.how.panel(self.seed)["y"].to_numpy(float)[: self.how.known]))
        return self._tuned() if self.arm == TUNED else self._searched_at_random()

    def _kept(self, period: float) -> dict[str, object]:
        candidate = Candidate(FrequencyPlan.from_periods([period]), encoding_config({"kind": "cycle", "share": 1.0}))
        return {"period": period, **self._errors(self._test(candidate))}

    def _learned(self) -> dict[str, object]:
        encoding = encoding_config({"kind": "cycle", "share": 1.0, "learn": True})
        run = self._test(Candidate(FrequencyPlan.from_periods([PRIOR]), encoding))
        return {"period": run.moved.end[CYCLE], **self._errors(run)}

    def _searched_at_random(self) -> dict[str, object]:
        tuner, store = self.how.tuner(self.seed, "random"), self._store("random")
        found = search(tuner, store, budget=Budget(self.how.trials))
        period = best_first(found)[0].end[CYCLE]
        return {**self._kept(period), "trials": _trials(found)}

    def _tuned(self) -> dict[str, object]:
        tuner, store = self.how.tuner(self.seed), self._store("tuned")
        found = search(tuner, store, budget=Budget(self.how.trials))
        result = finish(tuner, store)
        gain = result.confirmation.gain
        return {
            **self._kept(result.tuned.periods[CYCLE]),
            "trials": _trials(found),
            "gain": [gain.value, *(end if math.isfinite(end) else None for end in (gain.low, gain.high))],
            "accepted": result.confirmation.accepted,
        }

    def _store(self, name: str) -> StudyStore:
        key = settings_key(self.settings())
        return StudyStore(f"{name}-{self.seed}", Path(self.folder) / f"{name}-{self.seed}-{key}.journal")

    def _test(self, candidate: Candidate) -> FoldRun:
        """Train on all bars before the test period, and forecast from all its origins."""
        base = self.how.base(candidate.encoding, self.seed, longer=self.arm in (KNOWN_LONGER, LONGER))
        stages = self.how.folds.stages(self.how.panel(self.seed))
        assert stages.test is not None
        return run_fold(candidate, base, stages.panel, stages.test, tuple(range(len(stages.test))))

    def _errors(self, run: FoldRun) -> dict[str, object]:
        rows = run.rows
        first = self.how.panel(self.seed)["ds"].iloc[0]
        clean = TASK.clean(self.how.bars)[(rows["ds"] - first).dt.days.to_numpy()]
        squared = rows.assign(signal=(rows["mean"] - clean) ** 2, observed=(rows["mean"] - rows["y"]) ** 2)
        means = squared.groupby("step")[["signal", "observed"]].mean().sort_index()
        return {column: means[column].round(DIGITS).tolist() for column in ("signal", "observed")}


def descended(y: NDArray[np.float64], start: float = PRIOR) -> float:
    """Go downhill from a period to the nearest one that fits best, by least squares of a mean and a sine.

    Amplitude and phase are free. Over n bars the sum of squares has a valley of relative width P / n around the period,
    and ripples of that width beside it: who starts further off ends in one of those.

    Parameters
    ----------
    y : ndarray, shape (n,)
    start : float
        Bars.

    Returns
    -------
    float
        Period in bars.
    """
    from scipy.optimize import minimize_scalar

    t = np.arange(len(y)) - (len(y) - 1) / 2

    def left(log_period: float) -> float:
        angle = 2 * np.pi * t / np.exp(log_period)
        basis = np.stack((np.ones_like(t), np.cos(angle), np.sin(angle)), axis=1)
        rest = y - basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
        return float(rest @ rest)

    at, step = float(np.log(start)), _STEP * start / len(y)
    step = min((step, -step), key=lambda one: left(at + one))
    while left(at + step) < left(at):
        at += step
    ends = (at - abs(step), at + abs(step))
    return float(np.exp(minimize_scalar(left, bounds=ends, method="bounded", options={"xatol": 1e-9}).x))


def _trials(found: Sequence[TrialSummary]) -> list[list[Any]]:
    """Return number, origin, start, end and score of every finished trial, in the order of their numbers."""
    return [
        [each.number, each.origin, each.start[CYCLE], each.end[CYCLE], round(float(each.value or np.nan), DIGITS)]
        for each in found
        if each.finished
    ]
