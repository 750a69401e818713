"""The two protocols: data, cuts and windows, read from a folder that does not belong to this repository."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

VARIABLE = "FINTS_PROTOCOL"
DEFAULT = Path(__file__).parents[3] / "shared" / "peers"
DAILY = {"log_volume": "logvol", "log_range": "logrange", "log_return": "logret"}
HOURLY = {"log_volume": "y"}
SESSION = 7
"""Bars of a full hourly session."""
_REGULAR = pd.Timedelta("9h30min")


@dataclass(frozen=True, eq=False)
class Window:
    """What one forecast is judged on.

    Parameters
    ----------
    series : str
    number : int
        Of the origin, from 0; windows of one number are judged together.
    last : Timestamp
        Last bar that may be known.
    truth : DataFrame
        ``ds`` and ``y`` of the bars that came.
    unit : float
        What errors are divided by: the context's standard deviation on hourly bars, 1 on daily ones.
    """

    series: str
    number: int
    last: pd.Timestamp
    truth: pd.DataFrame
    unit: float


@dataclass(frozen=True, eq=False)
class Group:
    """Series that are judged on the same origins.

    Parameters
    ----------
    name : str
    train : DataFrame
        Panel that may be trained on; all series.
    windows : tuple of Window
        In order of their number.
    """

    name: str
    train: pd.DataFrame
    windows: tuple[Window, ...]

    @property
    def series(self) -> tuple[str, ...]:
        """Series that are judged."""
        return tuple(dict.fromkeys(window.series for window in self.windows))

    def origins(self) -> Iterator[tuple[Window, ...]]:
        """Windows of each origin."""
        for number in sorted({window.number for window in self.windows}):
            yield tuple(window for window in self.windows if window.number == number)


@dataclass(frozen=True, eq=False)
class Trial:
    """A panel with its groups.

    Parameters
    ----------
    panel : DataFrame
        Everything; what follows a window's last bar is for judging alone.
    groups : tuple of Group
    h, input_size : int
        Horizon to train for, and bars of context.
    history : int
        Bars of history to forecast from.
    """

    panel: pd.DataFrame
    groups: tuple[Group, ...]
    h: int
    input_size: int
    history: int

    def known(self, windows: tuple[Window, ...]) -> pd.DataFrame:
        """Rows of the panel that the windows of one origin may know."""
        parts = []
        for window in windows:
            rows = self.panel[self.panel["unique_id"] == window.series]
            parts.append(rows[rows["ds"] <= window.last].tail(self.history))
        return pd.concat(parts, ignore_index=True)


def folder_from(given: Path | None) -> Path:
    """Find the folder of the protocol: as given, from the environment, or beside the repository."""
    folder = given or Path(os.environ.get(VARIABLE, DEFAULT))
    missing = [name for name in ("protocol.py", "intraday.py", "predictions.parquet") if not (folder / name).exists()]
    if missing:
        raise SystemExit(
            f"the forecasters' protocol was not found: {folder} has no {', '.join(missing)}. Its data may not be "
            f"distributed with the repository; name its folder with --protocol or {VARIABLE}"
        )
    return folder.resolve()


def daily_panel(folder: Path, target: str) -> pd.DataFrame:
    """Make the panel of a daily target, with the other two as companions and every calendar feature."""
    from fints.series import add_features, validate_panel

    rows = _module(folder, "protocol").load_panel()
    rows["logret"] = rows.groupby("series")["close"].transform(_log_change)
    panel = rows[["series", "date", DAILY[target]]].set_axis(["unique_id", "ds", "y"], axis=1)
    panel = panel.assign(exchange="XNYS", interval="1d")
    for name, column in DAILY.items():
        if name != target:
            panel[f"past_{name}"] = rows[column]
    panel = panel[panel["y"].notna()].fillna(0.0).reset_index(drop=True)
    return add_features(validate_panel(panel))


def hourly_panel(folder: Path) -> pd.DataFrame:
    """Make the panel of hourly log volume, without the few bars that stand outside the exchange's sessions."""
    import numpy as np

    from fints.series import add_features, validate_panel
    from fints.series.grid import infer_anchor
    from fints.sessions import bar_grid, get_calendar

    rows = _module(folder, "intraday").load()
    at = rows["t"].where(rows["bar"] != 0, rows["session"] + _REGULAR)
    spread = np.log(rows["high"] / rows["low"]) / np.sqrt(4 * np.log(2))
    panel = pd.DataFrame({"unique_id": rows["symbol"], "ds": at, "y": rows["y"], "exchange": "XNYS", "interval": "1h"})
    panel["past_log_return"] = rows.groupby("symbol")["close"].transform(_log_change).fillna(0.0)
    panel["past_log_range"] = np.log(np.maximum(spread, 1e-5))
    calendar = get_calendar("XNYS")
    anchor = infer_anchor(calendar, "1h", pd.DatetimeIndex(at.iloc[-500:]).as_unit("ns"))
    grid = bar_grid(calendar, at.min().normalize(), at.max().normalize(), "1h", anchor)
    return add_features(validate_panel(panel[at.isin(grid["ds"])].reset_index(drop=True)))


def daily_trial(folder: Path, panel: pd.DataFrame, shift: int) -> Trial:
    """Cut the daily protocol, moved back by some sessions."""
    rules = _module(folder, "protocol")
    panel = _moved_back(panel, shift)
    series = {str(name): rows for name, rows in panel.groupby("unique_id")}
    windows = {
        name: tuple(
            _window(rows, len(rows) - rules.TEST + number * rules.STEP, rules.H, number)
            for number in range(rules.TEST // rules.STEP)
        )
        for name, rows in series.items()
    }
    groups = []
    for group in dict.fromkeys(rules.GROUP.values()):
        names = [name for name in rules.SERIES if rules.GROUP[name] == group]
        cut = min(series[name]["ds"].iloc[-rules.TEST] for name in names)
        train = panel[panel["ds"] < cut].reset_index(drop=True)
        groups.append(Group(group, train, _by_number(windows, names)))
    return Trial(panel, tuple(groups), rules.H, rules.CTX, len(panel))


def hourly_trial(folder: Path, panel: pd.DataFrame, shift: int) -> Trial:
    """Cut the hourly protocol, moved back by some sessions."""
    rules = _module(folder, "intraday")
    panel = _moved_back(panel, shift * SESSION)
    left = panel.groupby("unique_id").cumcount(ascending=False)
    train = panel[left >= rules.TEST_BARS].reset_index(drop=True)
    windows = {}
    for name, rows in panel.groupby("unique_id"):
        first = range(len(rows) - rules.TEST_BARS + 1, len(rows) - 80 + 1, rules.STEP)
        cut = [_window(rows, at, rules.TEST_H, number) for number, at in enumerate(first)]
        windows[str(name)] = tuple(_in_units_of(rows, window, rules.CONTEXT) for window in cut)
    group = Group("hourly", train, _by_number(windows, list(windows)))
    return Trial(panel, (group,), rules.TRAINED, rules.CONTEXT, 2000)


def published(folder: Path) -> pd.DataFrame:
    """Read the forecasts that came with the daily protocol."""
    frame = pd.read_parquet(folder / "predictions.parquet")
    own = {column: name for name, column in DAILY.items()}
    frame["target"] = frame["target"].map(own)
    rules = _module(folder, "protocol")
    frame["group"] = frame["series"].map(rules.GROUP)
    first = frame.groupby(["model", "series", "target"])["origin"].transform("min")
    frame["number"] = (frame["origin"] - first) // rules.STEP
    return frame.assign(unit=1.0)


def _window(rows: pd.DataFrame, first: int, h: int, number: int) -> Window:
    truth = rows[["ds", "y"]].iloc[first : first + h].reset_index(drop=True)
    return Window(str(rows["unique_id"].iloc[0]), number, rows["ds"].iloc[first - 1], truth, 1.0)


def _in_units_of(rows: pd.DataFrame, window: Window, context: int) -> Window:
    past = rows.loc[rows["ds"] <= window.last, "y"].tail(context)
    return Window(window.series, window.number, window.last, window.truth, float(past.std(ddof=0)) + 1e-6)


def _by_number(windows: Mapping[str, tuple[Window, ...]], names: list[str]) -> tuple[Window, ...]:
    return tuple(sorted((w for name in names for w in windows[name]), key=lambda w: w.number))


def _moved_back(panel: pd.DataFrame, bars: int) -> pd.DataFrame:
    return panel[panel.groupby("unique_id").cumcount(ascending=False) >= bars].reset_index(drop=True)


def _log_change(price: pd.Series) -> pd.Series:
    import numpy as np

    return np.log(price).diff()


def _module(folder: Path, name: str) -> ModuleType:
    """Load a module of the folder by its path: it is no package, and stays off the path of imports."""
    known = f"fints_protocol_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module  # its dataclasses look themselves up there
        spec.loader.exec_module(module)
    return sys.modules[known]
