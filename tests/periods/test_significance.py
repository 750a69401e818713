from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from fints.periods.background import Background, fit_background
from fints.periods.calendar import calendar_sampling
from fints.periods.lines import Tone
from fints.periods.noise import Noise
from fints.periods.peeling import peel
from fints.periods.scan import calendar_scan
from fints.periods.search import Search
from fints.periods.significance import exceedance, false_discovery, ratio_of, search_p_value, search_threshold
from fints.periods.spectrum import fft_periodogram

TRIALS = 100


def smallest_p(samples, clock: str = "both") -> float:
    return peel(samples, Search(clock=clock, max_lines=1))[0].p_value


@pytest.mark.parametrize(("phi", "clock"), [(0.0, "session"), (0.7, "both"), (0.95, "calendar")])
def test_noise_shows_a_line_as_often_as_it_should(phi, clock, as_samples, red_noise):
    rng = np.random.default_rng(20240105)
    p_values = np.array([smallest_p(as_samples(red_noise(300, phi, rng)), clock) for _ in range(TRIALS)])
    for level in (0.05, 0.2):
        hits = int((p_values < level).sum())
        assert stats.binomtest(hits, TRIALS, level).pvalue > 0.01


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_on_the_calendar_the_highest_of_noise_of_known_level_has_uniform_p_values(phi, as_samples, red_noise):
    n, rng, p_values = 300, np.random.default_rng(1), []
    coefficients = np.array([0.0, 1.0]) if phi else np.array([0.0])
    known = Background(0, phi, coefficients, 1e-9 * np.eye(len(coefficients)), 1.0)
    for _ in range(300):
        samples = as_samples(red_noise(n, phi, rng))
        scan = calendar_scan(calendar_sampling(samples), samples, samples.value, known, (3.0, False))
        reported = scan.frequency * scan.duration >= 3
        p_values.append(search_p_value(float(scan.ratio[reported].max()), scan.peaks))
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    for level in (0.05, 0.2):
        hits = int((np.array(p_values) < level).sum())
        assert stats.binomtest(hits, len(p_values), level).pvalue > 0.01


@pytest.mark.parametrize("order", [(0, 0.0), (2, 0.0), (0, 1.0), (5, 0.0)])
def test_a_wave_of_the_calendar_has_no_part_in_the_level_that_it_is_judged_by(order, as_samples):
    n = 300
    plain = as_samples(np.random.default_rng(2).standard_normal(n))
    tone = Tone("calendar", 1 / 3.7)
    wavy = replace(plain, value=plain.value + 1.2 * np.cos(2 * np.pi * tone.frequency * plain.calendar))
    # the order is chosen once, by a series without striking lines
    chosen = fit_background(fft_periodogram(plain, plain.value), orders=[order])
    (at, alone), (_, judged) = (
        Noise.of(samples, "fft", samples.value, like=chosen).without(tone) for samples in (plain, wavy)
    )
    place = np.array([at])
    assert judged.level(place)[0] == pytest.approx(alone.level(place)[0], rel=0.05)
    # which without that would be in it
    assert Noise.of(wavy, "fft", wavy.value, like=chosen).background.level(place)[0] > 1.08 * alone.level(place)[0]


def test_noise_of_changing_variance_and_long_memory_shows_no_zoo(as_samples):
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(60):
        volatility = np.exp(0.02 * rng.standard_normal(800).cumsum())
        # fractional noise with d = 0.4 by its moving-average weights
        weights = np.cumprod(np.concatenate([[1.0], (np.arange(1, 1500) - 0.6) / np.arange(1, 1500)]))
        memory = np.convolve(rng.standard_normal(2300), weights)[1500:2300]
        hits += smallest_p(as_samples(memory + volatility * rng.standard_normal(800))) < 0.05
    assert stats.binomtest(hits, 60, 0.05, alternative="greater").pvalue > 0.01


def test_the_tail_of_one_ordinate_is_that_of_an_f_distribution():
    ratio, variance = np.array([0.5, 3.0, 12.0]), 0.04
    expected = -np.log(stats.f.sf(ratio, 2, 2 / variance))
    np.testing.assert_allclose(exceedance(ratio, np.full(3, variance)), expected, rtol=1e-9)
    np.testing.assert_allclose(exceedance(ratio, np.full(3, 1e-9)), ratio, rtol=1e-6)


@settings(deadline=None)
@given(surprise=st.floats(0.1, 80), variance=st.floats(1e-6, 0.5))
def test_ratio_and_exceedance_undo_each_other(surprise, variance):
    ratio = ratio_of(surprise, np.array([variance]))
    assert exceedance(ratio, np.array([variance]))[0] == pytest.approx(surprise, rel=1e-6)


@settings(deadline=None)
@given(alpha=st.floats(1e-6, 0.9), peaks=st.floats(5, 1e5))
def test_threshold_and_p_value_undo_each_other(alpha, peaks):
    assert search_p_value(search_threshold(alpha, peaks), peaks) == pytest.approx(alpha, rel=1e-6)


@settings(deadline=None)
@given(low=st.floats(0.5, 700), more=st.floats(0, 50), peaks=st.floats(0, 1e5))
def test_a_higher_peak_is_never_less_significant(low, more, peaks):
    assert 0 <= search_p_value(low + more, peaks) <= search_p_value(low, peaks) <= 1


@settings(deadline=None)
@given(family=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_values_of_a_family_are_benjamini_and_hochberg_s(family):
    expected = multipletests(family, method="fdr_bh")[1]
    np.testing.assert_allclose(false_discovery(family, family), expected, rtol=1e-12, atol=1e-300)


def test_a_further_line_is_judged_between_its_neighbours():
    family = [0.001, 0.01, 0.2, 0.8]
    q = false_discovery([0.001, 0.005, 0.01], family)
    assert q[0] < q[1] <= q[2]
