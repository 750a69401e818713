import io

import pytest
from rich.console import Console

from pipelines import progress
from pipelines.progress import stages


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress, "monotonic", made)
    return made


def lines(clock, seconds, total):
    """What a stage says without a terminal if each unit takes so long."""
    out = io.StringIO()
    with stages(Console(file=out, width=80)) as shown, shown.stage("work") as stage:
        for done in range(1, total + 1):
            clock.now += seconds
            stage(done, total)
    return out.getvalue().splitlines()


def test_a_long_stage_says_each_tenth_where_there_is_no_terminal(clock):
    assert lines(clock, 60.0, 30) == ["work …", *(f"work: {done} of 30" for done in range(3, 31, 3))]


def test_a_short_stage_says_its_name_only(clock):
    assert lines(clock, 0.01, 100) == ["work …"]


def test_lines_do_not_follow_in_quick_succession(clock):
    assert lines(clock, 4.0, 10) == ["work …", *(f"work: {done} of 10" for done in (3, 6, 9))]
