import numpy as np
import pytest

from fints import detect_periods
from fints.errors import UnknownNameError
from fints.periods.background import fit_background
from fints.periods.shorttime import short_time
from fints.periods.spectrum import fft_periodogram


def seen(samples):
    return short_time(samples, fit_background(fft_periodogram(samples, samples.value)))


@pytest.mark.parametrize("phi", [0.0, 0.95])
def test_noise_has_ratio_one_at_every_time_and_frequency(phi, as_samples, red_noise):
    ratios = [seen(as_samples(red_noise(1000, phi, np.random.default_rng(seed)))).ratio for seed in range(20)]
    mean = np.mean(ratios, axis=0)[4:-4]
    assert mean.mean() == pytest.approx(1, abs=0.05)
    assert mean.mean(axis=1) == pytest.approx(np.ones(len(mean)), abs=0.35)


def test_a_cycle_shows_where_and_when_it_lives(as_samples):
    n = 1600
    day = np.arange(n)
    y = np.random.default_rng(1).standard_normal(n) + 1.5 * (day < n // 2) * np.cos(2 * np.pi * day / 8)
    result = seen(as_samples(y))
    row = int(np.abs(result.frequency - 1 / 8).argmin())
    early = result.session < result.session[0] + 0.4 * (result.session[-1] - result.session[0])
    late = result.session > result.session[0] + 0.7 * (result.session[-1] - result.session[0])
    assert (result.ratio[row, early] > 20).all()
    assert result.ratio[row, late].mean() < 4
    assert result.ratio[:, early].mean(axis=1).argmax() == row
    assert (np.diff(result.calendar) > 0).all()
    assert result.ratio.shape == (len(result.frequency), len(result.session))


def test_a_short_series_has_a_view_too_and_an_unknown_one_is_named(as_panel):
    found = detect_periods(as_panel(A=np.random.default_rng(2).standard_normal(80)))
    assert np.isfinite(found.short_time("A").ratio).all()
    with pytest.raises(UnknownNameError, match="unknown series 'B'"):
        found.short_time("B")
