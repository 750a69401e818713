"""The panel behind a fitted model, and where what it learned from ends."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import NotFittedError, SeriesError
from fints.series import usable, validate_panel
from fints.series.schema import PANEL_COLUMNS
from fints.series.windows import Tape, require_columns
from fints.transformer.peers.states import row_states
from fints.transformer.peers.table import PeerRows, PeerTable
from fints.transformer.training import Split, TrainingWindows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Windows
    from fints.transformer import CycleTransformer
    from fints.transformer.design import Fitted
    from fints.transformer.peers.attention import PeerTokens


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """A panel as a fitted model reads it.

    Parameters
    ----------
    model : CycleTransformer
        Fitted.
    panel : pandas.DataFrame
        Valid, with the columns that the model reads.
    tape : Tape
    """

    model: CycleTransformer
    panel: pd.DataFrame
    tape: Tape

    @classmethod
    def of(cls, model: CycleTransformer, panel: pd.DataFrame) -> History:
        """Read a panel.

        Raises
        ------
        NotFittedError
            If the model was not fitted.
        SchemaError
            If the panel breaks its schema or lacks a column that the model reads.
        SeriesError
            If no series is long enough, or the panel ends before what the model learned from.
        """
        fitted, size = require_fitted(model), model.design.input_size + model.h
        panel = validate_panel(panel)
        require_columns(panel, [*fitted.past, *fitted.calendar])
        panel, problems = usable(panel[[*PANEL_COLUMNS, *fitted.calendar, *fitted.past]], size)
        if panel.empty:
            raise SeriesError("no series can be explained: " + "; ".join(map(str, problems)))
        until = pd.Timestamp(fitted.until)
        if panel["ds"].max() < until:
            raise SeriesError(
                f"the panel ends on {panel['ds'].max():%Y-%m-%d}, before {until:%Y-%m-%d}, up to which the model "
                "learned: an explanation needs the rows that it learned from"
            )
        return cls(model, panel, Tape.from_panel(panel, fitted.past, fitted.calendar))

    @property
    def fitted(self) -> Fitted:
        """What fitting left behind."""
        return require_fitted(self.model)

    @property
    def intraday(self) -> bool:
        """Whether bars are stamped at more than one time of day."""
        return bool((self.tape.ds != self.tape.ds.astype("datetime64[D]")).any())

    @property
    def sessions_per_day(self) -> float:
        """Sessions per calendar day, on average over the series."""
        first, last = self.tape.bounds[:-1], self.tape.bounds[1:] - 1
        sessions, days = (
            self.tape.clocks[name][last] - self.tape.clocks[name][first] for name in ("session", "calendar")
        )
        return float(sessions.sum() / max(days.sum(), 1.0))

    def learned(self) -> NDArray[np.int64]:
        """Origins of all windows that the model's start was estimated on."""
        origins, h = self.tape.origins(self.model.design.input_size, self.model.h), self.model.h
        return origins[self.tape.ds[origins + h] <= pd.Timestamp(self.fitted.until).to_datetime64()]

    def divided(self, since: pd.Timestamp | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Divide the windows into those that the members' weights were trained on, and later ones.

        Parameters
        ----------
        since : pandas.Timestamp, optional
            Later ones are those whose targets all lie on or after it; by default on or after the first bar of the
            validation tail, which weights were not trained on.

        Returns
        -------
        before, after : ndarray of int64
            Origins; targets of the former all lie before it.

        Raises
        ------
        SeriesError
            If one of them is empty.
        """
        design, ds = self.model.design, self.tape.ds
        origins = self.tape.origins(design.input_size, design.h)
        border = self.border() if since is None else since.to_datetime64()
        before, after = origins[ds[origins + design.h] < border], origins[ds[origins + 1] >= border]
        if not (len(before) and len(after)):
            raise SeriesError(
                f"{len(before)} windows lie before {pd.Timestamp(border):%Y-%m-%d} and {len(after)} after it; an "
                "explanation needs some of either: choose another date, or give a longer history"
            )
        return before, after

    def peers(self, origins: NDArray[np.int64]) -> PeerTokens | None:
        """Tell some windows about the other series, as the model does; None without cross-asset attention."""
        fitted, size = self.fitted, self.model.design.input_size
        if fitted.links is None:
            return None
        places = PeerRows(self.tape, size, fitted.links)
        rows = places.find(origins, self.tape.clocks["seconds"][origins])
        states = row_states(self.tape, fitted.start, size, np.unique(rows[rows >= 0]))
        return PeerTable(places, states).tokens(origins)

    def windows(self, origins: NDArray[np.int64]) -> Windows:
        """Cut some windows."""
        return self.tape.cut(origins, self.model.design.input_size, self.model.h)

    def border(self) -> np.datetime64:
        """First bar that no weight of the network was trained on: the targets of the validation tail begin there."""
        tape = _up_to(self.tape, pd.Timestamp(self.fitted.until).to_datetime64())
        windows = TrainingWindows(tape, self.model.design.input_size, self.model.h)
        split = Split.by_time(windows, self.model.design.training.validation_share)
        first: np.datetime64 = tape.ds[split.validation + 1].min()
        return first


def _up_to(tape: Tape, until: np.datetime64) -> Tape:
    """Leave out what comes after a bar."""
    kept = tape.ds <= until
    sizes = [int(kept[first:stop].sum()) for first, stop in pairwise(tape.bounds)]
    return Tape(
        unique_ids=tape.unique_ids,
        bounds=np.cumsum([0, *sizes]),
        ds=tape.ds[kept],
        values=tape.values[kept],
        calendar=tape.calendar[kept],
        clocks={name: places[kept] for name, places in tape.clocks.items()},
    )


def require_fitted(model: CycleTransformer) -> Fitted:
    """Return what fitting left behind.

    Raises
    ------
    NotFittedError
        If there is nothing.
    """
    if model.fitted is None:
        raise NotFittedError(f"{model.name} cannot be explained before it is fitted; call fit(panel), or load one")
    return model.fitted
