"""Which stretch of a panel the search sees, which one confirms, and which one tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.backtest import make_folds
from fints.backtest.folds import leading
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
    n_folds : int
        Fits of the search.
    block : int
        Origins of each of its folds.
    step_size : int
        Bars between them.
    confirm_folds, confirm_windows : int
        Fits of the confirmation, and its origins, which are shared out evenly among them.
    confirm_h : int, optional
        Bars forecast from each of them; `h` by default. Fewer make more windows of the same bars, side by side: what a
        search finds at a long distance, few windows of that length can tell from chance.
    test_windows : int
        Origins of the test period; 0: none.
    apart : int, optional
        Bars between the origins of the confirmation, and of the test; their horizons by default, so that windows lie
        side by side. Those that overlap are counted together where a gain is tested.
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
    confirm_windows: int = 8
    confirm_h: int | None = None
    test_windows: int = 8
    apart: int | None = None
    purge: Purge = "auto"
    target_span: int = 1
    train_size: int | None = None

    def __post_init__(self) -> None:
        least = {"h": 1, "n_folds": 1, "block": 1, "step_size": 1, "confirm_folds": 1, "test_windows": 0}
        least |= {"confirm_windows": self.confirm_folds, "confirm_h": 1, "apart": 1}
        for name, value in least.items():
            given = getattr(self, name)
            if given is not None and given < value:
                raise ConfigError(f"a tuning needs {name} of at least {value}; got {given}")

    @property
    def bars(self) -> int:
        """Bars after the first inner cutoff."""
        inner = self.h + (self.n_folds * self.block - 1) * self.step_size
        later = [(self.confirming, self.confirm_windows), (self.h, self.test_windows)]
        return inner + sum(h + (windows - 1) * (self.apart or h) for h, windows in later if windows)

    @property
    def confirming(self) -> int:
        """Bars forecast from each origin of the confirmation."""
        return self.h if self.confirm_h is None else self.confirm_h

    def inner_blocks(self) -> list[tuple[int, ...]]:
        """Return the numbers of the windows of each fold of the search; its model is fitted at the first of them."""
        return [tuple(range(fold * self.block, (fold + 1) * self.block)) for fold in range(self.n_folds)]

    def confirm_blocks(self) -> list[tuple[int, ...]]:
        """Return the numbers of the windows of each fold of the confirmation."""
        shares = np.array_split(np.arange(self.confirm_windows), self.confirm_folds)
        return [tuple(share.tolist()) for share in shares]

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
            test = self._folds(panel, self.h, self.test_windows, self.apart) if self.test_windows else None
            known = panel if test is None else _before(panel, test)
            confirm = self._folds(known, self.confirming, self.confirm_windows, self.apart)
            inner = self._folds(_before(panel, confirm), self.h, self.n_folds * self.block, self.step_size)
        except SeriesError as error:
            name, stamps = leading(panel)
            raise SeriesError(
                f"{name} has {len(stamps)} bars; the folds of the search, of the confirmation and the test take "
                f"{self.bars} of them, and the first fit needs some before. Lower n_folds, block, step_size, "
                "confirm_windows, confirm_h, test_windows, apart or h"
            ) from error
        return Stages(panel, inner, confirm, test)

    def _folds(self, panel: pd.DataFrame, h: int, windows: int, step_size: int | None) -> Folds:
        return make_folds(
            panel,
            h,
            windows,
            step_size or h,
            self.purge,
            input_size=self.train_size,
            target_span=self.target_span,
        )


def _before(panel: pd.DataFrame, folds: Folds) -> pd.DataFrame:
    """Return the rows whose target is known at the first cutoff."""
    return replace(folds, input_size=None).training(panel, folds.cutoffs[0])
