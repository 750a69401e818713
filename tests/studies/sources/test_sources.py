import pickle

import numpy as np
import pytest

from fints.series import validate_panel
from fints.studies.sources import Cycles, Directed, Drifting, RedNoise, RegimeChange, Sample, Undirected

GENERATED = [
    Cycles((5.0, 21.0), (1.0, 0.5), sigma=0.2),
    Directed(24, 26),
    Undirected(24),
    Drifting(20.0, 0.1),
    RegimeChange(20.0, 26.0, at=50),
    RedNoise(0.9, 20.0),
]
IDS = [type(source).__name__ for source in GENERATED]
each = pytest.mark.parametrize("source", GENERATED, ids=IDS)


@each
def test_more_bars_of_a_seed_continue_fewer_and_another_seed_is_another_series(source):
    few, many, other = source.draw(60, 3), source.draw(200, 3), source.draw(60, 4)
    np.testing.assert_array_equal(few.panel["y"], many.panel["y"].head(60))
    np.testing.assert_array_equal(few.truth, many.truth[:60])
    assert not np.allclose(few.panel["y"], other.panel["y"])


@each
def test_a_series_is_a_valid_panel_and_the_same_in_another_process(source):
    drawn = pickle.loads(pickle.dumps(source)).draw(80, 0)
    assert len(validate_panel(drawn.panel)) == len(drawn.truth) == 80
    assert drawn.digest == source.draw(80, 0).digest


@each
def test_what_is_drawn_has_its_digest(source):
    assert source.draw(80, 0).digest not in {source.draw(80, 1).digest, source.draw(81, 0).digest}


def test_settings_tell_sources_apart():
    told = [str(source.settings()) for source in [*GENERATED, Sample()]]
    assert len(set(told)) == len(told)


def test_the_sample_is_real_bars_whose_content_is_in_the_settings():
    sample = Sample()
    drawn = sample.draw(10, 5)
    assert drawn.panel.groupby("unique_id").size().to_dict() == {"^GSPC": 5031, "^IXIC": 5029}
    np.testing.assert_array_equal(drawn.truth, drawn.panel["y"])
    assert sample.settings()["content"] == drawn.digest
    assert Sample("log_range").settings()["content"] != drawn.digest


@pytest.mark.parametrize(("clock", "period"), [("calendar", 7.0), ("session", pytest.approx(4.83, abs=0.01))])
def test_the_week_of_the_sample_is_seven_days_and_not_five_sessions(clock, period):
    (cycle,) = Sample().plan(clock).cycles
    assert (cycle.clock, cycle.period) == (clock, period)
