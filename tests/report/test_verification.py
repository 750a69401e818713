import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from fints.report import nightly_table, render_nightly
from fints.verification import Alert, Scorecard, TargetVerification, Verification
from tests.report.conftest import HOSTILE, target_report


def scored(nights, live=True, names=("AAA", HOSTILE), h=20):
    """Forecasts that were scored, with errors of noise."""
    rng = np.random.default_rng(2)
    days = pd.date_range("2018-01-01", periods=nights)
    index = pd.MultiIndex.from_product([days, names, range(1, h + 1)], names=["as_of", "unique_id", "step"])
    rows = pd.DataFrame(index=index).reset_index()
    error = rng.normal(0, 0.1, len(rows))
    inside = {"cov80": (np.abs(error) < 0.128) * 1.0, "cov95": (np.abs(error) < 0.196) * 1.0}
    promised = {"p_squared": 0.01, "p_absolute": 0.08, "p_crps": 0.056, "p_cov80": 0.8, "p_cov95": 0.95}
    errors = {"error": error, "squared": error**2, "absolute": np.abs(error), "crps": np.abs(error)}
    return rows.assign(ds=rows["as_of"], stretch=0, state="scored", live=live, **errors, **inside, **promised)


def verification(rows, *alerts):
    found = TargetVerification.of(Scorecard("log_volume", rows))
    return Verification(pd.Timestamp("2018-12-31"), (found,), alerts, ("error: old",), ("<b>no</b> mail",))


@pytest.fixture(scope="module")
def alert():
    return Alert("absent", HOSTILE, f"{HOSTILE}: no forecast for 3 nights in a row.")


def page_of(found, report):
    return render_nightly(replace(report, verification=found))


def test_the_page_says_what_became_of_earlier_forecasts(report, alert):
    page = page_of(verification(scored(80), alert), report)
    assert "What became of earlier forecasts" in page
    for said in (
        "last 20",
        "last 60",
        "2 to 5 ahead",
        "in 80 % band (promised)",
        "By series",
        "Resolved: old: the error",
    ):
        assert said in page
    assert page.index("What became of earlier") < page.index('class="target"')


def test_nothing_in_it_is_markup(report, alert):
    page = page_of(verification(scored(80), alert), report)
    assert HOSTILE not in page
    assert "<b>no</b> mail" not in page
    assert "&lt;script&gt;alert" in page


def test_a_night_that_nobody_looked_back_from_has_no_section(report):
    assert "What became of earlier forecasts" not in page_of(None, report)


def test_a_first_night_says_that_nothing_has_come_due(report):
    page = page_of(verification(scored(80).head(0)), report)
    assert "no earlier forecast has come due" in page


def test_forecasts_that_were_made_afterwards_are_not_passed_off_as_live(report):
    page = page_of(verification(scored(30, live=False)), report)
    assert "No forecast that was made before its bar was over has come due" in page
    assert "No forecast that was made before its bar was over" not in page_of(verification(scored(30)), report)


def test_windows_that_are_longer_than_what_there_is_are_left_out():
    tables = {n: TargetVerification.of(Scorecard("log_volume", scored(n))).table["nights"] for n in (10, 30, 80)}
    shown = {n: [None if pd.isna(w) else int(w) for w in dict.fromkeys(found)] for n, found in tables.items()}
    assert shown[10] == [None]
    assert shown[30][:1] == [20]
    assert shown[80][:2] == [20, 60]


def test_rmse_is_taken_by_series_as_on_the_hold_out():
    rows = scored(30)
    loud = rows["unique_id"] == "AAA"
    rows["squared"] = np.where(loud, 4.0, 1.0)
    table = TargetVerification.of(Scorecard("log_volume", rows)).table
    assert table["RMSE"].to_numpy() == pytest.approx(1.5)
    assert table["RMSE_promised"].to_numpy() == pytest.approx(0.1)


def test_the_terminal_says_it_in_few_lines_and_alerts_at_the_top(alert):
    from fints.report import NightlyReport

    found = verification(scored(80), alert)
    report = NightlyReport(
        as_of=pd.Timestamp("2018-12-31"),
        created_at=pd.Timestamp("2019-01-01", tz="UTC"),
        interval="1d",
        h=3,
        targets=(target_report(names=("AAA",)),),
        verification=found,
    )
    text = io.StringIO()
    Console(file=text, width=400).print(nightly_table(report))
    top, _, rest = text.getvalue().partition("What became of earlier forecasts")
    assert top.splitlines()[1].startswith("ALERT absent")
    lines = rest.strip().splitlines()
    assert "ALERT" not in rest
    assert lines[0].startswith("Resolved: old")
    assert len([line for line in lines if line.startswith("log_volume")]) <= 3


def test_the_tables_say_that_they_are_means_over_nights(report):
    page = page_of(verification(scored(80)), report)
    assert "bands of earlier forecasts of log_volume: means over nights of each night" in page
    assert "and what was promised: MAE and CRPS are means over nights of each night" in page
