"""A search as a value: what is searched, on what, judged how."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

from fints.errors import ConfigError
from fints.tuning.candidate import cycle_names
from fints.tuning.detection import spans_of
from fints.tuning.identity import Identity
from fints.tuning.objective import InnerSearch
from fints.tuning.refinement import Cell, Refinement
from fints.tuning.sampler import CoarseToFine, chosen
from fints.tuning.scoring import Objective
from fints.tuning.space import parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from optuna.pruners import BasePruner

    from fints.transformer import CycleTransformer
    from fints.tuning.folds import Stages, TuningFolds
    from fints.tuning.sampler import SamplerName
    from fints.tuning.space import SearchSpace

SCORING = 2
"""What a score means; trials scored otherwise cannot be compared. 2: each fold has first weights of its own."""

P_THRESHOLD, STARTUP_FOLDS = 0.1, 3
"""Of the pruner: how sure it has to be that a trial is worse than the best, and after how many folds."""


@dataclass(frozen=True, eq=False)
class Tuner:
    """A search.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``; the search sees what is before the folds that confirm.
    space : SearchSpace
    folds : TuningFolds
    base : CycleTransformer
        Unfitted. Its `h` is the trained horizon; what `folds.h` goes beyond it is extrapolated, and judged.
    objective : Objective
    sampler : {"auto", "gp", "tpe", "random"}
        ``auto``: a Gaussian process where all is smooth and of few dimensions, else tree-structured Parzen estimators.
        ``random`` never looks at what was found.
    fine : float
        Share of the trials that refine periods around the best; see `Refinement`. 0 with ``random``.
    prune : bool
        End trials early that are worse than the best on the folds they did (Wilcoxon's signed ranks).
    seed : int

    Raises
    ------
    ConfigError
        If nothing is searched, or the base model is trained for more bars than are forecast.
    """

    panel: pd.DataFrame
    space: SearchSpace
    folds: TuningFolds
    base: CycleTransformer
    objective: Objective = field(default_factory=Objective)
    sampler: SamplerName = "auto"
    fine: float = 0.5
    prune: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.base.h > self.folds.h:
            raise ConfigError(
                f"the base model is trained for {self.base.h} bars and {self.folds.h} are forecast; what is beyond "
                "the trained horizon is what a search is judged by. Lower trained_h, or raise h"
            )
        if self.folds.confirming <= self.base.h < self.folds.h or self.folds.confirming > self.folds.h:
            raise ConfigError(
                f"the confirmation forecasts {self.folds.confirming} bars; what is to be confirmed lies beyond the "
                f"{self.base.h} that models are trained for, and within {self.folds.h}. Change confirm_h"
            )
        if not 0 <= self.fine < 1:
            raise ConfigError(f"the fine share of the trials is at least 0 and below 1; got {self.fine:g}")

    @cached_property
    def stages(self) -> Stages:
        """The panel, cut."""
        return self.folds.stages(self.panel)

    def identity(self, data_version: str = "") -> Identity:
        """Return what the trials of this search can be compared with.

        Parameters
        ----------
        data_version : str
        """
        from fints import __version__

        design, folds = self.base.design, self.stages
        settings = {
            "scoring": SCORING,
            "objective": {"score": self.objective.score, "multi": self.objective.multi},
            "folds": {
                "h": self.folds.h,
                "block": self.folds.block,
                "cutoffs": [f"{at:%Y-%m-%d %H:%M}" for at in (folds.inner.cutoffs[0], folds.inner.cutoffs[-1])],
                "n_windows": len(folds.inner),
                "train_size": self.folds.train_size,
                "target_span": self.folds.target_span,
            },
            "model": {
                "trained_h": design.h,
                "input_size": design.input_size,
                "network": design.network.model_dump(mode="json"),
                "training": design.training.model_dump(mode="json"),
                "random_seed": design.random_seed,
            },
        }
        return Identity(self.space.describe(), settings, data_version, __version__)

    def inner(self, halted: Callable[[], bool]) -> InnerSearch:
        """Return what is minimised.

        Parameters
        ----------
        halted : callable
            Asked between folds whether to stop.
        """
        stages = self.stages
        blocks = self.folds.inner_blocks()
        return InnerSearch(
            self.space, self.base, self.objective, stages.search, stages.inner, blocks, self.prune, halted
        )

    def pruner(self) -> BasePruner:
        """Return what ends trials early."""
        from optuna.pruners import NopPruner, WilcoxonPruner

        if not self.prune or self.objective.multi:
            return NopPruner()
        return WilcoxonPruner(p_threshold=P_THRESHOLD, n_startup_steps=STARTUP_FOLDS)

    def proposer(self, trials: int) -> CoarseToFine:
        """Return what proposes points.

        Parameters
        ----------
        trials : int
            Of the whole search.
        """
        drawn = parameters(self.space)
        name = chosen(self.sampler, drawn, multi=self.objective.multi)
        cells = self._cells()
        refinement = Refinement(cells) if cells and self.fine and name != "random" else None
        spread = () if name == "random" else tuple(drawn)
        return CoarseToFine(name, self.seed, ceil((1 - self.fine) * trials), refinement, spread)

    def _cells(self) -> dict[str, Cell]:
        """Return how each searched period is refined, where the plan is not searched.

        The valley of the error over a period P is about P / (context + horizon) wide in logarithm: a change of that
        size turns the furthest forecast by a whole cycle against the oldest bar that is read.
        """
        config, space = self.space.config, self.space
        if config.periods != "anchors" or len(space.plans) > 1 or self.objective.multi:
            return {}
        bars = int(self.stages.first.groupby("unique_id")["ds"].size().max())
        spans = spans_of(self.stages.first)
        cells = {}
        for name, cycle in zip(cycle_names(space.plan), space.plan, strict=True):
            if name in (config.cycles or cycle_names(space.plan)):
                reach = (self.base.design.input_size + self.folds.h) * spans[cycle.clock] / max(1, bars - 1)
                limit = space.width(cycle, name)
                cells[name] = Cell(cycle.period, limit, min(limit, cycle.period / (2 * reach)))
        return cells
