"""Processes whose forecast is known."""

from dataclasses import replace

import numpy as np
import pytest

from fints.transformer.start import refit_start
from fints.transformer.start.fit import CalendarEffects
from fints.transformer.start.sample import WindowSample, measure_units
from tests.transformer.start.conftest import EFFECTS, H, L, autoregression, forecast_of, start_of, tape_of, weekly


def rmse(error):
    return float(np.sqrt((error**2).mean()))


def heterogeneous(n, seed=0, n_series=3, burn=200):
    """A process whose mean follows its last value, week and month."""
    rng = np.random.default_rng(seed)
    z = np.zeros((n_series, n + burn))
    for t in range(20, n + burn):
        z[:, t] = step(z[:, :t]) + rng.normal(size=n_series)
    return z[:, burn:]


def step(z):
    return 0.35 * z[:, -1] + 0.3 * z[:, -5:].mean(axis=1) + 0.2 * z[:, -20:].mean(axis=1)


def oracle(z, h):
    """Forecasts of who knows the process."""
    for _ in range(h):
        z = np.column_stack((z, step(z)))
    return z[:, -h:]


@pytest.fixture(scope="module")
def planted():
    n = 1500
    z, effect = heterogeneous(n), weekly(n) @ EFFECTS
    spreads, levels = np.array([[1.0], [5.0], [0.1]]), np.array([[20.0], [-300.0], [3.0]])
    return z, effect, spreads, tape_of(levels + spreads * (z + effect), weekly(n))


def unseen(planted, start, tape=None):
    """Errors of a start on windows after those it was fitted to, and of the oracle, in units of the innovations."""
    z, _, spreads, whole = planted
    tape = whole if tape is None else tape
    n, errors, best = z.shape[1], [], []
    for series in range(3):
        for first in range(1200, n - H, H):
            origin = series * n + first - 1
            target = tape.values[origin + 1 : origin + H + 1, 0]
            errors.append((forecast_of(start, tape, [origin])[0] - target) / spreads[series])
            best.append(oracle(z[series : series + 1, :first], H)[0] - z[series, first : first + H])
    return rmse(np.array(errors)), rmse(np.array(best))


def earlier(tape, n=1500, stop=1200):
    """The first rows of every series."""
    kept = np.concatenate([np.arange(first, first + stop) for first in tape.bounds[:-1]])
    return replace(
        tape,
        bounds=np.arange(len(tape.bounds)) * stop,
        ds=tape.ds[kept],
        values=tape.values[kept],
        calendar=tape.calendar[kept],
        clocks={name: at[kept] for name, at in tape.clocks.items()},
    )


def test_a_planted_process_is_forecast_nearly_as_by_who_knows_it(planted):
    tape = earlier(planted[-1])
    error, best = unseen(planted, start_of(tape))
    assert error < 1.04 * best
    bare = replace(tape, calendar=np.empty((len(tape.ds), 0)))
    whole = replace(planted[-1], calendar=np.empty((len(planted[-1].ds), 0)))
    ignorant, _ = unseen(planted, start_of(bare), whole)
    assert ignorant > 1.2 * error


def test_effects_of_the_calendar_are_recovered_however_persistent_the_rest_is(planted):
    _, _, spreads, tape = planted
    made = start_of(earlier(tape))
    for name, spread in zip(tape.unique_ids, spreads[:, 0], strict=True):
        for each in (made.shared, made.own[name]):
            effects = each.calendar * made.units[name].spread / spread
            assert np.allclose(effects, EFFECTS, atol=0.25)


def test_effects_are_those_of_innovations_not_of_the_level():
    """A regression on levels would blame a covariate that stays on for what the level does meanwhile."""
    n = 2000
    z = autoregression(n, 1, seed=3, rate=0.98)
    x = (np.arange(n) % 250 < 60).astype(np.float64)[:, None]
    tape = tape_of(z + 2.0 * x.T, x)
    units = measure_units(tape, L, tape.origins(L, H))
    sample = WindowSample(tape, L, H, tape.origins(L, H), units)
    effect = CalendarEffects(sample).of(np.arange(len(sample)))[0] * units["S000"].spread
    level = np.linalg.lstsq(np.column_stack((np.ones(n), x)), tape.values[:, 0], rcond=None)[0][1]
    assert abs(effect - 2.0) < 0.5 * abs(level - 2.0)


def chosen(level, seeds=20):
    made = [
        start_of(tape_of(level + np.random.default_rng(s).normal(size=(2, 600)), weekly(600))) for s in range(seeds)
    ]
    return [m.anchor for m in made], [np.isinf(m.ridge) for m in made], made


def test_noise_around_zero_is_forecast_by_exactly_zero():
    anchors, alone, made = chosen(0.0)
    assert set(anchors) == {"zero"}
    assert np.mean(alone) >= 0.8
    tape = tape_of(np.random.default_rng(0).normal(size=(1, 100)), weekly(100))
    bare = made[alone.index(True)]
    assert (forecast_of(bare, tape, tape.origins(L, H)) == 0).all()
    assert refit_start(bare, tape, L, H, tape.origins(L, H)) is bare


def test_noise_around_a_level_is_forecast_by_the_mean_of_the_context():
    anchors, _, made = chosen(30.0)
    assert set(anchors) == {"level"}
    tape = tape_of(30.0 + np.random.default_rng(99).normal(size=(1, 300)), weekly(300))
    origins = tape.origins(L, H)
    means = tape.cut(origins, L, H).values[..., 0].mean(axis=1, keepdims=True)
    assert np.median([rmse(forecast_of(m, tape, origins) - means) for m in made]) < 0.2


@pytest.mark.parametrize("rate", [0.0, 0.97])
def test_an_early_close_of_yesterday_does_not_count_as_a_quiet_market(rate):
    """The context is averaged without the calendar's effects."""
    z = autoregression(1500, 2, rate=rate)
    calm, broken = tape_of(50.0 + z, weekly(1500)), tape_of(50.0 + z + weekly(1500) @ EFFECTS, weekly(1500))
    made = start_of(broken)
    origins = np.flatnonzero(broken.calendar[:1400, 1] == 1)[2:]  # windows that end on the rare day
    unit = made.units["S000"].spread
    with_it = made.locate(broken.cut(origins, L, H)).location - broken.cut(origins, L, H).future_calendar @ (
        0.5 * (made.shared.calendar + made.own["S000"].calendar)
    )
    without = made.locate(replace(calm, calendar=0 * calm.calendar).cut(origins, L, H)).location
    assert rmse(with_it - without) * unit < 0.25


def profile(clock, half_days):
    """Days of a U-shaped market; on some the last bars are missing."""
    rng = np.random.default_rng(0)
    shape = np.array([5.0, 3.0, 1.0, 0.0, 1.0, 2.0, 4.0])
    keep = np.array([bar < 4 or day % 9 != 5 for day in range(200) for bar in range(len(clock))])
    tape = tape_of((20.0 + np.tile(shape, 200) + 0.5 * rng.normal(size=1400))[None], hours=clock)
    keep = keep if half_days else np.ones_like(keep)
    n = int(keep.sum())
    return np.tile(shape, 200)[keep], replace(
        tape,
        bounds=np.array([0, n]),
        ds=tape.ds[keep],
        values=tape.values[keep],
        calendar=tape.calendar[keep],
        clocks={name: np.arange(n, dtype=np.float64) for name in tape.clocks},
    )


@pytest.mark.parametrize("half_days", [False, True])
def test_a_profile_of_the_day_is_recovered_through_half_days(half_days):
    shape, tape = profile((9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5), half_days)
    made = start_of(tape, L, 14)
    assert made.phase
    origins = tape.origins(L, 14)[-200:]
    truth = 20.0 + shape[origins[:, None] + np.arange(1, 15)]
    assert rmse(forecast_of(made, tape, origins, L, 14) - truth) < 0.25
    flattened = replace(tape, ds=tape.ds.astype("datetime64[D]").astype("datetime64[ns]"))
    blind = start_of(flattened, L, 14)
    assert not blind.phase
    assert rmse(forecast_of(blind, flattened, origins, L, 14) - truth) > (1.2 if half_days else 0.4)
