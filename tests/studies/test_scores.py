import numpy as np
import pytest

from fints.studies.planted import PlantedCycles
from fints.studies.scores import by_seed, score

TASK = PlantedCycles("x", "X", (6.0,), (1.0,), sigma=0.2)


def test_the_error_of_a_seed_is_the_root_of_the_mean_square_over_the_steps_asked_for():
    errors = np.array([[3.0, 4.0, 100.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(by_seed(errors, slice(2)), [np.sqrt(12.5), 0.0])


def test_a_score_holds_the_errors_of_every_seed_against_the_signal_and_against_what_came(small):
    signal = TASK.clean(small.total)
    seeds = {
        seed: {"beyond": signal[small.trained :] + seed, "inside": signal[small.input_size : small.trained] - seed}
        for seed in (3, 1)
    }
    scored = score("an arm", TASK, seeds, small)
    np.testing.assert_allclose(scored.beyond, np.array([[3.0], [1.0]]) * np.ones((1, small.beyond)))
    np.testing.assert_allclose(scored.inside.mean(axis=1), [-3.0, -1.0])
    for row, seed in zip(scored.observed, seeds, strict=True):
        np.testing.assert_allclose(
            row, signal[small.trained :] + seed - TASK.observed(small.total, seed)[small.trained :]
        )
    assert scored.rmse.mean == pytest.approx(2.0)
    np.testing.assert_allclose(scored.by_step, np.sqrt(5.0))


def test_errors_are_compared_seed_by_seed(small):
    signal = TASK.clean(small.total)
    beyond, inside = signal[small.trained :], signal[small.input_size : small.trained]

    def three_seeds(off):
        return {seed: {"beyond": beyond + off * 10.0**seed, "inside": inside} for seed in range(3)}

    times = score("x", TASK, three_seeds(3.0), small).times(score("y", TASK, three_seeds(1.0), small))
    assert (times.mean, times.low, times.high) == pytest.approx((3.0, 3.0, 3.0))
    assert times.n == 3
