from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.transformer.start.sample import WindowSample, measure_units, tamed
from tests.transformer.start.conftest import H, L, autoregression, tape_of, weekly


def sample(tape):
    origins = tape.origins(L, H)[::7]
    return WindowSample(tape, L, H, origins, measure_units(tape, L, origins)), tape.cut(origins, L, H)


def test_contexts_and_targets_are_those_of_the_windows():
    tape = tape_of(autoregression(120, 3), weekly(120), np.random.default_rng(0).normal(size=(3, 120, 2)))
    made, cut = sample(tape)
    rows = np.array([4, 0, 9])
    y = tape.values[:, 0]
    assert np.array_equal(made.context(rows, y), cut.values[rows, :, 0])
    assert np.array_equal(made.future(rows, y), cut.target[rows])
    assert np.array_equal(made.names, cut.unique_ids)
    assert len(made) == len(cut)


def test_memories_of_many_windows_do_not_depend_on_how_they_are_taken_in_parts():
    tape = tape_of(autoregression(1500, 2), weekly(1500), np.random.default_rng(0).normal(size=(2, 1500, 1)))
    origins = tape.origins(L, H)
    units = measure_units(tape, L, origins)
    assert len(origins) > 1024
    whole, part = (WindowSample(tape, L, H, chosen, units) for chosen in (origins, origins[700:720]))
    for all_of_them, some in zip(whole.memories(), part.memories(), strict=True):
        assert np.allclose(all_of_them[700:720], some, rtol=0, atol=1e-12)
    assert np.allclose(whole.companions[700:720], part.companions, rtol=0, atol=1e-12)


def test_bars_of_one_time_are_not_intraday():
    assert not sample(tape_of(autoregression(120), hours=(16.0,)))[0].intraday
    assert sample(tape_of(autoregression(120), hours=(9.5, 10.5)))[0].intraday


@settings(max_examples=25)
@given(st.floats(1e-9, 1e9), st.floats(-1e4, 1e4))
def test_a_unit_is_a_context_spread_whatever_the_level(scale, level):
    y = autoregression(150)
    origins = tape_of(y).origins(L, H)
    contexts = tape_of(y).cut(origins, L, H).values[..., 0]
    unit = measure_units(tape_of(scale * (y + level)), L, origins)["S000"]
    assert np.isclose(unit.spread, scale * np.sqrt(contexts.var(axis=1).mean()), rtol=1e-6)
    assert np.isclose(unit.mean, scale * (y[0, :-H].mean() + level), rtol=1e-9, atol=1e-9 * scale)


def test_what_stands_still_has_a_unit_of_one():
    for value in (0.0, 3.0, 1e9 / 3, 1e-300):
        assert measure_units(tape_of(np.full((1, 60), value)), L, np.array([45]))["S000"].spread == 1.0


def test_units_come_from_the_windows_given():
    tape = tape_of(autoregression(150, 2))
    later = tape.values.copy()
    later[101:150] = 1e6
    one, other = (measure_units(t, L, np.arange(40, 100)) for t in (tape, replace(tape, values=later)))
    assert one == other
    assert list(one) == ["S000"]


@settings(max_examples=25)
@given(st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_a_broken_bar_is_tamed_in_any_unit_and_the_others_stay(scale, level):
    y = scale * (level + autoregression(150, 2))
    broken = y.copy()
    broken[1, 70] += 1e5 * scale
    whole, harmed = tape_of(y), tape_of(broken)
    origins = whole.origins(L, H)
    assert tamed(whole, L, H, origins) is whole
    values = tamed(harmed, L, H, origins).values[:, 0].reshape(2, -1)
    assert np.array_equal(np.delete(values, 70, axis=1), np.delete(y, 70, axis=1))
    assert y[1].max() < values[1, 70] < np.median(y[1]) + 100 * y[1].std()


def test_taming_goes_by_the_windows_given():
    y = autoregression(150)
    later = y.copy()
    later[0, 100:] *= 1e6
    origins = np.arange(L - 1, 100 - H)
    one, other = (tamed(tape_of(values), L, H, origins).values[:100] for values in (y, later))
    assert np.array_equal(one, other)
