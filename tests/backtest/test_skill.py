from __future__ import annotations

import numpy as np
import pytest

from fints.backtest import skill as module
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


def test_intervals_hold_the_true_skill_about_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPETITIONS", 100)
    found = [skill(*losses(25, seed, 0.9), lag=1) for seed in range(80)]
    assert 0.78 <= np.mean([one.low <= 0.1 <= one.high for one in found]) <= 0.99


def test_too_few_windows_give_no_interval_and_say_so() -> None:
    found = skill(*losses(14, 1, 0.8), lag=1)
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()
    assert "14 windows are too few" in str(found)


def test_there_is_no_skill_over_a_baseline_that_loses_nothing() -> None:
    found = skill(np.ones(20), np.zeros(20), lag=1)
    assert np.isnan(found.value)
    assert found.reason == "the baseline loses nothing"
