import pytest

from fints.studies.unknown_period.tellings import DETECTED, KNOWN, WRONG
from fints.studies.unknown_period.week import CYCLE, NONE, ROPE, WeekArm
from fints.studies.unknown_period.week_chapter import week_chapter
from fints.studies.unknown_period.week_verdicts import week_remarks, week_verdict


def test_a_week_that_does_not_matter_is_told_so(make_week_board):
    sentence = week_verdict(make_week_board())
    assert "wrong by up to 10 %" in sentence
    assert "for none of them more than chance, over 24 windows" in sentence


def test_wrong_weeks_that_cost_are_named(make_week_board):
    sentence = week_verdict(make_week_board(cycle=lambda off: 1 + (0.5 if abs(off) > 0.04 else 0.0)))
    assert "to 1.50" in sentence
    assert "more than chance for −10 %, −5 %, +5 %, +10 %" in sentence


def test_references_are_judged_and_the_size_of_the_week_is_set_beside_the_error(make_week_board):
    text = " ".join(week_remarks(make_week_board(none=lambda _: 1.2)))
    assert "none has 1.200 times" in text
    assert "rope has 1.000 times (1.000 to 1.000) the error of cycle with the week known, not distinguishable" in text
    assert "a standard deviation of 0.050 in log volume" in text
    assert "that knew all of it and lost it would have a 3.0 % larger error" in text


def test_the_chapter_has_a_row_for_every_arm_and_a_line_for_every_encoding(make_week_board):
    board = make_week_board()
    chapter = week_chapter(board, 4)
    (table,), (chart,) = chapter.tables, chapter.charts
    assert len(table.frame) == len(board.squared)
    assert [line.name for line in chart.lines] == [CYCLE, ROPE, NONE]
    assert chart.lines[0].x.tolist() == pytest.approx([7 * (1 + t.off) for t in (*WRONG[:4], KNOWN, *WRONG[4:])])
    assert "Diebold–Mariano" in chapter.text


@pytest.mark.parametrize(("seeds", "windows"), [(1, 12), (2, 3)])
def test_few_seeds_and_few_windows_are_no_reason_to_fail(make_week_board, seeds, windows):
    arms = (
        WeekArm(CYCLE),
        WeekArm(CYCLE, DETECTED),
        *(WeekArm(CYCLE, telling) for telling in WRONG[3:5]),
        WeekArm(ROPE),
        WeekArm(NONE),
    )
    board = make_week_board(seeds=seeds, windows=windows, arms=arms)
    text = " ".join([week_verdict(board), *week_remarks(board), week_chapter(board, seeds).text])
    assert "nan" not in text
