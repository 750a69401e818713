"""Fitted members and the weights by which their quantiles are averaged."""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ModelError
from fints.forecast import Forecast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from fints.combination.learning import Learned
    from fints.combination.weights import Weights
    from fints.conformal import Bands
    from fints.forecast import Forecaster

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """What a combination has learned.

    Parameters
    ----------
    members : tuple of Forecaster
        Fitted, in the order of the weights.
    weights : Weights
    bands : Bands, optional
        Correction of the combined quantiles; None if there is none.
    learned : Learned, optional
        How the weights came about; None if they were given.
    failures : mapping of str to str
        Members that were dropped, with the cause.
    series : mapping of str to frozenset of str
        What the members named here can forecast; those not named can forecast every series. Of a series that one
        cannot, the others share its weight.
    """

    members: tuple[Forecaster, ...]
    weights: Weights
    bands: Bands | None = None
    learned: Learned | None = None
    failures: Mapping[str, str] = field(default_factory=dict)
    series: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def forecast(
        self, history: pd.DataFrame, at: str | pd.Timestamp | None, known_at: str | pd.Timestamp | None
    ) -> Forecast:
        """Average what the members forecast, and correct the bands.

        Raises
        ------
        ModelError
            If the members do not forecast the same bars, or none can forecast a series.
        """
        parts, every = [], [str(name) for name in history["unique_id"].unique()]
        for members, names in self._groups(every):
            own = history if len(names) == len(every) else _only(history, names)
            stated = [member.forecast(own, at=at, known_at=known_at) for member in members]
            parts.append(average(stated, self.weights.of([member.name for member in members])))
        whole = parts[0] if len(parts) == 1 else _in_order(parts, every)
        return whole if self.bands is None else self.bands.apply(whole)

    def refitted(self, panel: pd.DataFrame) -> Combined:
        """Fit the members on everything; what fails leaves, and the others share its weight.

        Raises
        ------
        ModelError
            If every member fails, with the causes.
        """
        members, failures = [], dict(self.failures)
        for member in self.members:
            try:
                members.append(deepcopy(member).fit(panel))
            except Exception as error:  # one member that fails is not the end of the others
                LOG.debug("where %s failed", member.name, exc_info=True)
                failures[member.name] = f"{type(error).__name__}: {error}"
        if not members:
            raise ModelError(f"every member of the combination failed: {causes(failures)}")
        weights = self.weights.of([member.name for member in members])
        return replace(self, members=tuple(members), weights=weights, failures=failures)

    def _groups(self, names: Iterable[str]) -> list[tuple[tuple[Forecaster, ...], list[str]]]:
        """Series by the members that can forecast them."""
        groups: dict[tuple[int, ...], list[str]] = {}
        for name in names:
            able = [self._can(member, name) for member in self.members]
            groups.setdefault(tuple(np.flatnonzero(able)), []).append(name)
        if () in groups:
            raise ModelError(
                f"no member of the combination was fitted on {', '.join(groups[()])}; fit it again, or leave them out"
            )
        return [(tuple(self.members[i] for i in able), own) for able, own in groups.items()]

    def _can(self, member: Forecaster, name: str) -> bool:
        return member.name not in self.series or name in self.series[member.name]


def average(parts: Sequence[Forecast], weights: Weights) -> Forecast:
    """Average forecasts of the same bars.

    Parameters
    ----------
    parts : sequence of Forecast
    weights : Weights
        Of these forecasts, in their order.

    Raises
    ------
    ModelError
        If they are not of the same bars.
    """
    keys = parts[0].frame[["unique_id", "ds", "step"]]
    for member, part in zip(weights.members, parts, strict=True):
        if not part.frame[keys.columns].reset_index(drop=True).equals(keys.reset_index(drop=True)):
            raise ModelError(
                f"{member} forecasts other bars than {weights.members[0]} ({len(part)} rows, "
                f"{len(parts[0])} rows), so that they cannot be averaged; leave it out"
            )
    shares = weights.at(keys["step"].to_numpy(np.int64))
    mean = np.einsum("nm,mn->n", shares, np.stack([part.mean for part in parts]))
    quantiles = np.einsum("nm,mnq->nq", shares, np.stack([part.quantiles for part in parts]))
    return Forecast(keys.reset_index(drop=True), mean, quantiles)


def causes(failures: Mapping[str, str]) -> str:
    """Say in a line why members failed."""
    return "; ".join(f"{name}: {cause}" for name, cause in failures.items())


def _only(history: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return history[history["unique_id"].isin(names)].reset_index(drop=True)


def _in_order(parts: Sequence[Forecast], names: Sequence[str]) -> Forecast:
    """Put forecasts of groups of series into the order of the history."""
    whole = Forecast.concat(parts)
    place = {name: i for i, name in enumerate(names)}
    order = np.argsort(whole.frame["unique_id"].map(place).to_numpy(), kind="stable")
    return Forecast(whole.frame.iloc[order].reset_index(drop=True), whole.mean[order], whole.quantiles[order])
