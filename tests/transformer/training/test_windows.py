import numpy as np
import pytest
import torch

from fints.series.windows import Tape
from fints.transformer import TrainingConfig
from fints.transformer.training import TrainingWindows, batches
from fints.transformer.training.windows import spread


def test_a_batch_holds_the_bars_around_its_origins(windows):
    origins = windows.origins()[[3, 400]]
    batch = windows.batch(origins)
    for row, origin in enumerate(origins):
        y = windows.tape.values[origin - 29 : origin + 6, 0]
        scaled = (y - y[:30].mean()) / y[:30].std()
        assert np.allclose(batch.inputs.values[row, :, 0], scaled[:30], atol=1e-5)
        assert np.allclose(batch.target[row], scaled[30:], atol=1e-5)
    assert len(batch) == 2
    assert torch.equal(batch.to(torch.device("cpu")).target, batch.target)


def test_every_window_is_used_before_any_is_used_again():
    config = TrainingConfig(max_steps=5, batch_size=4)
    order = np.concatenate(batches(np.arange(100, 110), config, np.random.default_rng(0)))
    assert len(order) == 20
    assert sorted(order[:10]) == sorted(order[10:]) == list(range(100, 110))
    assert not np.array_equal(order[:10], order[10:])


@pytest.mark.parametrize("most", [1, 7, 99, 100, 1000])
def test_windows_are_spread_evenly_from_end_to_end(most):
    chosen = spread(np.arange(100), most)
    assert len(chosen) == min(most, 100)
    assert len(set(chosen)) == len(chosen)
    assert chosen[0] == 0
    if most > 1:
        assert chosen[-1] == 99
        assert np.ptp(np.diff(chosen)) <= 1


def test_a_window_is_named_by_series_and_dates(windows, daily_panel):
    second = daily_panel[daily_panel["unique_id"] == "BBB"].reset_index(drop=True)
    days = second["ds"].dt.strftime("%Y-%m-%d")
    origin = windows.tape.bounds[1] + 40
    assert windows.describe(origin) == f"BBB, context {days[11]} to {days[40]}, target to {days[45]}"


def test_a_window_says_where_its_values_are_not_finite(windows):
    tape = windows.tape
    values = tape.values.copy()
    values[[35, 38], 0] = np.nan, np.inf
    broken = Tape(tape.unique_ids, tape.bounds, tape.ds, values, tape.calendar, tape.clocks)
    text = TrainingWindows(broken, 30, 5).describe(34)
    days = [str(day)[:10] for day in tape.ds[[35, 38]]]
    assert text.endswith(f"y not finite on {days[0]}, {days[1]}")


def test_an_intraday_window_is_named_by_the_minute(windows):
    tape = windows.tape
    moved = Tape(
        tape.unique_ids, tape.bounds, tape.ds + np.timedelta64(570, "m"), tape.values, tape.calendar, tape.clocks
    )
    assert "T09:30 to " in TrainingWindows(moved, 30, 5).describe(34)
