from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.backtest.pace import Pace, Standing, in_words


@settings(max_examples=50)
@given(
    seconds=st.dictionaries(st.sampled_from("abc"), st.floats(0.1, 1e4), min_size=1),
    jobs=st.integers(2, 20),
    workers=st.integers(1, 4),
)
def test_equal_jobs_of_a_model_are_foretold_exactly_once_each_model_has_been_seen(
    seconds: dict[str, float], jobs: int, workers: int
) -> None:
    pace = Pace.of([name for name in seconds for _ in range(jobs)], workers)
    for name, took in seconds.items():
        pace.finish(name, took)
    left, least = pace.left()
    total = sum(took * (jobs - 1) for took in seconds.values())
    assert left == pytest.approx(max(total / workers, *seconds.values(), 0))
    assert not least


def test_nothing_is_foretold_before_a_job_has_finished_and_a_bound_until_every_model_has() -> None:
    pace = Pace.of(["slow", "fast", "fast"])
    assert pace.left() == (None, True)
    pace.finish("fast", 2.0)
    assert pace.left() == (4.0, True)
    pace.finish("slow", 50.0)
    assert pace.left() == (2.0, False)
    pace.finish("fast", None)
    assert pace.left() == (0.0, False)


def test_a_failed_job_says_nothing_of_the_time_that_others_take() -> None:
    pace = Pace.of(["a", "a", "a"])
    pace.finish("a", None)
    assert pace.left() == (None, True)


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing(1, 3, seconds=59.4), "about 59 s left"),
        (Standing(1, 3, seconds=0.2), "about 1 s left"),
        (Standing(1, 3, seconds=240.0, least=True), "at least 4 min left"),
        (Standing(1, 3, seconds=9000.0), "about 2.5 h left"),
        (Standing(0, 3), ""),
        (Standing(3, 3, seconds=0.0), ""),
    ],
)
def test_a_standing_is_said_as_roughly_as_it_is_known(standing: Standing, said: str) -> None:
    assert str(standing) == said


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_words_never_contradict_the_order_of_seconds(a: float, b: float) -> None:
    unit = {"s": 1, "min": 60, "h": 3600}
    value = [float(w.split()[0]) * unit[w.split()[1]] for w in (in_words(min(a, b)), in_words(max(a, b)))]
    assert value[0] <= value[1]
