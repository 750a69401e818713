"""Cycles whose period does not stay."""

import numpy as np
import pytest

from fints.studies.sources import Drifting, RedNoise, RegimeChange


def turns(truth):
    """Upward passages of zero, interpolated."""
    up = np.flatnonzero((truth[:-1] < 0) & (truth[1:] >= 0))
    return up - truth[up] / (truth[up + 1] - truth[up])


def test_a_drifting_period_grows_by_its_share_in_a_thousand_bars():
    at = turns(Drifting(20.0, 0.1).draw(2200, 0).truth)
    periods, middles = np.diff(at), (at[1:] + at[:-1]) / 2
    np.testing.assert_allclose(periods, 20 * 1.1 ** (middles / 1000), rtol=2e-3)


def test_a_period_changes_once_and_without_a_jump():
    source = RegimeChange(20.0, 26.0, at=203)
    truth = source.draw(500, 0).truth
    at = turns(truth)
    np.testing.assert_allclose(np.diff(at[at < 203]), 20.0, rtol=5e-3)
    np.testing.assert_allclose(np.diff(at[at > 203]), 26.0, rtol=5e-3)
    assert np.abs(np.diff(truth)).max() <= 2 * np.pi / 20
    assert [cycle.period for cycle in source.plan("session")] == [20.0]


def test_red_noise_has_its_memory_its_spread_and_no_other_truth_than_itself():
    drawn = RedNoise(0.9, 20.0).draw(60_000, 0)
    y = drawn.panel["y"].to_numpy()
    assert y.std() == pytest.approx(1.0, abs=0.03)
    assert np.corrcoef(y[1:], y[:-1])[0, 1] == pytest.approx(0.9, abs=0.01)
    assert np.corrcoef(y[20:], y[:-20])[0, 1] == pytest.approx(0.9**20, abs=0.04)
    np.testing.assert_array_equal(drawn.truth, y)
