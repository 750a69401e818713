"""Tapes that are cheap to make, for the start reads arrays and no calendar."""

import numpy as np

from fints.series.windows import CLOCKS, Tape
from fints.transformer.start import fit_start
from fints.transformer.training import Split, TrainingWindows

L, H = 40, 6
EFFECTS = np.array([1.5, -2.5])
"""Of the covariates that `weekly` makes, where a process has any."""


def tape_of(y, calendar=None, past=None, hours=(0.0,)):
    """Lay series of one length end to end.

    Parameters
    ----------
    y : array_like, shape (S, n)
    calendar, past : array_like, shapes (n, C) and (S, n, M), optional
    hours : sequence of float
        Times of the bars of every day.
    """
    y = np.asarray(y, dtype=np.float64)
    n_series, n = y.shape
    days, bars = np.divmod(np.arange(n), len(hours))
    stamps = np.array([np.timedelta64(round(hour * 3600), "s") for hour in hours])
    ds = np.datetime64("2010-01-01", "ns") + days.astype("timedelta64[D]") + stamps[bars]
    past = np.empty((n_series, n, 0)) if past is None else np.asarray(past, dtype=np.float64)
    return Tape(
        unique_ids=tuple(f"S{i:03d}" for i in range(n_series)),
        bounds=np.arange(n_series + 1) * n,
        ds=np.tile(ds, n_series),
        values=np.column_stack([y.ravel(), past.reshape(n_series * n, -1)]),
        calendar=np.tile(np.empty((n, 0)) if calendar is None else np.asarray(calendar, float), (n_series, 1)),
        clocks={name: np.tile(np.arange(n, dtype=np.float64), n_series) for name in CLOCKS},
    )


def split_of(tape, input_size=L, h=H, share=0.2):
    return Split.by_time(TrainingWindows(tape, input_size, h), share)


def start_of(tape, input_size=L, h=H, share=0.2):
    split = split_of(tape, input_size, h, share)
    return fit_start(tape, input_size, h, split.train, split.validation)


def forecast_of(start, tape, origins, input_size=L, h=H):
    """Forecasts in the units of the data, shape (B, H)."""
    located = start.locate(tape.cut(np.asarray(origins), input_size, h))
    return located.location * located.unit


def autoregression(n, n_series=1, seed=0, rate=0.8, burn=100):
    rng = np.random.default_rng(seed)
    z = np.zeros((n_series, n + burn))
    for t in range(1, n + burn):
        z[:, t] = rate * z[:, t - 1] + rng.normal(size=n_series)
    return z[:, burn:]


def weekly(n):
    """Covariates that are known: one bar in five, one in fifty-three."""
    t = np.arange(n)
    return np.column_stack((t % 5 == 4, t % 53 == 7)).astype(np.float64)
