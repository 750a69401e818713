from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.transformer.start import LinearStart, flat_start
from fints.transformer.start.linear import Coefficients, Unit, same_time_mean
from fints.transformer.start.memory import fades, memory_kernels
from tests.transformer.start.conftest import H, L, autoregression, forecast_of, tape_of, weekly

N_MEMORIES = memory_kernels(L).shape[1]
J = fades(np.array([1])).shape[1]


KNOWN = (("S000", Unit(2.0, 5.0)),)


def coefficients(seed, n_cal=2, n_past=0, *, phase=False):
    rng = np.random.default_rng(seed)
    width = (N_MEMORIES - 1) * (1 + n_past) + 2 + 2 * phase
    return Coefficients(rng.normal(size=n_cal), 0.2 * rng.normal(size=(width, J)))


def start(anchor="level", seed=0, *, own=(), units=KNOWN, phase=False, n_past=0):
    return LinearStart(
        anchor=anchor,
        ridge=0.1,
        phase=phase,
        shared=coefficients(seed, n_past=n_past, phase=phase),
        own=MappingProxyType({name: coefficients(seed + 1 + i, phase=phase) for i, name in enumerate(own)}),
        units=MappingProxyType(dict(units)),
    )


@pytest.fixture
def tape():
    return tape_of(5.0 + autoregression(90, 3), weekly(90))


def windows(tape, step=9):
    return tape.cut(tape.origins(L, H)[::step], L, H)


def test_a_flat_start_forecasts_the_mean_of_the_context(tape):
    cut = windows(tape)
    for anchor, expected in (("level", cut.values[..., 0].mean(axis=1)), ("zero", np.zeros(len(cut)))):
        located = flat_start(2, 0, L, anchor).locate(cut)
        assert np.allclose(located.location * located.unit, expected[:, None])
        assert np.allclose(located.adjusted * located.unit, cut.values[..., 0])


def test_the_forecast_is_calendar_plus_anchor_plus_faded_regressors(tape):
    """Written out, window by window and bar by bar."""
    made, cut = start(), windows(tape)
    located = made.locate(cut)
    for i in np.flatnonzero(cut.unique_ids == "S000"):
        rest = cut.values[i, :, 0] / 2.0 - cut.calendar[i] @ made.shared.calendar
        memories = [float(rest @ kernel) for kernel in memory_kernels(L).T]
        level = memories[-1]
        x = np.array([1.0, *(m - level for m in memories[:-1]), level - 5.0 / 2.0])
        for k in range(H):
            expected = level + cut.future_calendar[i, k] @ made.shared.calendar
            expected += x @ made.shared.weights @ fades(np.array([k + 1]))[0]
            assert np.isclose(located.location[i, k], expected)
        assert np.allclose(located.adjusted[i], rest)
    assert (located.unit[cut.unique_ids == "S000"] == 2.0).all()


def test_a_series_with_a_regression_of_its_own_uses_the_mean_of_both(tape):
    units = tuple((name, Unit(2.0, 5.0)) for name in ("S000", "S001", "S002"))
    both, cut = start(own=("S001",), units=units), windows(tape)
    shared, own = start(units=units), replace(both, shared=both.own["S001"], own=MappingProxyType({}))
    mixed, ours, theirs = (made.locate(cut) for made in (both, shared, own))
    has = cut.unique_ids == "S001"
    for what in ("location", "adjusted"):
        expected = 0.5 * (getattr(ours, what) + getattr(theirs, what))
        assert np.allclose(getattr(mixed, what)[has], expected[has])
        assert np.allclose(getattr(mixed, what)[~has], getattr(ours, what)[~has], rtol=0, atol=1e-12)


def test_a_series_that_is_unknown_is_measured_by_its_own_window(tape):
    made, cut = start(units=()), windows(tape)
    y = cut.values[..., 0]
    units = {str(i): Unit(y[i].std(), y[i].mean()) for i in range(len(cut))}
    named = replace(cut, unique_ids=np.array(list(units)))
    told = replace(made, units=MappingProxyType(units)).locate(named)
    assert np.allclose(made.locate(cut).location, told.location)
    assert np.allclose(made.locate(cut).unit, told.unit)


@settings(max_examples=25)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.sampled_from(["level", "zero"]))
def test_an_unknown_series_is_forecast_in_any_unit(a, b, anchor):
    """Forecasts of a·y are a times as large; where the level is the anchor, those of y + b are b higher."""
    y = autoregression(60)
    made = start(anchor, units=())
    b = b if anchor == "level" else 0.0
    plain, changed = tape_of(y, weekly(60)), tape_of(a * y + b, weekly(60))
    origins = plain.origins(L, H)
    expected = a * forecast_of(made, plain, origins) + b
    assert np.allclose(forecast_of(made, changed, origins), expected, atol=1e-8 * (a + abs(b)))


def test_nothing_after_the_context_is_read_but_the_calendar_of_the_bar_asked_for(tape):
    made = start(own=("S001",))
    origin = tape.origins(L, H)[10]
    before = forecast_of(made, tape, [origin])
    later = tape.values.copy()
    later[origin + 1 :] = 1e6
    assert np.array_equal(forecast_of(made, replace(tape, values=later), [origin]), before)
    calendar = tape.calendar.copy()
    calendar[origin + 3 :] += 1.0
    moved = forecast_of(made, replace(tape, calendar=calendar), [origin])
    assert np.array_equal(moved[:, :2], before[:, :2])
    assert not np.isclose(moved[:, 2:], before[:, 2:]).any()
    earlier = tape.values.copy()
    earlier[: origin - L + 1] = -1e6
    assert np.array_equal(forecast_of(made, replace(tape, values=earlier), [origin]), before)


def test_the_weight_of_a_bar_goes_by_its_step_wherever_it_is_asked(tape):
    """A question about later bars alone gets what the whole horizon gives them."""
    made, cut = start(), windows(tape)
    whole = made.locate(cut).location
    alone = replace(
        cut,
        future_calendar=cut.future_calendar[:, 3:],
        future_places={name: at[:, 3:] for name, at in cut.future_places.items()},
        future_hours=cut.future_hours[:, 3:],
    )
    assert np.allclose(made.locate(alone).location, whole[:, 3:], rtol=0, atol=1e-12)


def test_a_horizon_of_any_length_goes_on_by_the_fading_law():
    tape = tape_of(5.0 + autoregression(500), np.zeros((500, 2)))
    made, origin = start(), tape.origins(L, 400)[:1]
    long = made.locate(tape.cut(origin, L, 400)).location[0]
    assert np.allclose(long[:H], made.locate(tape.cut(origin, L, H)).location[0], rtol=0, atol=1e-12)
    basis = fades(np.arange(1, 401))
    law = np.linalg.lstsq(basis[:40], long[:40] - long[-1], rcond=None)[0]
    assert np.allclose(basis @ law, long - long[-1], atol=1e-6)
    assert np.abs(np.diff(long[-20:])).max() < 1e-6


def test_a_bar_of_the_past_that_is_asked_about_does_not_run_away(tape):
    cut = windows(tape)
    past = replace(cut, future_places={**cut.future_places, "index": cut.future_places["index"] - L})
    next_one = replace(cut, future_places={**cut.future_places, "index": np.full((len(cut), H), float(L))})
    assert np.array_equal(start().locate(past).location, start().locate(next_one).location)


def test_the_same_time_of_day_is_told_apart_to_the_second():
    hours = np.array([[9.5, 10.5, 11.5, 9.5, 10.5]])
    values = np.array([[1.0, 2.0, 3.0, 5.0, 8.0]])
    asked = np.array([[9.5, 10.5, 11.5, 12.5, 9.5 + 2 / 3600, 10.5 + 1e-9]])
    assert np.allclose(same_time_mean(values, hours, asked), [[3.0, 5.0, 3.0, 3.8, 3.8, 5.0]])


@given(st.integers(0, 1000))
def test_means_of_a_time_of_day_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    hours, asked = rng.integers(8, 14, (3, 20)) + 0.5, rng.integers(8, 16, (3, 4)) + 0.5
    values = rng.normal(size=(3, 20))
    found = same_time_mean(values, hours, asked)
    for i in range(3):
        for k in range(4):
            same = values[i, hours[i] == asked[i, k]]
            assert np.isclose(found[i, k], (same if len(same) else values[i]).mean())


def test_a_time_of_day_is_forecast_by_its_own_mean():
    """With a weight of one for the phase and of zero for the rest, the profile comes back, however it starts."""
    clock = (9.5, 10.5, 11.5, 12.5)
    profile = np.array([4.0, 2.0, 1.0, 3.0])
    tape = tape_of(np.tile(profile, 20)[None], hours=clock)
    weights = np.zeros((N_MEMORIES + 3, J))
    weights[-1, -1] = 1.0
    made = replace(start(phase=True, units=()), shared=Coefficients(np.zeros(0), weights))
    for origin in tape.origins(L, H):
        expected = profile[(origin + np.arange(1, H + 1)) % len(clock)]
        assert np.allclose(forecast_of(made, tape, [origin])[0], expected)


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_an_unknown_companion_counts_as_its_mean(seed):
    rng = np.random.default_rng(seed)
    y, past = autoregression(60), rng.normal(size=(1, 60, 2))
    made = start(n_past=2, units=())
    holes = past.copy()
    holes[0, rng.integers(0, 60, 20), 0] = [np.nan, np.inf, -np.inf, np.nan] * 5
    holes[..., 1] = np.nan
    filled = holes.copy()
    tape = tape_of(y, weekly(60), holes)
    for origin in tape.origins(L, H):
        context = holes[0, origin - L + 1 : origin + 1, 0]
        known = np.isfinite(context)
        filled[0, origin - L + 1 : origin + 1, 0] = np.where(known, context, context[known].mean())
        z = (filled[0, origin - L + 1 : origin + 1, 0] - context[known].mean()) / context[known].std()
        memories = np.concatenate((z @ memory_kernels(L)[:, :-1], np.zeros(N_MEMORIES - 1)))
        effect = fades(np.arange(1, H + 1)) @ (memories @ made.shared.weights[N_MEMORIES + 1 :])
        weights = made.shared.weights.copy()
        weights[N_MEMORIES + 1 :] = 0.0
        bare = replace(made, shared=replace(made.shared, weights=weights))
        cut = tape.cut(np.array([origin]), L, H)
        assert np.allclose(made.locate(cut).location - bare.locate(cut).location, effect)
