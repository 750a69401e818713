import numpy as np
import pytest
import torch
from torch import nn

from fints.errors import TrainingError
from fints.forecast import QUANTILES
from fints.series.windows import Tape
from fints.transformer.training import Learner, Split, TrainingWindows, train
from tests.transformer.conftest import BRIEF, small_model


def with_value(windows, row, value):
    tape, values = windows.tape, windows.tape.values.copy()
    values[row, 0] = value
    return TrainingWindows(Tape(tape.unique_ids, tape.bounds, tape.ds, values, tape.calendar, tape.clocks), 30, 5)


class Sharp(nn.Module):
    """A network whose gradient is infinite where the last value of a context is exactly zero."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        at_zero = (x.values[:, -1, 0] * self.weight).abs().sqrt()
        return at_zero[:, None, None].expand(-1, x.future_calendar.shape[1], len(QUANTILES))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_loss_that_is_no_number_names_step_series_dates_and_bar(windows, network, value):
    row = int(windows.tape.bounds[1]) + 60
    broken = with_value(windows, row, value)
    batch = broken.batch(np.array([40, 50, row - 2, row + 10, row + 100]))
    with pytest.raises(TrainingError) as caught:
        Learner(network, BRIEF).step(batch)
    said = str(caught.value)
    assert said.startswith("the loss of step 0 is not a number; at fault are 2 of the 5 windows")
    for origin in (row - 2, row + 10):
        assert broken.describe(origin) in said
    assert str(windows.tape.ds[row])[:10] in said
    assert "AAA" not in said
    assert "mend or leave out those bars" in said


def test_a_gradient_that_is_no_number_names_the_window_that_makes_it(windows):
    learner = Learner(Sharp(), BRIEF)
    batch = windows.batch(np.array([40, 50, 600]))
    batch.inputs.values[1, -1, 0] = 0.0
    source = batch.source

    class Zeroed:
        """Cuts what was changed above again."""

        describe = staticmethod(source.describe)

        def batch(self, origins):
            again = source.batch(origins)
            again.inputs.values[origins == 50, -1, 0] = 0.0
            return again

    object.__setattr__(batch, "source", Zeroed())
    with pytest.raises(TrainingError) as caught:
        learner.step(batch)
    said = str(caught.value)
    assert "the gradient of step 0 is not a number; at fault are 1 of the 3 windows" in said
    assert source.describe(50) in said
    assert f"lower learning_rate ({BRIEF.learning_rate:g}) or clip (1)" in said


def test_a_batch_is_named_where_no_window_alone_is_at_fault(windows, network, monkeypatch):
    learner = Learner(network, BRIEF)
    monkeypatch.setattr("fints.transformer.training.learner.clip_grad_norm_", lambda *_: torch.tensor(torch.inf))
    with pytest.raises(TrainingError) as caught:
        learner.step(windows.batch(np.array([40, 600])))
    assert "the gradient of step 0 is not a number, though that of each window" in str(caught.value)
    for origin in (40, 600):
        assert windows.describe(origin) in str(caught.value)


def test_weights_that_ran_away_are_told_from_broken_bars(windows, network):
    with torch.no_grad():
        network.query.fill_(np.nan)
    with pytest.raises(TrainingError, match=r"the look at step 0 .* the series are finite there") as caught:
        train(network, windows, BRIEF, seed=0)
    assert "and 11 more" in str(caught.value) or "and 3 more" in str(caught.value)


def test_a_broken_bar_of_the_validation_tail_is_named(windows):
    row = int(Split.by_time(windows, BRIEF.validation_share).validation[0])
    broken = with_value(windows, row, np.inf)
    with pytest.raises(TrainingError, match=f"the look at step 0.*{str(windows.tape.ds[row])[:10]}"):
        train(small_model().design.network_for(0, 0), broken, BRIEF, seed=0)


def test_nothing_is_learned_from_a_batch_that_is_refused(windows, network):
    before = {name: p.clone() for name, p in network.state_dict().items()}
    with pytest.raises(TrainingError):
        Learner(network, BRIEF).step(with_value(windows, 40, np.nan).batch(np.array([40, 50])))
    assert all(torch.equal(p, before[name]) for name, p in network.state_dict().items())
