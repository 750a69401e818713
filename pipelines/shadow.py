"""What models would have forecast since they were fitted, held against what came and against the baseline."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.metrics import losses
from fints.baselines import HAR
from fints.champion import BASELINE, Trial
from fints.conformal import AdaptiveBands
from fints.errors import ConfigError, ModelError, SeriesError
from fints.series import longest_going_on
from fints.sessions import get_calendar, parse_interval
from pipelines.assembly import assemble
from pipelines.excerpt import Excerpt
from pipelines.files import write_text
from pipelines.members import fit_members

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fints.combination import ConformalForecaster
    from fints.forecast import Forecaster
    from fints.settings import NightlySettings
    from pipelines.learning import Lesson
    from pipelines.shelf import Shelved

FILE = "shadow.json"
_COLUMNS = ("loss", "baseline", "inside", "usual")


@dataclass(frozen=True, slots=True)
class Window:
    """The bars that follow an origin.

    Parameters
    ----------
    origin, end : pandas.Timestamp
        Bar that is forecast from, and the last one forecast.
    """

    origin: pd.Timestamp
    end: pd.Timestamp


def windows_after(panel: pd.DataFrame, start: pd.Timestamp, h: int) -> list[Window]:
    """Return the windows that are over, from the first bar at or before `start` on, a quarter of a window apart.

    Bars are counted on the series that has most of them of those that go on, as the bands of a night do.

    Parameters
    ----------
    panel : pandas.DataFrame
        Up to the as-of.
    start : pandas.Timestamp
    h : int
        Bars of a window.
    """
    stamps = pd.DatetimeIndex(longest_going_on(panel)["ds"])
    first = max(int(stamps.searchsorted(start, side="right")) - 1, 0)
    return [Window(stamps[i], stamps[i + h]) for i in range(first, len(stamps) - h, apart(h))]


def bar_of(panel: pd.DataFrame, as_of: pd.Timestamp) -> pd.Timestamp:
    """Return the as-of of a night as the stamps of a panel go: those of intraday bars go by the clock at the exchange.

    Parameters
    ----------
    panel : pandas.DataFrame
    as_of : pandas.Timestamp
        A session, or of intraday bars a close in UTC, without a zone.
    """
    counted = longest_going_on(panel)
    if parse_interval(str(counted["interval"].iloc[0])) is None:
        return as_of
    zone = get_calendar(str(counted["exchange"].iloc[0])).timezone
    return as_of.tz_localize("UTC").tz_convert(zone).tz_localize(None)


def apart(h: int) -> int:
    """Bars between the origins of windows: those from which the bands of a night learn."""
    return max(1, h // 4)


def whole(windows: Sequence[Window], h: int) -> int:
    """How many of some windows lie side by side."""
    return 0 if not windows else 1 + ((len(windows) - 1) * apart(h)) // h


def of_whole(windows: Sequence[Window], h: int, count: int) -> list[Window]:
    """Keep those that belong to the first so many side by side."""
    return list(windows[: 1 + ((count - 1) * h) // apart(h)])


@dataclass(slots=True, eq=False)
class Shadow:
    """The losses of one fit, as they were found on the night when each window was over, and its bands since.

    Both stay as they were found: what is restated later does not change how a model was judged.

    Parameters
    ----------
    file : pathlib.Path, optional
        Where they lie; None keeps nothing, as on a replay.
    rows : dict of str to tuple of float
        By ISO origin: CRPS of the model and of the baseline, shares inside their 80 % bands.
    bands : dict of str to tuple of str
        By ISO stamp of the last bar learned from: the UTC instant when they were written down, and JSON.
    """

    file: Path | None
    rows: dict[str, tuple[float, ...]]
    bands: dict[str, tuple[str, str]]

    @classmethod
    def open(cls, file: Path, *, keep: bool = True) -> Shadow:
        """Read it; one that is not there, or damaged, is empty and found anew."""
        try:
            plain = json.loads(file.read_text("utf-8"))
            rows = {str(origin): tuple(map(float, row)) for origin, row in plain["rows"].items()}
            if not np.isfinite(np.array(list(rows.values()))).all():
                rows = {}
            bands = {str(until): (str(at), str(text)) for until, (at, text) in plain["bands"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            rows, bands = {}, {}
        return cls(file if keep else None, rows, bands)

    def latest_bands(self, until: pd.Timestamp, made_by: pd.Timestamp | None) -> AdaptiveBands | None:
        """Return the bands as they stood last at a bar, if they were written down by an instant."""
        known = [
            stamp
            for stamp, (at, _) in self.bands.items()
            if pd.Timestamp(stamp) <= until and (made_by is None or pd.Timestamp(at) <= made_by)
        ]
        if not known:
            return None
        try:
            return AdaptiveBands.from_json(self.bands[max(known, key=pd.Timestamp)][1])
        except ConfigError:
            return None

    def save(self) -> None:
        """Write it down."""
        if self.file is not None and self.file.parent.is_dir():
            write_text(self.file, json.dumps({"rows": self.rows, "bands": self.bands}))


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """A fit and the panel on which it is asked again.

    Parameters
    ----------
    shelved : Shelved
    learnt : Lesson
        Rows that it was fitted on.
    panel : pandas.DataFrame
        Up to the as-of.
    settings : NightlySettings
    shadow : Shadow
    now : pandas.Timestamp
        UTC.
    made_by : pandas.Timestamp, optional
        Only what was written down by then is read.
    """

    shelved: Shelved
    learnt: Lesson
    panel: pd.DataFrame
    settings: NightlySettings
    shadow: Shadow
    now: pd.Timestamp
    made_by: pd.Timestamp | None = None

    def current(self) -> Shelved:
        """Return the fit with its bands as they stood last."""
        bands = self.shadow.latest_bands(self.panel["ds"].max(), self.made_by)
        if bands is None or not self.settings.bands.adaptive:
            return self.shelved
        return replace(self.shelved, blend=replace(self.shelved.blend, bands=bands))

    def losses(self, windows: Iterable[Window]) -> pd.DataFrame:
        """Return the losses over some windows, in their order; those not known yet are found.

        Returns
        -------
        pandas.DataFrame
            ``loss, baseline, inside, usual``, indexed by origin; without the windows that could not be judged, which
            are tried again the next time.
        """
        windows = list(windows)
        fresh = [window for window in windows if window.origin.isoformat() not in self.shadow.rows]
        if fresh:
            self._extend(fresh)
        known = [window.origin for window in windows if window.origin.isoformat() in self.shadow.rows]
        rows = [self.shadow.rows[origin.isoformat()] for origin in known]
        return pd.DataFrame(rows, index=known, columns=list(_COLUMNS))

    def _extend(self, fresh: Sequence[Window]) -> None:
        started = self.shadow.latest_bands(fresh[0].origin, self.made_by)
        shelved = (
            self.shelved if started is None else replace(self.shelved, blend=replace(self.shelved.blend, bands=started))
        )
        model, _ = assemble(shelved, self.learnt, self.panel, self.settings)
        # bands move on the origins from which any night lets them learn, so that they are those of any night
        every = windows_after(self.panel, pd.Timestamp(self.shelved.blend.bands.until), 1)
        own = {window.origin for window in every[:: apart(self.settings.h)]}
        baseline, fitted_for = None, None
        for window in fresh:
            block = self._block(window.origin)
            if baseline is None or block != fitted_for:
                baseline, fitted_for = _baseline(self.panel, block, self.settings), block
            if window.origin in own:
                self._follow(model, window.origin)
            row = self._judged(window, model, baseline)
            if np.isfinite(row).all():
                self.shadow.rows[window.origin.isoformat()] = row
        if model.adaptive and own:
            self._follow(model, max(own))
            self.shadow.bands[model.bands.until] = (self.now.isoformat(), model.bands.to_json())
        self.shadow.save()

    def _follow(self, model: ConformalForecaster, origin: pd.Timestamp) -> None:
        """Let bands learn from the bars up to an origin, and go on from there whether its own bar is known or not."""
        if model.adaptive and origin > pd.Timestamp(model.bands.until):
            model.update(_until(self.panel, origin))
            moved = replace(model.bands, until=origin.isoformat())
            assert model.fitted is not None
            model.fitted = replace(model.fitted, bands=moved)

    def _block(self, origin: pd.Timestamp) -> pd.Timestamp:
        """Return the bar up to which the baseline learns: the first of a window's length, counted from the fit."""
        stamps = [window.origin for window in windows_after(self.panel, self.learnt.until, 1)]
        place = stamps.index(origin) if origin in stamps else 0
        return stamps[place - place % self.settings.h]

    def _judged(
        self, window: Window, model: ConformalForecaster, baseline: tuple[Forecaster, frozenset[str]] | None
    ) -> tuple[float, ...]:
        if baseline is None:
            return (np.nan,) * len(_COLUMNS)
        known = _until(self.panel, window.origin)
        sizes = known.groupby("unique_id").size()
        able = {str(name) for name in sizes.index[sizes > self.settings.input_size]} & baseline[1]
        after = self.panel[(self.panel["ds"] > window.origin) & (self.panel["ds"] <= window.end)]
        came = after[after["y"].notna()][["unique_id", "ds", "y"]]
        known = known[known["unique_id"].isin(able & set(came["unique_id"]))].reset_index(drop=True)
        try:
            issued = [forecaster.forecast(known).to_long() for forecaster in (model, baseline[0])]
        except (SeriesError, ModelError):
            return (np.nan,) * len(_COLUMNS)
        scored = [_scored(rows.merge(came, on=["unique_id", "ds"])) for rows in issued]
        return tuple(float(part[name].mean()) for name in ("crps", "cov80") for part in scored)


def trial(replay: Replay, windows: Sequence[Window], name: str, beside: pd.DataFrame | None = None) -> Trial:
    """Put the losses of a fit beside those of the baseline, and of another model.

    Parameters
    ----------
    replay : Replay
    windows : sequence of Window
    name : str
        Of the fit, in words.
    beside : pandas.DataFrame, optional
        Losses of the champion over the same windows, where that is another fit.
    """
    own = replay.losses(windows)
    against = {BASELINE: own["baseline"].to_numpy()}
    if beside is not None:
        shared = own.index.intersection(beside.index)
        own, other = own.loc[shared], beside.loc[shared]
        against = {"the champion": other["loss"].to_numpy(), BASELINE: own["baseline"].to_numpy()}
    h = replay.settings.h
    return Trial(name, own["loss"].to_numpy(), against, apart(h), h, own["inside"].to_numpy(), own["usual"].to_numpy())


def _until(panel: pd.DataFrame, origin: pd.Timestamp) -> pd.DataFrame:
    return panel[panel["ds"] <= origin].reset_index(drop=True)


def _scored(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean loss of each series: every series counts the same."""
    scored = losses(rows)
    return scored.groupby(rows["unique_id"])[["crps", "cov80"]].mean()


def _baseline(
    panel: pd.DataFrame, until: pd.Timestamp, settings: NightlySettings
) -> tuple[Forecaster, frozenset[str]] | None:
    """Fit the baseline on the bars up to one, and name the series that it can forecast."""
    rows = Excerpt.until(panel, until)
    names = frozenset(map(str, panel["unique_id"][rows.chosen].unique()))
    found = fit_members([HAR(settings.h)], rows, names)
    if not found.models:
        return None
    return found.models[0], found.series.get(BASELINE, names)
