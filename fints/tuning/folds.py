"""Which stretch of a panel the search sees, which one confirms, and which one tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints.backtest import make_folds
from fints.backtest.folds import leading
from fints.backtest.significance.diebold_mariano import overlap_lag
from fints.errors import ConfigError, SeriesError
from fints.series.panel import validate_panel

if TYPE_CHECKING:
    import pandas as pd

    from fints.backtest import Folds
    from fints.backtest.folds import Purge


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """A panel cut into what is searched on, what confirms and what tests, in order of time.

    Parameters
    ----------
    panel : pandas.DataFrame
        All of it.
    inner, confirm : Folds
        Their windows belong together in blocks; see `TuningFolds.blocks`.
    test : Folds, optional
    """

    panel: pd.DataFrame
    inner: Folds
    confirm: Folds
    test: Folds | None

    @property
    def first(self) -> pd.DataFrame:
        """Rows that may be learned from at the first inner cutoff: those for detection."""
        return _before(self.panel, self.inner)

    @property
    def search(self) -> pd.DataFrame:
        """Rows that the search may see."""
        return _before(self.panel, self.confirm)

    @property
    def known(self) -> pd.DataFrame:
        """Rows before the test period; all of them where there is none."""
        return self.panel if self.test is None else _before(self.panel, self.test)


@dataclass(frozen=True, slots=True)
class TuningFolds:
    """How a panel is cut.

    A fold is one fit and a block of origins after it. From the end backwards: test windows, the folds that confirm,
    the folds of the search. None of them reaches into the next.

    Parameters
    ----------
    h : int
        Bars forecast from each origin.
    n_folds, confirm_folds : int
        Fits of the search, and of the confirmation.
    block : int
        Origins of a fold.
    step_size : int
        Bars between origins.
    test_windows : int
        Origins of the test period; 0: none.
    purge : "auto" or int
    target_span : int
    train_size : int, optional
        Training rows of each series at most, the latest; all by default.

    Raises
    ------
    ConfigError
        If a number is out of range.
    """

    h: int
    n_folds: int = 5
    block: int = 4
    step_size: int = 20
    confirm_folds: int = 4
    test_windows: int = 16
    purge: Purge = "auto"
    target_span: int = 1
    train_size: int | None = None

    def __post_init__(self) -> None:
        least = {"h": 1, "n_folds": 1, "block": 1, "step_size": 1, "confirm_folds": 1, "test_windows": 0}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ConfigError(f"a tuning needs {name} of at least {value}; got {getattr(self, name)}")

    @property
    def lag(self) -> int:
        """Origins whose targets overlap with those of one before them."""
        return overlap_lag(self.h, self.step_size)

    @property
    def bars(self) -> int:
        """Bars after the first inner cutoff."""
        spans = [self._span(self.n_folds * self.block), self._span(self.confirm_folds * self.block)]
        return sum(spans) + (self._span(self.test_windows) if self.test_windows else 0)

    def blocks(self, folds: Folds) -> list[tuple[int, ...]]:
        """Return the numbers of the windows of each fold; its model is fitted at the first of them."""
        return [tuple(range(first, first + self.block)) for first in range(0, len(folds), self.block)]

    def stages(self, panel: pd.DataFrame) -> Stages:
        """Cut a panel.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.

        Raises
        ------
        SeriesError
            If it is too short, with the number of bars that are needed.
        SchemaError
            If it is no panel.
        """
        panel = validate_panel(panel)
        try:
            test = self._folds(panel, self.test_windows) if self.test_windows else None
            known = panel if test is None else _before(panel, test)
            confirm = self._folds(known, self.confirm_folds * self.block)
            inner = self._folds(_before(panel, confirm), self.n_folds * self.block)
        except SeriesError as error:
            name, stamps = leading(panel)
            raise SeriesError(
                f"{name} has {len(stamps)} bars; the folds of the search, of the confirmation and the test take "
                f"{self.bars} of them, and the first fit needs some before. Lower n_folds, confirm_folds, block, "
                "step_size, test_windows or h"
            ) from error
        return Stages(panel, inner, confirm, test)

    def _span(self, windows: int) -> int:
        return self.h + (windows - 1) * self.step_size

    def _folds(self, panel: pd.DataFrame, windows: int) -> Folds:
        return make_folds(
            panel,
            self.h,
            windows,
            self.step_size,
            self.purge,
            input_size=self.train_size,
            target_span=self.target_span,
        )


def _before(panel: pd.DataFrame, folds: Folds) -> pd.DataFrame:
    """Return the rows whose target is known at the first cutoff."""
    return replace(folds, input_size=None).training(panel, folds.cutoffs[0])
