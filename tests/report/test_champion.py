import pandas as pd
import pytest

from fints.champion import Decision, Ruling, Seat
from fints.report.champion import decisions_table, in_one_line, stood_in_for

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


OTHER = Seat("Combination", "line/2019-02-05-ffffffffffff", "2019-02-05T00:00:00")


@pytest.mark.parametrize("later", ["challenge", "withdraw"])
def test_a_model_that_a_person_put_there_stays_so_whatever_is_decided_of_others_later(later):
    by_hand = decided("promote", by="hand")
    assert "since 2018-11-20, by hand;" in in_one_line(ruling(by_hand))
    assert "since 2018-11-20, by hand" in in_one_line(ruling(by_hand, decided(later, OTHER), decided("keep")))
    moved = decided("promote", by="registry")
    assert "since 2018-11-20, by hand" in in_one_line(ruling(moved, decided(later, OTHER)))


def test_a_person_who_decided_of_another_model_did_not_put_this_one_there():
    story = [decided("promote", OTHER, by="hand"), decided("promote"), decided("withdraw", OTHER, by="hand")]
    assert "confirmed" in in_one_line(ruling(*story))


def test_the_newest_time_that_a_model_was_put_there_counts():
    assert "confirmed" in in_one_line(ruling(decided("rollback", by="hand"), decided("recover")))
    assert "by hand" in in_one_line(ruling(decided("recover"), decided("rollback", by="hand")))


def test_a_fall_stays_one_while_the_fallen_is_looked_at():
    har = Seat.baseline("line")
    story = [decided("promote"), decided("fall_back", har), decided("keep"), decided("challenge", OTHER)]
    assert "standing in for a champion that fell" in in_one_line(ruling(*story, seat=har))


def test_grounds_that_lie_too_far_back_are_not_made_up():
    said = in_one_line(ruling(decided("challenge", OTHER), decided("withdraw", OTHER)))
    assert "since 2018-11-20, as decided then" in said
    assert "confirmed" not in said


def test_looks_that_changed_nothing_are_not_news():
    assert "tonight" not in in_one_line(ruling(decided("keep"), decided("wait")))


@pytest.mark.parametrize(("by", "who"), [("night", "the night"), ("registry", "a person, in the registry")])
def test_the_last_decisions_are_listed_with_their_reason_the_newest_first(by, who):
    table = decisions_table(ruling(decided("install"), decided("promote", by=by, why="it won")))
    first = [cell.text for cell in table.rows[0]]
    assert first == ["2018-11-20", "promoted", str(FIT), who, "it won"]
    assert len(table.rows) == 2


def test_what_stands_in_for_a_champion_is_not_said_to_be_decided_on():
    har = Seat.baseline("line")
    story = [decided("promote", har, by="hand"), decided("rollback", by="hand"), decided("challenge", OTHER)]
    said = in_one_line(ruling(*story, seat=har))
    assert f"standing in for {FIT}, whose files cannot be had; decided tonight: Combination on trial." in said
    assert "by hand" not in said
    assert stood_in_for(ruling(*story, seat=har)) == FIT


def test_a_model_that_is_shipped_stands_in_for_nobody():
    har = Seat.baseline("line")
    assert stood_in_for(ruling(decided("promote"))) is None
    assert stood_in_for(ruling(decided("promote"), decided("fall_back", har), decided("keep"), seat=har)) is None
    assert stood_in_for(ruling(decided("challenge", OTHER))) is None  # nothing is known of what is in use
