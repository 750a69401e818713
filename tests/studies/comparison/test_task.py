import numpy as np
import pytest

from fints.errors import ConfigError
from fints.studies.comparison import Shape, Task
from fints.studies.sources import Sample


def test_origins_begin_at_the_last_trained_bar_and_leave_room_for_the_horizon(tiny):
    shape = tiny.shape
    origins = shape.origins(100, 100 + shape.total)
    assert origins[0] == 100 + shape.trained - 1
    assert origins[-1] + shape.horizon <= 100 + shape.total - 1
    assert set(np.diff(origins)) == {shape.stride}


@pytest.mark.parametrize("wrong", [{"horizon": 24}, {"trained": 90}, {"total": 500}, {"stride": 0}])
def test_a_shape_that_asks_for_nothing_or_holds_nothing_is_refused(wrong):
    with pytest.raises(ConfigError):
        Shape(**wrong)


def test_training_sees_the_first_bars_of_every_series():
    task = Task("s", "s", Sample(), Shape(trained=300, total=5031, input_size=60, h=20, horizon=40))
    panel = task.draw(0).panel
    seen = task.seen(panel)
    assert seen.groupby("unique_id").size().to_dict() == {"^GSPC": 300, "^IXIC": 300}
    assert (seen.groupby("unique_id")["ds"].min() == panel.groupby("unique_id")["ds"].min()).all()
