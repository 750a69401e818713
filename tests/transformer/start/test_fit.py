"""The regression against an independent reference, and its laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.transformer.start import fit_start, refit_start, to_plain
from fints.transformer.start.fit import RIDGE
from fints.transformer.start.memory import fades, memory_kernels
from tests.transformer.start.conftest import (
    EFFECTS,
    H,
    L,
    autoregression,
    forecast_of,
    split_of,
    start_of,
    tape_of,
    weekly,
)


def rmse(error):
    return float(np.sqrt((error**2).mean()))


def penalised(x, y, ridge):
    """Least squares with a penalty relative to each column's sum of squares, as rows added to the data."""
    x = np.asarray(x, dtype=np.float64)
    rows = np.sqrt(ridge) * np.diag(np.linalg.norm(x, axis=0))
    return np.linalg.lstsq(np.vstack((x, rows)), np.concatenate((y, np.zeros(x.shape[1]))), rcond=None)[0]


def reference_units(tape, origins, size):
    """Spread and mean of every series, window by window."""
    units = {}
    for name in set(tape.names(origins)):
        own = origins[tape.names(origins) == name]
        contexts = [tape.values[o - size + 1 : o + 1, 0] for o in own]
        rows = sorted({row for o in own for row in range(o - size + 1, o + 1)})
        units[name] = np.sqrt(np.mean([c.var() for c in contexts])), tape.values[rows, 0].mean()
    return units


def reference_effects(tape, origins, size, units):
    """Effects of the covariates, and rates of the memories, in turn."""
    kernels = memory_kernels(size)
    near_y, step_y, near_x, step_x = [], [], [], []
    for o, name in zip(origins, tape.names(origins), strict=True):
        y = tape.values[o - size + 1 : o + 2, 0] / units[name][0]
        x = tape.calendar[o - size + 1 : o + 2]
        near_y.append(y[:-1] @ kernels[:, :-1] - y[:-1].mean())
        near_x.append(x[:-1].T @ kernels[:, :-1] - x[:-1].mean(axis=0)[:, None])
        step_y.append(y[-1] - y[:-1].mean())
        step_x.append(x[-1] - x[:-1].mean(axis=0))
    near_y, near_x, step_y, step_x = map(np.array, (near_y, near_x, step_y, step_x))
    effects = np.zeros(step_x.shape[1])
    for _ in range(3):
        rates = penalised(near_y - np.tensordot(near_x, effects, (1, 0)), step_y - step_x @ effects, 1e-4)
        effects = penalised(step_x - near_x @ rates, step_y - near_y @ rates, 1e-3)
    return effects


def reference_weights(tape, origins, shape, units, effects):
    """One row per window and step."""
    size, h = shape
    kernels, rows, targets = memory_kernels(size), [], []
    for o, name in zip(origins, tape.names(origins), strict=True):
        unit, mean = units[name]
        rest = tape.values[:, 0] / unit - tape.calendar @ effects
        memories = rest[o - size + 1 : o + 1] @ kernels
        x = [1.0, *(memories[:-1] - memories[-1]), memories[-1] - mean / unit]
        for past in tape.values[o - size + 1 : o + 1, 1:].T:
            z = (past - np.nanmean(past)) / np.nanstd(past)
            x.extend(np.where(np.isnan(z), 0.0, z) @ kernels[:, :-1])
        for step in range(1, h + 1):
            rows.append(np.kron(x, fades(np.array([step]))[0]))
            targets.append(rest[o + step] - memories[-1])
    return penalised(rows, np.array(targets), RIDGE).reshape(len(x), -1)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_regression_is_the_one_of_a_reference(seed):
    size, h, n = 20, 3, 90
    rng = np.random.default_rng(seed)
    past = rng.normal(size=(2, n, 1))
    past[0, rng.integers(0, n, 15)] = np.nan
    y = 5.0 + autoregression(n, 2, seed) * [[1.0], [30.0]] + weekly(n) @ EFFECTS
    tape = tape_of(y, weekly(n), past)
    split = split_of(tape, size, h)
    made = fit_start(tape, size, h, split.train, split.validation[:0])
    units = reference_units(tape, split.train, size)
    effects = reference_effects(tape, split.train, size, units)
    weights = reference_weights(tape, split.train, (size, h), units, effects)
    assert made.anchor == "level"
    assert np.allclose([(made.units[n].spread, made.units[n].mean) for n in units], list(units.values()))
    assert np.allclose(made.shared.calendar, effects, atol=1e-9)
    assert np.allclose(made.shared.weights, weights, atol=1e-9)


def test_a_series_of_its_own_is_regressed_without_companions_on_its_windows_alone():
    past = np.random.default_rng(0).normal(size=(2, 400, 1))
    y = 5.0 + autoregression(400, 2) + weekly(400) @ EFFECTS
    both, alone = tape_of(y, weekly(400), past), tape_of(y[1:], weekly(400))
    own = start_of(both).own["S001"]
    shared = start_of(alone).shared
    assert np.allclose(own.calendar, shared.calendar)
    assert np.allclose(own.weights, shared.weights)
    assert not start_of(alone).own


@settings(max_examples=12)
@given(st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(0, 1e3)), min_size=2, max_size=2))
def test_every_series_can_have_its_own_unit_and_zero(changes):
    y = 50.0 + autoregression(220, 2) + weekly(220) @ EFFECTS
    a, b = (np.array(column)[:, None] for column in zip(*changes, strict=True))
    plain, changed = tape_of(y, weekly(220)), tape_of(a * (y + b), weekly(220))
    origins = plain.origins(L, H)
    rows = (origins >= 220).astype(int)
    expected = a[rows] * (forecast_of(start_of(plain), plain, origins) + b[rows])
    assert np.allclose(forecast_of(start_of(changed), changed, origins) / a[rows], expected / a[rows], atol=1e-6)


@settings(max_examples=12)
@given(st.tuples(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6)))
def test_returns_can_have_any_unit(scales):
    y = autoregression(400, 2, rate=0.3) + weekly(400) @ [1.0, -1.0] - 0.2
    a = np.array(scales)[:, None]
    plain, changed = tape_of(y, weekly(400)), tape_of(a * y, weekly(400))
    start, other = start_of(plain), start_of(changed)
    assert start.anchor == other.anchor == "zero"
    assert np.isfinite(start.ridge)
    origins = plain.origins(L, H)
    rows = (origins >= 400).astype(int)
    expected = forecast_of(start, plain, origins)
    assert np.allclose(forecast_of(other, changed, origins) / a[rows], expected, atol=1e-9)


def changed_from(tape, row):
    """Another future for every series of 300 rows."""
    later = np.arange(len(tape.ds)) % 300 >= row
    values, calendar = tape.values.copy(), tape.calendar.copy()
    values[later], calendar[later] = 1e3, 7.0
    values[later, 1:] = np.nan
    return replace(tape, values=values, calendar=calendar)


def test_what_comes_after_the_windows_cannot_be_seen():
    past = np.random.default_rng(0).normal(size=(2, 300, 1))
    tape = tape_of(5.0 + autoregression(300, 2) + weekly(300) @ EFFECTS, weekly(300), past)
    rows = np.arange(len(tape.ds)) % 300
    origins = tape.origins(L, H)
    train, check = origins[rows[origins] + H < 200], origins[(rows[origins] >= 200) & (rows[origins] + H < 250)]
    made = fit_start(tape, L, H, train, check)
    assert np.isfinite(made.ridge)
    assert to_plain(fit_start(changed_from(tape, 250), L, H, train, check)) == to_plain(made)
    again = refit_start(made, tape, L, H, train)
    assert to_plain(refit_start(made, changed_from(tape, 200), L, H, train)) == to_plain(again) == to_plain(made)
    assert to_plain(refit_start(made, changed_from(tape, 199), L, H, train)) != to_plain(again)


def test_the_last_windows_only_decide_whether_the_regression_is_used():
    tape = tape_of(5.0 + autoregression(300, 2), weekly(300))
    split = split_of(tape)
    made = start_of(tape)
    spoilt = tape.values.copy()
    spoilt[split.validation[0] + 1 : 300] = 5.0 + 0.1 * autoregression(300).T[split.validation[0] + 1 :]
    other = fit_start(replace(tape, values=spoilt), L, H, split.train, split.validation)
    assert np.isfinite(other.ridge)
    assert to_plain(other) == to_plain(made)


def test_the_same_panel_gives_the_same_bits():
    tape = tape_of(5.0 + autoregression(300, 2), weekly(300))
    assert to_plain(start_of(tape)) == to_plain(start_of(tape))
