"""A past night made again from what was known then."""

import json
import shutil

import pandas as pd
import pytest

from fints.champion import Decision
from pipelines.succession import Succession
from tests.end_to_end.market import files

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def test_a_replay_gives_the_same_forecasts_bit_for_bit_whatever_came_since(night, market, home):
    """Bars restated, a late bar, another night, and the models gone."""
    market.deliver("2025-03-10", [("BBB", "2025-03-07")])
    market.it_is("2025-03-10 22:00")
    night()
    made = "2025-03-10T22:00:00+00:00"
    market.deliver("2025-03-12")
    path = market.folder / "AAA.csv"
    rows = pd.read_csv(path)
    rows.loc[100:, "volume"] += 7
    rows.to_csv(path, index=False)
    market.it_is("2025-03-12 22:00")
    assert "made again" in night()[1]
    before = files(home)
    code, said, result = night("--as-of", "2025-03-10", "--known-at", made)
    assert code == 0, said
    assert result["equal"] is True
    assert "All 10 forecasts equal those of the night of 2025-03-10T20:15:00+00:00" in said
    assert files(home) == before
    shutil.rmtree(home / "models")
    code, said, result = night("--as-of", "2025-03-10T20:15Z", "--known-at", made)
    assert (code, result["equal"]) == (0, True), said
    assert not (home / "models").exists()


def test_a_replay_fits_the_champion_again_from_rows_that_were_restated_since(night, market, home):
    """Fitted on Monday and in use since; its rows are restated; Tuesday's night uses it still; then it is gone."""
    market.deliver("2025-03-10")
    market.it_is("2025-03-10 22:00")
    night()
    book = Succession.book_under(home / "models", ("market", "1d", "log_volume"))
    (fitted, *_) = [decision.seat for decision in book.read() if not decision.seat.is_baseline]
    moment = pd.Timestamp("2025-03-10 23:00Z")
    book.append([Decision("promote", fitted, pd.Timestamp("2025-03-10"), moment, "A person wants it.", "hand")])
    market.deliver("2025-03-11")
    path = market.folder / "AAA.csv"
    rows = pd.read_csv(path)
    rows.loc[100:200, "volume"] *= 2
    rows.to_csv(path, index=False)
    market.it_is("2025-03-11 22:00")
    result = night()[2]
    assert {row["model"] for row in result["forecasts"]} == {fitted.model} != {"HAR"}
    gone = [path.parent for path in (home / "models").rglob("holdout.json")]
    assert gone
    for folder in gone:
        shutil.rmtree(folder)
    code, said, result = night("--as-of", "2025-03-11", "--known-at", "2025-03-11T22:00Z")
    assert (code, result["equal"]) == (0, True), said
    assert {row["model_version"] for row in result["forecasts"]} == {fitted.version}


def test_a_replay_that_differs_says_where_first(night, market, home, after, monkeypatch):
    after("thursday")
    market.it_is("2025-03-10 22:00")
    made = "2025-03-06T22:00:00+00:00"
    code, said, result = night("--as-of", "2025-03-06", "--known-at", made, "--set=random_seed=5", "--set=h=4")
    assert code == 1
    assert result["equal"] is False
    assert "step 5 is stored, and not made now" in said
    assert "another configuration" in said


def test_a_replay_of_a_night_that_was_never_run_says_so(night, market, home, after):
    after("thursday")
    market.it_is("2025-03-10 22:00")
    code, said, result = night("--as-of", "2025-03-05", "--known-at", "2100-01-01")
    assert code == 0, said
    assert "nothing to compare with" in said
    assert result["equal"] is None
    assert {row["ds"][:10] for row in result["forecasts"] if row["step"] == 1} == {"2025-03-06"}
    assert json.dumps(result)


def test_a_replay_that_cannot_be_exits_with_2(night, market, home, after):
    after("thursday")
    market.it_is("2025-03-10 22:00")
    for arguments, says in (
        (["--known-at", "2025-03-06T22:00Z"], "name the night by --as-of"),
        (["--as-of", "2025-03-06", "--known-at", "2025-03-04"], "lies after"),
        (["--as-of", "2025-03-03", "--known-at", "2025-03-04"], "no bar had been stored"),
        (["--as-of", "2025-03-06", "--known-at", "soon"], "neither a date nor an instant"),
    ):
        code, said, _ = night(*arguments)
        assert code == 2, said
        assert says in said
