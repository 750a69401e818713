import numpy as np
import pytest

from fints.errors import ConfigError
from fints.studies.comparison import BARE, HSTU, Pair, Place


def test_bands_split_the_horizon_where_training_ended(make_results, tiny):
    results = make_results({"cycle": 1.0, "rope": 2.0})
    unit = results.units["wave", "bare", "cycle"][0]
    unit["squared"] = [1.0] * tiny.shape.h + [9.0] * (tiny.shape.horizon - tiny.shape.h)
    assert results.rmse("cycle", "wave", "bare", "within") == pytest.approx([1.0])
    assert results.rmse("cycle", "wave", "bare", "beyond") == pytest.approx([3.0])
    assert results.rmse("cycle", "wave", "bare", "all") == pytest.approx([np.sqrt(5.0)])


def test_declared_pairs_are_compared_wherever_both_were_run_and_corrected_together(make_results):
    pairs = [Pair("cycle", "rope"), Pair("none", "rope", bands=("beyond",)), Pair("cycle", "absent")]
    rng = np.random.default_rng(0)
    errors = {name: 1 + 0.1 * rng.random(4) for name in ("cycle", "rope", "none")}
    results = make_results(errors, pairs, modes=(BARE, HSTU))
    assert [(c.first, c.place.mode, c.place.band) for c in results.contrasts] == [
        ("cycle", "bare", "within"),
        ("cycle", "bare", "beyond"),
        ("cycle", "hstu", "within"),
        ("cycle", "hstu", "beyond"),
        ("none", "bare", "beyond"),
        ("none", "hstu", "beyond"),
    ]
    assert all(c.p_holm >= c.p for c in results.contrasts)
    assert results.contrast("cycle", "rope", Place("wave", "bare", "beyond")) is results.contrasts[1]
    assert results.contrast("rope", "cycle", Place("wave", "bare", "beyond")).p_holm is None


def test_pairs_can_be_held_to_tasks_and_modes(make_results):
    errors = {"cycle": [1.0, 1.1], "rope": [1.2, 1.0]}
    held = make_results(errors, [Pair("cycle", "rope", modes=("hstu",))], modes=(BARE, HSTU))
    assert {c.place.mode for c in held.contrasts} == {"hstu"}
    assert make_results(errors, [Pair("cycle", "rope", tasks=("other",))]).contrasts == ()


def test_what_was_not_run_is_refused_by_name(make_results):
    with pytest.raises(ConfigError, match="'cycle' was not run on 'other'"):
        make_results({"cycle": 1.0}, []).squared("cycle", "other", "bare")


def test_seconds_are_those_of_all_units_and_extras(make_results):
    results = make_results({"cycle": [1.0, 1.0], "rope": [1.0, 1.0]}, extra=({"seconds": 1.5}, {}))
    assert results.seconds == pytest.approx(4 * 2.0 + 1.5)
