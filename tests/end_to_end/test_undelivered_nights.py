"""Earlier nights that lack a symbol that the source did not deliver: what their reports say, and how they end."""

import json

import pytest

from tests.end_to_end.market import ledger, told

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def broken(market, symbol="BBB"):
    """Put a file into the place of a symbol's that is no table of bars."""
    (market.folder / f"{symbol}.csv").write_text("date,open\n2025-03-11,7\n")


def nights(result):
    """Return day, exit code and undelivered symbols of every night of a run."""
    return [(one["night"][:10], one["exit_code"], sorted(one["failed"])) for one in result["nights"]]


def stored_failures(home, day):
    return json.loads((home / "reports" / "nightly" / f"market-1d-{day}.json").read_text())["failed"]


def test_nights_that_are_caught_up_name_what_was_not_delivered_and_end_so(night, market, home, after, monkeypatch):
    """Friday and Monday are missed; on Tuesday BBB, whose bars end on Thursday, is not delivered."""
    after("thursday")
    market.deliver("2025-03-11")
    broken(market)
    market.it_is("2025-03-11 22:00")
    pages = {}
    monkeypatch.setattr(
        "pipelines.publish.render_nightly", lambda report: pages.setdefault(f"{report.as_of:%Y-%m-%d}", report) and ""
    )
    code, said, result = night()
    assert code == 3, said
    assert nights(result) == [(day, 3, ["BBB"]) for day in ("2025-03-07", "2025-03-10", "2025-03-11")]
    done = {entry.night[:10]: entry.exit_code for entry in ledger(home) if entry.state == "done"}
    assert done == {"2025-03-06": 0, "2025-03-07": 3, "2025-03-10": 3, "2025-03-11": 3}
    for day, report in pages.items():
        assert list(report.failed) == ["BBB"], day
        assert stored_failures(home, day) == report.failed
    words = " ".join(said.split())
    assert "Night as of Fri 2025-03-07 21:15 UTC: done: caught up, because it was missed. Not delivered: BBB:" in words


def test_a_night_tried_again_does_not_lack_a_symbol_whose_bars_came_before_it_failed(
    night, market, home, monkeypatch, after
):
    """Friday's bars were delivered on Friday, when the night failed; on Monday BBB is not delivered."""
    from fints.errors import ModelError

    def fails(*_arguments):
        raise ModelError("a process was killed")

    after("thursday")
    market.deliver("2025-03-07")
    market.it_is("2025-03-07 22:00")
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.night_run.forecast_targets", fails)
        assert night()[0] == 1
    market.deliver("2025-03-10")
    broken(market)
    market.it_is("2025-03-10 22:00")
    code, said, result = night()
    assert code == 3, said
    assert nights(result) == [("2025-03-07", 0, []), ("2025-03-10", 3, ["BBB"])]


def test_a_night_made_again_lacks_what_it_lacked_but_for_what_has_come(night, market, home, after):
    """AAA's bar of Friday comes on Tuesday; BBB is not delivered on Monday and Tuesday, and is on Wednesday."""
    after("thursday")
    gap = (("AAA", "2025-03-07"),)
    market.deliver("2025-03-07", gap)
    market.it_is("2025-03-07 22:00")
    assert night()[0] == 0
    market.deliver("2025-03-10", gap)
    broken(market)
    market.it_is("2025-03-10 22:00")
    assert nights(night()[2]) == [("2025-03-10", 3, ["BBB"])]
    first = stored_failures(home, "2025-03-10")
    market.deliver("2025-03-11")
    (market.folder / "BBB.csv").write_text("no table at all")
    market.it_is("2025-03-11 22:00")
    code, said, result = night()
    assert code == 3, said
    assert [one["remade"] for one in result["nights"]] == [["AAA"], ["AAA"], []]
    assert nights(result) == [("2025-03-07", 0, []), ("2025-03-10", 3, ["BBB"]), ("2025-03-11", 3, ["BBB"])]
    assert stored_failures(home, "2025-03-10") == first  # the cause of that night
    assert stored_failures(home, "2025-03-11") != first
    market.deliver("2025-03-12")
    market.it_is("2025-03-12 22:00")
    code, said, result = night()
    assert code == 0, said
    assert nights(result) == [("2025-03-10", 0, []), ("2025-03-11", 0, []), ("2025-03-12", 0, [])]
    assert {state for _, state in told(result)} == {"done"}


def test_a_symbol_whose_file_goes_away_is_named_though_no_settings_name_it(night, market, home, after):
    """On Friday the file of BBB, which was forecast on Thursday, is not there; later the settings leave it out."""
    after("thursday")
    market.deliver("2025-03-07")
    (market.folder / "BBB.csv").unlink()
    market.it_is("2025-03-07 22:00")
    code, said, result = night("--set=symbols=null")
    assert nights(result) == [("2025-03-07", 3, ["BBB"])]
    assert code == 3, said
    assert "name the others under `symbols`" in result["failed"]["BBB"]
    assert {row["unique_id"] for row in result["forecasts"]} == {"AAA", "BBB"}
    market.deliver("2025-03-10")
    (market.folder / "BBB.csv").unlink()
    market.it_is("2025-03-10 22:00")
    assert nights(night("--set=symbols=null")[2]) == [("2025-03-10", 3, ["BBB"])]  # once is not enough
    code, said, result = night("--set=symbols=[AAA]")
    assert (code, result["failed"]) == (0, {}), said
    code, said, result = night("--set=symbols=null")
    assert (code, result["failed"]) == (0, {}), said  # it was taken out
    assert ledger(home)[-1].symbols == ("AAA",)
