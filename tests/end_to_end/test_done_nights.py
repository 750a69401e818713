"""A night that is done, run again; and clocks that are wrong."""

import shutil

import pandas as pd
import pytest

from fints.bars.forecasts import ForecastTable
from fints.bars.store import BarStore
from fints.champion import Decision
from pipelines.succession import Succession
from tests.end_to_end.market import Killed, ledger, stored, told

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


def test_a_night_is_made_again_where_its_forecasts_are_gone(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    first = stored(home, "2025-03-06")
    shutil.rmtree(home / "store" / "forecasts")
    market.it_is("2025-03-06 23:00")
    code, said, result = night()
    assert code == 0, said
    assert "made again because its forecasts are gone" in " ".join(said.split())
    assert not result["nights"][0]["done_before"]
    assert [row["mean"] for row in result["forecasts"]] == first["mean"].tolist()
    assert len(stored(home, "2025-03-06")) == 10


def test_a_book_that_is_damaged_is_named_though_the_night_is_done(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    market.it_is("2025-03-07 02:00")
    file = Succession.book_under(home / "models", ("market", "1d", "log_volume")).file
    file.write_text("[\n")
    code, said, result = night()
    said = " ".join(said.split())
    assert code == 0, said
    assert "is done, and nothing was to do" in said
    assert f"warning: {result['warnings'][-1]}" in said
    assert f"line 1 of {file} cannot be read" in said
    assert "Restore the file from a backup" in said


UNSHOWN = {
    "page gone": "its report is gone",
    "page cut short": "its report is damaged or cut short",
    "result damaged": "its stored result is gone or damaged",
}
"""What may be wrong with a report, and how that is said."""


@pytest.mark.parametrize("wrong", UNSHOWN)
def test_a_report_that_is_not_whole_is_written_again_and_the_forecasts_stay_as_they_were_made(
    night, market, home, after, monkeypatch, wrong
):
    """Two weeks later, by the instants alone, they would no longer have been made in time."""
    monkeypatch.setattr("pipelines.publish.render_nightly", lambda report: "\n".join((*report.notes, "whole")))
    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    asked = ("--as-of", "2025-03-06T21:15Z")
    before = night(*asked)[2]
    first, version = stored(home, "2025-03-06"), BarStore(home / "store").version("forecasts")
    page = home / "reports" / "nightly" / "market-1d-2025-03-06.html"
    whole = page.read_text()
    if wrong == "page gone":
        page.unlink()
    elif wrong == "page cut short":
        page.write_text(whole[:-2])
    else:
        page.with_suffix(".json").write_text('{"half": ')
    book = Succession.book_under(home / "models", ("market", "1d", "log_volume")).read()
    market.it_is("2025-03-20 23:00")
    code, said, result = night(*asked)
    assert code == 0, said
    assert UNSHOWN[wrong] in " ".join(said.split())
    assert page.read_text().endswith(
        "The report alone was written again; the forecasts stand as they were made.\nwhole"
    )
    assert result["made_at"] == before["made_at"]
    pd.testing.assert_frame_equal(stored(home, "2025-03-06"), first)
    assert BarStore(home / "store").version("forecasts") == version
    assert Succession.book_under(home / "models", ("market", "1d", "log_volume")).read() == book
    assert [row["mean"] for row in result["forecasts"]] == first["mean"].tolist()
    assert night(*asked)[2]["nights"][0]["done_before"]
    assert night(*asked, "--known-at", before["made_at"])[0] == 0  # and it can be replayed as before


PAGE = "reports/nightly/market-1d-2025-03-06.html"
THURSDAY = "2025-03-06T21:15:00+00:00"


@pytest.mark.parametrize("asked", [(), ("--as-of", THURSDAY)], ids=["tonight", "by hand"])
def test_a_night_of_the_schedule_can_be_replayed_once_its_report_was_written_again(night, market, home, after, asked):
    after("thursday")
    market.deliver("2025-03-06")
    (home / PAGE).unlink()
    before = ledger(home)[-1]
    market.it_is("2025-03-07 02:00")
    code, said, result = night(*asked)
    assert code == 0, said
    kept = ("made_at", "known_at", "asked", "stamp", "data_version", "actions_version", "forecasts_version", "remade")
    last = ledger(home)[-1]
    assert [getattr(last, name) for name in kept] == [getattr(before, name) for name in kept]
    assert last.number == before.number + 2
    assert pd.Timestamp(result["known_at"]) == pd.Timestamp(before.known_at)
    code, said, _ = night("--as-of", THURSDAY, "--known-at", result["made_at"])
    assert f"Replayed as of {THURSDAY}, known at {result['made_at']}" in " ".join(said.split())
    assert code == 0, said


@pytest.mark.parametrize("end", ["failed", "killed"])
def test_a_report_that_cannot_be_written_again_costs_no_forecast(night, market, home, after, monkeypatch, end):
    """It failed, or was killed, at two; the next evening has other bars."""
    after("thursday")
    market.deliver("2025-03-06")
    before = stored(home, "2025-03-06")
    (home / PAGE).unlink()
    market.it_is("2025-03-07 02:00")

    def full(*_arguments):
        raise OSError(28, "No space left on device") if end == "failed" else Killed

    with monkeypatch.context() as patch:
        patch.setattr("pipelines.night_run.write_page", full)
        if end == "failed":
            assert night()[0] == 1
        else:
            with pytest.raises(Killed):
                night()
    assert ledger(home)[-1].state == {"failed": "failed", "killed": "begun"}[end]
    market.deliver("2025-03-07")
    market.it_is("2025-03-07 22:00")
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [("2025-03-07T21:15:00+00:00", "done")]
    pd.testing.assert_frame_equal(stored(home, "2025-03-06"), before)


def test_a_night_that_is_made_again_leaves_what_it_said_in_time_beside_it(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    first = stored(home, "2025-03-06")
    market.it_is("2025-03-20 23:00")
    code, said, _ = night("--as-of", "2025-03-06T21:15Z", "--again")
    assert code == 0, said
    assert (stored(home, "2025-03-06")["created_at"] == pd.Timestamp("2025-03-20 23:00Z")).all()
    pd.testing.assert_frame_equal(ForecastTable.under(home / "store").read_superseded(), first)


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
