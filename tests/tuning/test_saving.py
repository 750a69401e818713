import numpy as np
import pandas as pd
import pytest

from fints.backtest import make_folds
from fints.studies.planted import PlantedCycles
from fints.tuning.saving import saved

H = 10


def folds_of(windows, apart, h=H):
    panel = PlantedCycles("planted", "Planted", (20.0,), (1.0,), 0.1).panel(h + windows * max(apart, h) + 50, seed=0)
    return make_folds(panel, h, windows, apart)


def losses(folds, bars):
    """Mean over each window of what every bar costs; bars are counted from the first cutoff."""
    first = folds.cutoffs[0]
    begins = [(cutoff - first).days for cutoff in folds.cutoffs]
    return pd.Series([bars[begin : begin + folds.h].mean() for begin in begins], index=folds.cutoffs)


def equally_good(folds, rng):
    """Two candidates that cost the same but for chance, bar by bar."""
    bars = (folds.cutoffs[-1] - folds.cutoffs[0]).days + folds.h
    return (losses(folds, rng.gamma(4.0, size=bars)) for _ in range(2))


@pytest.mark.parametrize(("windows", "apart"), [(2, H), (20, 2), (8, 5), (16, H)])
def test_between_equally_good_candidates_a_gain_is_seen_as_often_as_is_said(windows, apart):
    """One time in twenty, whether windows overlap or not: the interval has 90 % on both sides together."""
    folds, rng = folds_of(windows, apart), np.random.default_rng(0)
    gains = [saved(*equally_good(folds, rng), folds, root=True).low > 0 for _ in range(600)]
    assert 0.025 <= np.mean(gains) <= 0.075


def test_windows_that_overlap_are_counted_together():
    folds = folds_of(20, 2)
    gain = saved(*equally_good(folds, np.random.default_rng(1)), folds, root=False)
    assert gain.windows == 4


def test_what_is_saved_of_every_window_alike_is_sure():
    folds = folds_of(3, H)
    untuned = pd.Series([1.0, 2.0, 3.0], index=folds.cutoffs)
    gain = saved(0.81 * untuned, untuned, folds, root=True)
    assert (gain.value, gain.low, gain.high) == pytest.approx((0.1, 0.1, 0.1))


def test_a_perfect_candidate_is_not_divided_by():
    folds = folds_of(3, H)
    untuned = pd.Series([1.0, 2.0, 3.0], index=folds.cutoffs)
    assert "loses nothing" in saved(0.0 * untuned, untuned, folds, root=True).reason


def test_cutoffs_that_one_lacks_are_left_out():
    folds = folds_of(3, H)
    untuned = pd.Series([1.0, 2.0, 3.0], index=folds.cutoffs)
    assert saved(untuned.iloc[1:], untuned, folds, root=False).windows == 2


def test_one_window_proves_nothing():
    folds = folds_of(1, H)
    one = pd.Series([1.0], index=folds.cutoffs)
    gain = saved(0.5 * one, one, folds, root=False)
    assert gain.value == 0.5
    assert "two windows that do not overlap" in gain.reason
    assert not gain.low > 0
