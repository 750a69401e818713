import numpy as np
import pytest

from fints.periods.cleaning import cleaned


def events(n: int, every: int) -> np.ndarray:
    return (np.arange(n) % every == 3).astype(float)[:, None]


def test_an_effect_is_taken_out_and_the_level_stays(as_samples, red_noise):
    n = 1500
    noise = 5 + red_noise(n, 0.6, np.random.default_rng(0))
    clean, columns = cleaned(as_samples(noise + 4 * events(n, 50)[:, 0]), events(n, 50))
    bare, _ = cleaned(as_samples(noise), events(n, 50))
    np.testing.assert_allclose(clean.value - clean.value.mean(), bare.value - bare.value.mean(), atol=1e-4)
    assert clean.value.mean() == pytest.approx(noise.mean() + 4 * events(n, 50).mean(), abs=1e-9)
    assert columns.shape[1] == 2


def test_an_effect_may_change_its_size_over_the_years(as_samples):
    n = 2000
    growing = np.linspace(0, 6, n) * events(n, 40)[:, 0]
    clean, _ = cleaned(as_samples(growing + np.random.default_rng(1).standard_normal(n)), events(n, 40))
    on = events(n, 40)[:, 0] > 0
    assert abs(clean.value[on][:20].mean() - clean.value[on][-20:].mean()) < 1


def test_effects_that_hardly_occur_are_left_in(as_samples):
    n = 300
    y = np.random.default_rng(2).standard_normal(n)
    clean, columns = cleaned(as_samples(y), events(n, 100))
    assert columns.shape[1] == 0
    np.testing.assert_array_equal(clean.value, y)


def test_outliers_go_and_other_values_stay(as_samples, red_noise):
    n = 1000
    y = red_noise(n, 0.8, np.random.default_rng(3))
    spoilt = y.copy()
    spoilt[[200, 500, 800]] += [30, -25, 40]
    clean, columns = cleaned(as_samples(spoilt), None)
    assert columns.shape[1] == 3
    assert "3 outliers taken out" in clean.note
    others = np.delete(np.arange(n), [200, 500, 800])
    shift = clean.value[others] - y[others]
    np.testing.assert_allclose(shift, shift[0], atol=1e-9)
    assert np.abs(clean.value - y - shift[0]).max() < 6
