from __future__ import annotations

import numpy as np
import pytest

from fints.backtest.skill import skill


def losses(windows: int, seed: int, better: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses of a model and of a baseline with a part in common; the model's expected loss is so many times smaller."""
    rng = np.random.default_rng(seed)
    shared = rng.chisquare(4, size=windows)
    return better * (shared + rng.chisquare(2, size=windows)), shared + rng.chisquare(2, size=windows)


@pytest.mark.parametrize("root", [False, True])
def test_the_skill_is_the_share_of_the_loss_that_is_saved(root: bool) -> None:
    loss, baseline = losses(25, 1, 0.8)
    ratio = loss.mean() / baseline.mean()
    found = skill(loss, baseline, lag=1, root=root)
    assert found.value == pytest.approx(1 - (np.sqrt(ratio) if root else ratio))
    assert found.low < found.value < found.high
    assert str(found).startswith(f"skill {100 * found.value:.1f} % (")


def test_a_model_that_always_loses_half_has_a_skill_that_is_sure() -> None:
    _, baseline = losses(25, 1, 1.0)
    found = skill(baseline / 2, baseline, lag=1)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))


def test_exchanging_the_models_turns_the_skill_in_root_mean_squares() -> None:
    loss, baseline = losses(25, 2, 0.7)
    one, other = skill(loss, baseline, lag=1, root=True), skill(baseline, loss, lag=1, root=True)
    assert 1 - one.value == pytest.approx(1 / (1 - other.value))
    assert 1 - one.low == pytest.approx(1 / (1 - other.high))


@pytest.mark.parametrize("windows", [8, 25])
@pytest.mark.parametrize("root", [False, True])
def test_intervals_hold_the_true_skill_as_often_as_they_say_and_miss_it_as_often_on_either_side(
    windows: int, root: bool
) -> None:
    found = [skill(*losses(windows, seed, 0.9), lag=0, root=root) for seed in range(1000)]
    true = 1 - 0.9 ** (0.5 if root else 1)
    assert 0.87 <= np.mean([one.low <= true <= one.high for one in found]) <= 0.93
    for missed in ([one.low > true for one in found], [one.high < true for one in found]):
        assert 0.03 <= np.mean(missed) <= 0.08


def test_intervals_agree_with_those_of_the_bootstrap_where_windows_are_many() -> None:
    from arch.bootstrap import IIDBootstrap

    loss, baseline = losses(400, 3, 0.8)
    found = skill(loss, baseline, lag=0, root=True)
    drawn = IIDBootstrap(loss, baseline, seed=0)
    ends = drawn.conf_int(
        lambda a, b: np.array([1 - np.sqrt(a.mean() / b.mean())]), 2000, method="percentile", size=0.9
    )
    assert (found.low, found.high) == pytest.approx(ends.ravel(), abs=0.05 * (found.high - found.low))


def test_columns_count_the_same_and_a_window_that_one_lacks_is_no_gap_for_the_others() -> None:
    loss, baseline = losses(25, 4, 0.8)
    twice = skill(np.stack([loss, loss], 1), np.stack([baseline, baseline], 1), lag=1, root=True)
    once = skill(loss, baseline, lag=1, root=True)
    assert (twice.value, twice.low, twice.high) == pytest.approx((once.value, once.low, once.high))
    nothing = np.full(25, np.nan)
    kept = skill(np.stack([loss, nothing], 1), np.stack([baseline, nothing], 1), lag=1, root=True)
    assert (kept.value, kept.low, kept.high) == pytest.approx((once.value, once.low, once.high))


def test_too_few_windows_give_no_interval_and_say_so() -> None:
    found = skill(*losses(7, 1, 0.8), lag=1)
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()
    assert "7 windows are too few" in str(found)


def test_a_model_that_loses_nothing_saves_all_and_has_no_interval() -> None:
    found = skill(np.zeros(20), np.ones(20), lag=1)
    assert found.value == 1
    assert found.reason == "the model loses nothing"


def test_there_is_no_skill_over_a_baseline_that_loses_nothing() -> None:
    found = skill(np.ones(20), np.zeros(20), lag=1)
    assert np.isnan(found.value)
    assert found.reason == "the baseline loses nothing"
