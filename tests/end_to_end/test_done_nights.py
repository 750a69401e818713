"""A night that is done, run again; and clocks that are wrong."""

import shutil

import pandas as pd
import pytest

from fints.champion import Decision
from pipelines.succession import Succession
from tests.end_to_end.market import ledger, stored, told

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def test_a_night_that_is_done_is_not_run_again_unless_it_is_asked_for(night, market, home, monkeypatch):
    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    first = night()[2]
    lines = len(ledger(home))
    market.it_is("2025-03-07 02:00")
    code, said, result = night()
    assert code == 0
    assert "is done" in said
    assert "--again" in said
    assert result["report"] == first["report"]
    assert result["nights"][0]["done_before"]
    left_out = {"nights", "forecasts"}
    assert {k: v for k, v in result.items() if k not in left_out} == {
        k: v for k, v in first.items() if k not in left_out
    }
    key = ["unique_id", "step"]
    both = [pd.DataFrame(found["forecasts"]).set_index(key).sort_index() for found in (first, result)]
    pd.testing.assert_frame_equal(both[0], both[1][both[0].columns], check_exact=True)
    assert len(ledger(home)) == lines
    again = night("--again")[2]
    assert again["made_at"] == "2025-03-07T02:00:00+00:00"
    assert len(ledger(home)) == lines + 2


@pytest.mark.parametrize("gone", ["page", "result", "forecasts"])
def test_a_night_is_made_again_where_something_of_it_is_gone(night, market, home, after, gone):
    after("thursday")
    market.deliver("2025-03-06")
    first = stored(home, "2025-03-06")
    page = home / "reports" / "nightly" / "market-1d-2025-03-06.html"
    if gone == "page":
        page.unlink()
    elif gone == "result":
        page.with_suffix(".json").write_text('{"half": ')
    else:
        shutil.rmtree(home / "store" / "forecasts")
    market.it_is("2025-03-06 23:00")
    code, said, result = night()
    assert code == 0, said
    assert "made again because its" in " ".join(said.split())
    assert not result["nights"][0]["done_before"]
    assert page.is_file()
    assert [row["mean"] for row in result["forecasts"]] == first["mean"].tolist()
    assert len(stored(home, "2025-03-06")) == 10


def test_a_night_is_made_again_once_a_person_has_put_another_model_in_use(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    first = stored(home, "2025-03-06")["model"].iloc[0]
    book = Succession.book_under(home / "models", ("market", "1d", "log_volume"))
    seats = [decision.seat for decision in book.read()]
    other = next(seat for seat in seats if seat.model != first)
    moment = pd.Timestamp("2025-03-06 23:00Z")
    book.append([Decision("promote", other, pd.Timestamp("2025-03-06"), moment, "A person wants it.", "hand")])
    market.it_is("2025-03-07 00:00")
    code, said, result = night()
    assert code == 0, said
    assert "a person has put another model in use since" in " ".join(said.split())
    assert {row["model"] for row in result["forecasts"]} == {other.model}
    assert night()[2]["nights"][0]["done_before"]


def test_a_clock_that_is_behind_the_bars_is_refused(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    before = ledger(home)
    market.it_is("2024-12-02 22:00")
    code, said, _ = night()
    assert code == 1
    assert "the clock is behind" in said
    assert ledger(home) == before


def test_a_clock_that_was_ahead_is_told_and_stops_nothing(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    market.it_is("2031-03-06 22:00")
    night("--set=catch_up.most=1")
    market.deliver("2025-03-10")
    market.it_is("2025-03-10 22:00")
    code, said, result = night()
    assert code == 0, said
    assert "the clock was ahead then, or it is behind now" in " ".join(said.split())
    assert [name for name, _ in told(result)] == ["2025-03-07T21:15:00+00:00", "2025-03-10T20:15:00+00:00"]


def test_two_datasets_of_the_same_symbols_keep_their_own_nights(night, market, home, after):
    """One is five sessions ahead, the other three: neither takes the place of the other, nor makes it run again."""
    after("thursday")
    market.deliver("2025-03-06")
    market.it_is("2025-03-06 23:00")
    other = ("--set=dataset=near", "--set=h=3")
    code, said, result = night(*other)
    assert code == 0, said
    assert len(result["forecasts"]) == 6
    for settings, rows in (((), 10), (other, 6)):
        again = night(*settings)[2]
        assert again["nights"][-1]["done_before"]
        assert len(again["forecasts"]) == rows
    assert stored(home, "2025-03-06").groupby("dataset").size().to_dict() == {"market": 10, "near": 6}
