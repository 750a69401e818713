import numpy as np
import pandas as pd

from fints.bars.schema import validate_bars
from fints.forecast import QUANTILE_COLUMNS, QUANTILES
from fints.sessions import get_calendar
from fints.verification import Happened, Promise

FIRST, LAST = "2018-08-01", "2018-12-31"
STEPS = pd.DataFrame({"step": np.arange(1.0, 21), "RMSE": 0.13, "MAE": 0.1, "CRPS": 0.07, "cov80": 0.82, "cov95": 0.96})


def bars_of(volumes, exchange="XNYS", first=FIRST, last=LAST, fetched_at="2019-01-01T00:00Z"):
    """Daily bars with the volumes of each symbol, NaN for a session without a bar; prices move a little."""
    schedule = get_calendar(exchange).schedule(first, last)
    parts = []
    for name, volume in volumes.items():
        close = 100 + np.arange(len(schedule)) * 0.01
        frame = pd.DataFrame(
            {
                "symbol": name,
                "interval": "1d",
                "exchange": exchange,
                "session": schedule.index,
                "start": pd.DatetimeIndex(schedule["open"]),
                "end": pd.DatetimeIndex(schedule["close"]),
                "open": close,
                "high": close + 1,
                "low": close - 1,
                "close": close,
                "adj_close": close,
                "volume": pd.array(np.nan_to_num(volume, nan=1.0).round(), dtype="Int64"),
                "currency": "USD",
                "source": "made",
                "fetched_at": pd.Timestamp(fetched_at),
            }
        )
        parts.append(frame[~np.isnan(np.broadcast_to(np.asarray(volume, float), len(frame)))])
    return validate_bars(pd.concat(parts, ignore_index=True))


def count(exchange="XNYS", first=FIRST, last=LAST):
    return len(get_calendar(exchange).sessions(first, last))


def forecasts_of(names, as_of, level, *, h=20, made_at=None, target="log_volume"):
    """Forecast a level with normal bands, on the sessions that were known at the as-of."""
    from scipy.stats import norm

    ds = get_calendar("XNYS").as_known(as_of).next_sessions(as_of, h)
    made = pd.Timestamp(made_at) if made_at is not None else pd.Timestamp(as_of, tz="UTC") + pd.Timedelta(hours=23)
    quantiles = level + 0.1 * norm.ppf(QUANTILES)
    parts = [
        pd.DataFrame(
            {
                "dataset": "made",
                "as_of": pd.Timestamp(as_of),
                "unique_id": name,
                "target": target,
                "interval": "1d",
                "ds": ds,
                "step": np.arange(1, h + 1),
                "model": "Combination",
                "model_version": "v",
                "data_version": 1,
                "mean": level,
                "created_at": made,
            }
        ).assign(**dict(zip(QUANTILE_COLUMNS, quantiles, strict=True)))
        for name in names
    ]
    return pd.concat(parts, ignore_index=True)


def promise_of(forecasts, panel=None, by_step=STEPS):
    target, made = forecasts["target"].iloc[0], forecasts["created_at"].iloc[0]
    stated = by_step.assign(model="Combination")
    promise = Promise.of(target, made, ("Combination", "v"), stated)
    return promise if panel is None else promise.anchored(panel)


def keyed(forecasts, promise):
    return {(forecasts["as_of"].iloc[0], promise.made_at): promise}


def happened(bars, known_at=LAST):
    return Happened(bars, pd.Timestamp(known_at), pd.Timedelta(minutes=15))
