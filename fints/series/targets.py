"""What can be forecast from bars: one named, documented function per target.

A target maps the bars of *one* symbol and interval, in time order, to one float per bar. Where the target
is undefined the value is NaN, never an infinity and never a made-up floor: two zero-volume days in twenty
years are enough to cost a regression all its skill, and any floor under a logarithm is such an outlier.
Bars without a value are dropped from the panel and can be listed with :func:`fints.series.panel_problems`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fints.bars.continuity import LONG_HOLE
from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_PARKINSON = 4.0 * np.log(2.0)
_GARMAN_KLASS = 2.0 * np.log(2.0) - 1.0


@dataclass(frozen=True, slots=True)
class Target:
    """One quantity that can be forecast.

    Parameters
    ----------
    name : str
        The name by which it is asked for.
    doc : str
        Formula and meaning.
    unit : str
        Unit of the values.
    source : str
        Where the definition comes from.
    columns : tuple of str
        Bar columns that it reads.
    undefined : str
        When a bar has no value, in words that end a message.
    companions : tuple of str
        Targets whose own past helps with this one (columns ``past_<name>`` of a panel).
    function : callable
        Bars of one symbol in time order to an array with one float per bar, NaN where undefined.
    """

    name: str
    doc: str
    unit: str
    source: str
    columns: tuple[str, ...]
    undefined: str
    companions: tuple[str, ...]
    function: Callable[[pd.DataFrame], FloatArray]

    def __call__(self, bars: pd.DataFrame) -> FloatArray:
        """Value of the target for each bar.

        Parameters
        ----------
        bars : pandas.DataFrame
            Bars of one symbol and interval in time order; the columns of ``columns`` are read.

        Returns
        -------
        numpy.ndarray, shape (n,)
            NaN where the target is undefined, finite elsewhere.
        """
        values = self.function(bars)
        return np.asarray(np.where(np.isfinite(values), values, np.nan), dtype=np.float64)


def get_target(name: str) -> Target:
    """Look a target up by name.

    Raises
    ------
    UnknownNameError
        If there is no such target; the message lists those that exist.
    """
    if name not in TARGETS:
        raise UnknownNameError("target", name, TARGETS)
    return TARGETS[name]


def _numbers(bars: pd.DataFrame, column: str) -> FloatArray:
    values: FloatArray = bars[column].to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def _log_positive(values: FloatArray) -> FloatArray:
    """Logarithm where it exists, NaN elsewhere, without a warning."""
    positive = values > 0
    return np.asarray(np.where(positive, np.log(np.where(positive, values, 1.0)), np.nan), dtype=np.float64)


def _log_volume(bars: pd.DataFrame) -> FloatArray:
    return _log_positive(_numbers(bars, "volume"))


def _log_dollar_volume(bars: pd.DataFrame) -> FloatArray:
    return _log_volume(bars) + _log_positive(_numbers(bars, "close"))


def _spread(bars: pd.DataFrame) -> FloatArray:
    """Log of high over low, NaN unless high > low > 0."""
    spread = _log_positive(_numbers(bars, "high")) - _log_positive(_numbers(bars, "low"))
    return np.asarray(np.where(spread > 0, spread, np.nan), dtype=np.float64)


def _log_range(bars: pd.DataFrame) -> FloatArray:
    return _log_positive(_spread(bars)) - 0.5 * float(np.log(_PARKINSON))


def _log_range_gk(bars: pd.DataFrame) -> FloatArray:
    body = _log_positive(_numbers(bars, "close")) - _log_positive(_numbers(bars, "open"))
    return 0.5 * _log_positive(0.5 * _spread(bars) ** 2 - _GARMAN_KLASS * body**2)


def _log_return(bars: pd.DataFrame) -> FloatArray:
    """Dividends fall between sessions, so intraday bars use the close as quoted; a panel takes splits out before.

    Behind a long hole a symbol may name another instrument, so that no return is taken over it.
    """
    daily = bars["interval"].to_numpy() == "1d"
    price = np.where(daily, _numbers(bars, "adj_close"), _numbers(bars, "close"))
    level = _log_positive(price)
    if not len(level):
        return level
    hole = np.diff(bars["session"].to_numpy("datetime64[ns]")) > LONG_HOLE.to_timedelta64()
    return np.concatenate([[np.nan], np.where(hole, np.nan, np.diff(level))])


def _abs_return(bars: pd.DataFrame) -> FloatArray:
    return np.abs(_log_return(bars))


def _log_close(bars: pd.DataFrame) -> FloatArray:
    return _log_positive(_numbers(bars, "close"))


_NO_VOLUME = "zero, negative or missing volume"
_NO_RANGE = "high and low equal or missing"
_NO_RETURN = "no earlier bar, none for a quarter of a year, or a missing or non-positive price"

_ALL = (
    Target(
        "log_volume",
        "Natural log of the volume traded in the bar: ln V.",
        "log of shares or contracts",
        "Ajinkya and Jain (1989), J. Accounting and Economics 11: log volume is near normal",
        ("volume",),
        _NO_VOLUME,
        ("log_range", "log_return"),
        _log_volume,
    ),
    Target(
        "log_dollar_volume",
        "Natural log of the value traded, at the close as quoted: ln(V · C). Free of splits when price and volume are "
        "both adjusted or both not.",
        "log of currency units",
        "Amihud (2002), J. Financial Markets 5, section 2 (daily dollar volume)",
        ("volume", "close"),
        f"{_NO_VOLUME}, or a missing or non-positive close",
        ("log_range", "log_return"),
        _log_dollar_volume,
    ),
    Target(
        "log_range",
        "Natural log of Parkinson's volatility of the bar: ln sqrt(ln(H/L)² / (4 ln 2)). A bar with H = L traded at "
        "one price (or is damaged); it has no logarithm and is left out.",
        "log of the standard deviation per bar",
        "Parkinson (1980), J. Business 53, 61-65; Alizadeh, Brandt and Diebold (2002), J. Finance 57 (log range)",
        ("high", "low"),
        _NO_RANGE,
        ("log_volume", "log_return"),
        _log_range,
    ),
    Target(
        "log_range_gk",
        "Natural log of Garman and Klass's volatility of the bar: ½ ln(½ ln(H/L)² - (2 ln 2 - 1) ln(C/O)²).",
        "log of the standard deviation per bar",
        "Garman and Klass (1980), J. Business 53, 67-78, their practical estimator without the overnight part",
        ("open", "high", "low", "close"),
        f"{_NO_RANGE}, or open or close outside them",
        ("log_volume", "log_return"),
        _log_range_gk,
    ),
    Target(
        "log_return",
        "Log return since the bar before, overnight included: ln(C_t / C_{t-1}); daily bars take the close adjusted "
        "for splits and dividends, intraday bars the close as quoted. After a missing session it spans the gap, but "
        "not a hole of more than a quarter of a year, behind which the symbol may name another instrument.",
        "log return per bar",
        "Campbell, Lo and MacKinlay (1997), The Econometrics of Financial Markets, section 1.4",
        ("close", "adj_close", "interval", "session"),
        _NO_RETURN,
        ("log_volume", "log_range"),
        _log_return,
    ),
    Target(
        "abs_return",
        "Absolute log return since the bar before: |ln(C_t / C_{t-1})|, prices as for log_return.",
        "absolute log return per bar",
        "Ding, Granger and Engle (1993), J. Empirical Finance 1, 83-106",
        ("close", "adj_close", "interval", "session"),
        _NO_RETURN,
        ("log_volume", "log_range"),
        _abs_return,
    ),
    Target(
        "log_close",
        "Natural log of the close: ln C. A panel takes confirmed splits out of it; distributions stay in.",
        "log of currency units",
        "Campbell, Lo and MacKinlay (1997), section 1.4",
        ("close",),
        "a missing or non-positive close",
        ("log_volume", "log_range"),
        _log_close,
    ),
)

TARGETS: Mapping[str, Target] = MappingProxyType({target.name: target for target in _ALL})
"""Every target by name."""
