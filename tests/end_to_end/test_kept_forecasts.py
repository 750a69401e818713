"""Forecasts that a night kept when it was made again for another symbol, beside bars that were restated since."""

import numpy as np
import pandas as pd
import pytest

from tests.end_to_end.market import stored

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

MONDAY = "2025-03-10"
PAGE = f"reports/nightly/market-1d-{MONDAY}.html"


@pytest.fixture
def pages(monkeypatch):
    """Keep the report of every page that is written, by its date; to be asked for after the night."""
    kept = {}

    def render(report):
        kept[f"{report.as_of:%Y-%m-%d}"] = report
        return "\n".join(report.notes)

    def watch():
        monkeypatch.setattr("pipelines.publish.render_nightly", render)
        return kept

    return watch


def split(market, ratio=4):
    """Restate all of AAA for four shares for one, as a source does that keeps one basis."""
    path = market.folder / "AAA.csv"
    rows = pd.read_csv(path)
    prices = ["open", "high", "low", "close"]
    rows.assign(volume=rows["volume"] * ratio, **{name: rows[name] / ratio for name in prices}).to_csv(
        path, index=False
    )


def of(report, symbol):
    (target,) = report.targets
    return target.past(symbol), target.ahead(symbol)


def test_kept_forecasts_are_shown_on_the_shares_of_the_bars_beside_them_and_stored_as_they_were_made(
    night, market, home, after, pages
):
    """BBB's bar of Monday comes on Wednesday, when all of AAA is restated for a split of four for one."""
    after("late")
    before = stored(home, MONDAY)
    market.deliver("2025-03-12")
    split(market)
    market.it_is("2025-03-12 22:00")
    kept = pages()
    code, said, result = night()
    assert code == 0, said
    was, now = before[before["unique_id"] == "AAA"], stored(home, MONDAY)
    pd.testing.assert_frame_equal(now[now["unique_id"] == "AAA"], was)  # what was promised is not rewritten

    past, ahead = of(kept[MONDAY], "AAA")
    assert past["y"].iloc[-1] == pytest.approx(np.log(pd.read_csv(market.folder / "AAA.csv")["volume"].iloc[-3]))
    levels = [name for name in was.columns if name == "mean" or name.startswith("q")]
    moved = ahead[levels].to_numpy() - was[levels].to_numpy()
    assert moved == pytest.approx(np.log(4), abs=1e-4)
    told = "the kept forecasts of AAA (volume × 4) are shown on the basis of the bars beside them"
    assert kept[MONDAY].targets[0].remarks["AAA"].endswith("which were restated since: volume × 4.")
    assert result["nights"][0]["remade"] == ["BBB"]
    assert [told in page for page in (" ".join(kept[MONDAY].notes), (home / PAGE).read_text("utf-8"))] == [True, True]
    assert told not in " ".join(kept["2025-03-12"].notes)
    _, other = of(kept[MONDAY], "BBB")
    rows = now[now["unique_id"] == "BBB"]
    assert other["mean"].tolist() == rows["mean"].tolist()

    # the report alone, written again
    (home / PAGE).unlink()
    code, said, result = night("--as-of", "2025-03-10T20:15Z")
    assert code == 0, said
    _, again = of(kept[MONDAY], "AAA")
    assert again["mean"].to_numpy() == pytest.approx(ahead["mean"].to_numpy())
    assert sum(told in note for note in kept[MONDAY].notes) == 1
    assert "they would differ" not in " ".join(kept[MONDAY].notes)  # what was kept was made from other bars
    assert [row["mean"] for row in result["forecasts"] if row["unique_id"] == "AAA"] == was["mean"].tolist()


def test_kept_forecasts_of_a_symbol_that_was_taken_out_stay_stored_and_are_not_shown(night, market, home, after, pages):
    """AAA is taken out of the settings on the Wednesday on which BBB's bar of Monday comes."""
    after("late")
    before = stored(home, MONDAY)
    market.deliver("2025-03-12")
    market.it_is("2025-03-12 22:00")
    kept = pages()
    code, said, result = night("--set=symbols=[BBB]")
    assert code == 0, said
    assert [one["state"] for one in result["nights"]] == ["done"] * 3
    both = (rows[rows["unique_id"] == "AAA"] for rows in (before, stored(home, MONDAY)))
    pd.testing.assert_frame_equal(*both)
    assert kept[MONDAY].targets[0].series == ["BBB"]
    assert "Of AAA no history is at hand now" in " ".join(kept[MONDAY].notes)
