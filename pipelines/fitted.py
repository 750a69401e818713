"""Transformers as fitted by the jobs of a backtest, kept on disk for MLflow."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fints.errors import FintsError
from pipelines.diary import training_curves

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fints.backtest.jobs import Curves
    from fints.forecast import Forecaster
    from fints.transformer.design import Design
    from pipelines.home import Home

LOG = logging.getLogger(__name__)

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class PanelFacts:
    """What tells the panel of a backtest from any other one.

    Parameters
    ----------
    rows, series : int
    digest : str
    """

    rows: int
    series: int
    digest: str

    @classmethod
    def of(cls, panel: pd.DataFrame) -> PanelFacts:
        """Take them from a panel."""
        from fints.backtest.job_store import panel_version

        return cls(len(panel), int(panel["unique_id"].nunique()), panel_version(panel))


@dataclass(frozen=True, slots=True)
class FittedModels:
    """A folder of fitted transformers; as a diary of jobs it puts every one there, and tells its curves.

    Models are told apart by their design and by their last training bar, panels and code by the folder. Workers on
    other machines keep theirs there: a model that is not found was not kept.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    @classmethod
    def under(cls, place: Path, panel: PanelFacts) -> FittedModels:
        """Return those of a panel and of this code.

        Parameters
        ----------
        place : Path
            Of one target of a backtest.
        panel : PanelFacts
        """
        from fints.backtest.job_store import code_version

        return cls(place / "models" / f"{panel.digest}-{code_version()}")

    def __call__(self, model: Forecaster) -> Curves:
        """Keep a fitted model if it is a transformer; return the curves of its training.

        It is called where the model was fitted, in a worker.
        """
        inner: Any = getattr(model, "model", model)  # of one that forecasts from a longer context
        if hasattr(inner, "save") and hasattr(inner, "design") and inner.fitted is not None:
            try:
                inner.save(self._place(inner.design) / _stamp(inner.fitted.until))
            except FintsError as error:  # the forecasts are what the job is for
                LOG.warning("a fitted %s is not kept: %s", model.name, error)
        return training_curves(model)

    def latest(self, model: Forecaster) -> Path | None:
        """Return where a model lies as it was fitted last; None if it was not kept."""
        inner: Any = getattr(model, "model", model)
        place = self._place(inner.design)
        found = sorted(place.glob("*/model.json")) if place.is_dir() else []
        return found[-1].parent if found else None

    def _place(self, design: Design) -> Path:
        return self.folder / hashlib.sha256(repr(design).encode()).hexdigest()[:_DIGITS]


def jobs_folder(home: Home, dataset: str, as_of: object) -> Path:
    """Return where the jobs of a dataset's backtests up to a bar lie, by target."""
    return home.reports / "backtests" / f"{dataset}-{as_of}"


def _stamp(until: str) -> str:
    """Write an instant so that a folder can be called by it and later ones come last."""
    return until.replace(":", "")
