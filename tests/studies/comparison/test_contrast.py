import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from fints.errors import ConfigError
from fints.studies.comparison import Contrast, Place
from fints.studies.comparison.contrast import holm

PLACE = Place("wave", "bare", "within")


def contrast(logs, **rest):
    return Contrast("a", "b", PLACE, np.array(logs, dtype=float), **rest)


LOGS = np.random.default_rng(0).normal(-0.1, 0.05, 8)


def test_the_p_value_is_that_of_the_paired_t_test():
    assert contrast(LOGS).p == pytest.approx(ttest_1samp(LOGS, 0).pvalue)


def test_holm_corrects_as_statsmodels_does():
    some = [contrast(LOGS * 0.2 + shift) for shift in (-0.02, 0.0, 0.004, 0.03, -0.011)]
    expected = multipletests([c.p for c in some], method="holm")[1]
    np.testing.assert_allclose([c.p_holm for c in holm(some)], expected)
    assert holm([]) == ()


def test_the_ratio_is_the_geometric_mean_and_its_inverse_is_the_other_way_round():
    one, back = contrast(LOGS), contrast(-LOGS)
    assert one.times.mean == pytest.approx(np.exp(LOGS.mean()))
    assert one.times.low == pytest.approx(1 / back.times.high)
    assert (one.ruling, back.ruling) == ("lower", "higher")
    assert one.effect == pytest.approx(-back.effect)


def test_resampled_seeds_straddle_the_ratio_and_are_narrower_than_students_interval():
    low, high = contrast(LOGS).bootstrap
    assert low < contrast(LOGS).times.mean < high
    assert high / low < contrast(LOGS).times.high / contrast(LOGS).times.low


def test_a_difference_that_the_correction_takes_away_is_none():
    alone = contrast(LOGS)
    assert alone.differs
    assert not contrast(LOGS, p_holm=0.2).differs


@pytest.mark.parametrize(
    ("logs", "ruling"),
    [
        ([0.001, -0.002, 0.0015, 0.0], "equal"),
        ([0.3, -0.25, 0.1, -0.2], "undecided"),
        ([0.0, 0.0, 0.0], "equal"),
        ([0.4], "undecided"),
        ([0.2, 0.2, 0.2], "higher"),
    ],
)
def test_what_may_be_said(logs, ruling):
    assert contrast(logs).ruling == ruling


def test_equality_depends_on_the_margin():
    logs = [0.03, 0.032, 0.028, 0.031]
    assert contrast(logs).equal
    assert not contrast(logs, margin=0.02).equal


def test_identical_errors_need_no_seeds_to_show_a_difference_that_is_not_there():
    same = contrast([0.0] * 5)
    assert same.identical
    assert same.p == 1.0
    assert same.effect == 0.0
    assert same.needs() is None
    assert same.needs(0.02) == 2


def test_more_spread_needs_more_seeds_and_one_seed_knows_no_spread():
    assert contrast(LOGS).needs(0.02) < contrast(3 * LOGS).needs(0.02)
    assert contrast([0.1]).needs(0.02) is None
    assert np.isnan(contrast([0.1]).effect)
    assert contrast([0.1]).p == 1.0


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_every_row_of_log_ratios_has_a_ruling(logs):
    one = contrast(logs)
    assert one.ruling in ("lower", "higher", "equal", "undecided")
    assert 0 <= one.p <= 1


def test_a_contrast_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="one per seed"):
        contrast([])
