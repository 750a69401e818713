import pandas as pd
import pytest

from fints.champion import Decision, Ruling, Seat
from fints.report.champion import decisions_table, in_one_line

FIT = Seat("Combination", "line/2018-11-05-0a1b2c3d4e5f", "2018-11-05T00:00:00")
NIGHT = pd.Timestamp("2018-11-20")


def decided(kind, seat=FIT, by="night", why="because"):
    return Decision(kind, seat, NIGHT, pd.Timestamp("2018-11-20T22:00Z"), why, by)


def ruling(*decisions, provisional=False, seat=FIT):
    return Ruling(seat.model, seat.version, NIGHT, provisional, ("why",), decisions, tuple(reversed(decisions)))


def test_a_reader_learns_in_one_line_which_model_is_in_use_and_on_what_grounds():
    assert in_one_line(ruling(decided("install"), provisional=True)) == (
        "Model in use: Combination (line/2018-11-05-0a1b2c3d4e5f) since 2018-11-20, provisionally, chosen on the "
        "hold-out alone; decided tonight: Combination installed."
    )
    assert "confirmed" in in_one_line(ruling(decided("confirm")))
    har = Seat.baseline("line")
    assert "standing in for a champion that fell" in in_one_line(ruling(decided("fall_back", har), seat=har))
    assert "by hand" in in_one_line(ruling(decided("rollback", by="hand")))


def test_looks_that_changed_nothing_are_not_news():
    assert "tonight" not in in_one_line(ruling(decided("keep"), decided("wait")))


@pytest.mark.parametrize(("by", "who"), [("night", "the night"), ("registry", "a person, in the registry")])
def test_the_last_decisions_are_listed_with_their_reason_the_newest_first(by, who):
    table = decisions_table(ruling(decided("install"), decided("promote", by=by, why="it won")))
    first = [cell.text for cell in table.rows[0]]
    assert first == ["2018-11-20", "promoted", str(FIT), who, "it won"]
    assert len(table.rows) == 2
