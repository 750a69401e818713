import numpy as np
import pytest

from fints.studies.comparison import BARE, HSTU, Results
from fints.studies.fold.study import LAWS, OFF_PHASE, ON_TIME, PAIRS, UNDIRECTED
from fints.studies.fold.verdicts import mirror_chapter, verdict

EXACT = {"law": "cosine-sym", "folded": 0.25, "apart": 0.0, "unmirrored": 0.2, "steps": 400, "seconds": 1.0}


def make(better=(), modes=(BARE,), extra=(EXACT,), spread=0.05, seeds=8):
    """Folded laws are better by half where it is said, by (task, mode); elsewhere chance decides."""
    luck, units = spread * np.random.default_rng(0).standard_normal(seeds), {}
    for task in (ON_TIME, OFF_PHASE, UNDIRECTED):
        for mode in modes:
            for arm in LAWS:
                times = 0.5 if (task.name, mode.name) in better and arm.name.endswith("fold") else 1.0
                levels = times * np.exp(luck if arm.name.endswith("fold") else luck[::-1])  # no difference on average
                units[task.name, mode.name, arm.name] = [
                    {"squared": [float(level)] * task.shape.horizon, "learned": {}, "seconds": 1.0} for level in levels
                ]
    return Results(
        budget="full",
        arms={arm.name: arm for arm in LAWS},
        tasks={task.name: task for task in (ON_TIME, OFF_PHASE, UNDIRECTED)},
        modes={mode.name: mode for mode in modes},
        units=units,
        pairs=PAIRS,
        extra=extra,
    )


def test_mirror_images_answer_and_measurement_agrees():
    answer, measured, *rest = verdict(make())
    assert not rest
    assert answer.startswith("No: averaged over first weights, folding cannot win")
    assert "the losses of 400 steps to the last bit in 1 of 1 trainings" in answer
    assert "none of 12 comparisons shows a difference (up to 8 seeds" in measured


@pytest.mark.parametrize(("spread", "open_"), [(0.002, False), (0.5, True)])
def test_what_stays_open_is_said_with_the_seeds_that_it_needs(spread, open_):
    measured = verdict(make(spread=spread))[1]
    assert ("the other 12 would need" in measured) == open_
    assert ("12 are equal within 5 %" in measured) == (not open_)


def test_wins_are_told_with_where_they_are():
    said = verdict(make(better={("directed", "bare")}))
    assert "smaller error in 4 of 12 comparisons (4 of them on directed routines) and the larger in 0" in said[1]
    assert sum("on a directed routine (echo after one period)" in sentence for sentence in said[2:]) == 4


def test_hstu_blocks_are_reported_apart():
    quiet = verdict(make(modes=(BARE, HSTU)))
    assert "on softmax attention, none of 12" in quiet[1]
    assert "on HSTU blocks" in quiet[2]
    assert "none of 12" in quiet[2]
    loud = verdict(make(modes=(BARE, HSTU), better={("undirected", "hstu")}))
    assert "none of 12" in loud[1]
    assert "(0 of them on directed routines)" in loud[2]
    assert "(hstu): lower" in loud[-1]


def test_losses_that_come_apart_refute_the_argument_and_none_decide_nothing():
    assert verdict(make(extra=({**EXACT, "apart": 0.1},)))[0].startswith("Undecided: the argument")
    assert verdict(make(extra=()))[0].startswith("Undecided")


def test_the_chapter_lists_every_mirror_image():
    (chapter,) = mirror_chapter(make(extra=(EXACT, {**EXACT, "apart": 2e-7})))
    assert list(chapter.tables[0].frame["losses apart, mirrored weights"]) == ["0 (to the last bit)", "2e-05 %"]
