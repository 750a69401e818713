"""A forecaster made of forecasters."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import TYPE_CHECKING

from fints.combination.combined import Combined, causes
from fints.combination.learning import learn
from fints.combination.scored import Scored
from fints.combination.stored import load, save
from fints.combination.tail import Tail
from fints.conformal import Bands, calibrate
from fints.errors import ConfigError, ModelError, NotFittedError
from fints.forecast import QUANTILE_COLUMNS, lookback
from fints.series import validate_panel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    import pandas as pd

    from fints.combination.tail import Progress
    from fints.combination.weights import Weights
    from fints.forecast import Forecast, Forecaster

STRETCHES: tuple[int, ...] = (5,)
"""Last steps of the stretches of the horizon that have weights of their own: the first week and the rest."""


class Combination:
    """Weighted average of the quantiles of several forecasters.

    Every member is fitted on what lies before the tail of the panel and forecasts the tail; from those forecasts come
    the weights (see `fints.combination.learning.learn`) and, if asked for, a correction of the bands (see
    `fints.conformal.calibrate`). Then the members are fitted again, on everything.

    Parameters
    ----------
    members : sequence of Forecaster
        Unfitted, each with a name of its own, of one horizon. They are copied. One that fails is dropped and named.
    ends : sequence of int
        Last steps of the stretches of the horizon that have weights of their own, except for the last one.
    tail : Tail, optional
        What is held out to learn from.
    refit : bool
        Whether members are fitted again with the tail; otherwise they stay as they are before it, at half the cost.
    calibrate : bool
        Whether the bands are corrected by the combination's errors on the tail. Members with bands of their own seldom
        need it: a tail of a year or two was a calmer or a wilder time than the one to come.
    level : sequence of float
        Bands of `predict`, in percent.

    Raises
    ------
    ConfigError
        If there is no member, two share a name, or their horizons differ.

    Examples
    --------
    >>> import fints
    >>> fints.Combination([fints.HAR(h=20), fints.SeasonalNaive(h=20)]).h
    20
    """

    def __init__(
        self,
        members: Sequence[Forecaster],
        *,
        ends: Sequence[int] = STRETCHES,
        tail: Tail | None = None,
        refit: bool = True,
        calibrate: bool = False,
        level: Sequence[float] = (80, 95),
    ) -> None:
        _check(members)
        self.members = tuple(members)
        self.ends = tuple(end for end in ends if end < members[0].h)
        self.tail = tail or Tail()
        self.refit = refit
        self.calibrate = calibrate
        self.level = tuple(level)
        self.fitted: Combined | None = None
        self.label = "Combination"
        self.given: tuple[Weights, Bands | None] | None = None
        self._panel: pd.DataFrame | None = None

    @property
    def name(self) -> str:
        """Name under which it stands in tables."""
        return self.label

    @property
    def h(self) -> int:
        """Bars ahead."""
        return self.members[0].h

    @property
    def lookback(self) -> int | None:
        """The longest of its members'; None where one of them reads everything."""
        stated = [lookback(member) for member in (self.members if self.fitted is None else self.fitted.members)]
        return None if None in stated else max(size for size in stated if size is not None)

    @property
    def failures(self) -> Mapping[str, str]:
        """Members that were dropped, with the cause."""
        return self._require_fitted().failures

    @classmethod
    def around(cls, combined: Combined, *, level: Sequence[float] = (80, 95)) -> Self:
        """Take fitted members and their weights as they are.

        Parameters
        ----------
        combined : Combined
        level : sequence of float
            Bands of `predict`, in percent.

        Raises
        ------
        ConfigError
            If two members share a name, or their horizons differ.
        """
        made = cls(combined.members, ends=combined.weights.ends, level=level)
        made.fitted = combined
        return made

    def named(self, name: str) -> Self:
        """Return an unfitted combination like this one under another name."""
        return self._like(name, self.given)

    def with_weights(self, weights: Weights, bands: Bands | None = None) -> Self:
        """Return an unfitted combination like this one that takes weights as they are.

        Its `fit` fits the members on everything and needs no tail: what a night does with weights that were learned
        some nights before.

        Parameters
        ----------
        weights : Weights
            Of members that this combination has.
        bands : Bands, optional
            Correction of the combined quantiles.

        Raises
        ------
        ConfigError
            If it weighs a member that is not there.
        """
        names = [member.name for member in self.members]
        strangers = [name for name in weights.members if name not in names]
        if strangers:
            raise ConfigError(f"the weights are for {', '.join(strangers)} too; the members are {', '.join(names)}")
        return self._like(self.label, (weights, bands))

    def fit(self, panel: pd.DataFrame, progress: Progress | None = None) -> Self:
        """Learn weights and bands on the tail of a panel, then fit the members on all of it.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        progress : callable, optional
            Called as ``progress(model, origins done, origins)`` while the tail is forecast.

        Raises
        ------
        SeriesError
            If the panel is too short for a tail.
        ModelError
            If every member fails, with the causes.

        Warns
        -----
        UserWarning
            If a member is dropped.
        """
        panel = validate_panel(panel)
        found = self._taken() if self.given is not None else self._learned(panel, progress)
        if self.refit or self.given is not None:
            found = found.refitted(panel)
        for name, cause in found.failures.items():
            warnings.warn(f"{name} left the combination: {cause}", UserWarning, stacklevel=2)
        self.fitted, self._panel = found, panel
        return self

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast as a distribution; see `fints.forecast.Forecaster.forecast`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ModelError
            If the members do not forecast the same bars, or none was fitted on a series.
        """
        fitted = self._require_fitted()
        if panel is None and self._panel is None:
            raise NotFittedError(f"a loaded {self.name} keeps no history; pass the panel to forecast from")
        history = self._panel if panel is None else validate_panel(panel)
        assert history is not None
        return fitted.forecast(history, at, known_at)

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame: ``unique_id``, ``ds``, ``Combination`` and its bands; see `forecast`."""
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name, self.level)

    def save(self, path: str | Path) -> None:
        """Write the fitted combination to a folder, if all its members can be saved.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ModelError
            If a member cannot be saved, naming all that cannot.
        BundleError
            If the folder holds something else, or cannot be written.
        """
        fitted = self._require_fitted()
        save(fitted.members, fitted.weights, fitted.bands, path)

    def load(self, path: str | Path) -> Self:
        """Return a combination like this one, fitted as `save` wrote it; this one's members say how to read theirs.

        Raises
        ------
        BundleError
            If the folder is missing, damaged or of another version, or holds a member that this one has not.
        """
        other = self._like(self.label, self.given)
        members, weights, bands = load(self.members, path)
        other.fitted = Combined(members, weights, bands)
        return other

    def _like(self, label: str, given: tuple[Weights, Bands | None] | None) -> Self:
        other = type(self)(
            self.members,
            ends=self.ends,
            tail=self.tail,
            refit=self.refit,
            calibrate=self.calibrate,
            level=self.level,
        )
        other.label, other.given = label, given
        return other

    def _learned(self, panel: pd.DataFrame, progress: Progress | None) -> Combined:
        trial = self.tail.forecast(panel, self.members, progress)
        kept = [member.name for member in self.members if member.name not in trial.failures]
        if not kept:
            raise ModelError(f"every member of {self.name} failed: {causes(trial.failures)}")
        scored = Scored.of(trial.frame)
        learned = learn(scored, self.ends)
        bands = None
        if self.calibrate:
            rows = scored.keys.assign(y=scored.y)
            rows[list(QUANTILE_COLUMNS)] = learned.out_of_block
            bands = calibrate(rows, level=self.level)
        members = tuple(trial.models[name] for name in learned.weights.members)
        return Combined(members, learned.weights, bands, learned, dict(trial.failures))

    def _taken(self) -> Combined:
        assert self.given is not None
        weights, bands = self.given
        own = {member.name: member for member in self.members}
        return Combined(tuple(deepcopy(own[name]) for name in weights.members), weights, bands)

    def _require_fitted(self) -> Combined:
        if self.fitted is None:
            raise NotFittedError(f"{self.name} was asked before it was fitted; call fit(panel) first")
        return self.fitted


def _check(members: Sequence[Forecaster]) -> None:
    if not len(members):
        raise ConfigError("a combination needs at least one member")
    names = [member.name for member in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"members need names of their own; {', '.join(twice)} stands there more than once")
    horizons = {member.name: member.h for member in members}
    if len(set(horizons.values())) > 1:
        listed = ", ".join(f"{name} {h}" for name, h in horizons.items())
        raise ConfigError(f"members forecast the same number of bars; got h = {listed}")
