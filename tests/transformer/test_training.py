import numpy as np
import pytest
import torch

from fints.errors import SeriesError, TrainingError
from fints.forecast import QUANTILES
from fints.series.windows import Tape
from fints.transformer.losses import pinball_loss
from fints.transformer.training import Split, TrainingTask, WindowDataset, train
from tests.transformer.conftest import BRIEF, small_model


@pytest.fixture(scope="module")
def tape(daily_panel):
    return Tape.from_panel(daily_panel, (), ())


def test_validation_targets_lie_after_every_training_target(tape):
    split = Split.by_time(tape, 30, 5, 0.2)
    last_trained = tape.ds[split.train + 5].max()
    first_looked_at = tape.ds[split.validation + 1].min()
    assert last_trained < first_looked_at
    assert 0.1 < len(split.validation) / (len(split.train) + len(split.validation)) < 0.3


def test_one_date_divides_series_that_end_on_different_days(daily_panel):
    early = daily_panel[(daily_panel["unique_id"] != "BBB") | (daily_panel["ds"] < "2016-06-01")]
    tape = Tape.from_panel(early.reset_index(drop=True), (), ())
    split = Split.by_time(tape, 30, 5, 0.2)
    assert tape.ds[split.train + 5].max() < tape.ds[split.validation + 1].min()


def test_a_panel_without_room_for_validation_is_refused(daily_panel):
    short = daily_panel.groupby("unique_id").head(36).reset_index(drop=True)
    with pytest.raises(SeriesError, match="do not divide"):
        Split.by_time(Tape.from_panel(short, (), ()), 30, 5, 0.1)
    with pytest.raises(SeriesError, match="no series has the 45 bars"):
        Split.by_time(Tape.from_panel(short, (), ()), 40, 5, 0.1)


def test_training_keeps_the_best_weights_it_looked_at(tape):
    design = small_model().design
    network = design.network_for(0, 0)
    record = train(network, tape, BRIEF, window=(30, 5), seed=0)
    assert record.steps == 6
    assert [step for step, _ in record.validation] == [3, 6]
    assert record.best[1] == min(loss for _, loss in record.validation)
    assert all(torch.isfinite(p).all() for p in network.parameters())


def test_the_weights_that_are_kept_are_those_that_were_validated(tape):
    """The average is what is looked at, so the average is what has to stay, not the last step's weights."""
    config = BRIEF.model_copy(update={"max_steps": 20, "validate_every": 10, "learning_rate": 0.02})
    network = small_model().design.network_for(0, 0)
    record = train(network, tape, config, window=(30, 5), seed=0)
    origins = Split.by_time(tape, 30, 5, config.validation_share).validation
    looked_at = origins[np.linspace(0, len(origins) - 1, config.validation_windows).round().astype(int)]
    inputs, target = WindowDataset(tape, [looked_at], 30, 5)[0]
    with torch.no_grad():
        loss = pinball_loss(network(inputs), target, torch.tensor(QUANTILES))
    assert loss.item() == pytest.approx(record.best[1], rel=1e-4)


def test_training_leaves_the_random_state_of_its_caller(tape):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(small_model().design.network_for(0, 0), tape, BRIEF, window=(30, 5), seed=0)
    assert torch.equal(torch.rand(3), expected)


def test_progress_counts_the_steps(tape):
    seen = []
    train(
        small_model().design.network_for(0, 0),
        tape,
        BRIEF,
        window=(30, 5),
        seed=0,
        progress=lambda done, most: seen.append((done, most)),
    )
    assert seen == [(i, 6) for i in range(1, 7)]


def test_a_loss_that_is_no_number_stops_training(tape):
    network = small_model().design.network_for(0, 0)
    task = TrainingTask(network, BRIEF)
    with torch.no_grad():
        network.query.fill_(np.nan)
    with pytest.raises(TrainingError, match="loss of step 0"):
        train(task.network, tape, BRIEF, window=(30, 5), seed=0)
