"""The explanation of a forecast as a user sees it."""

import re

import numpy as np
import pandas as pd
import pytest

import fints as library

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

SETTINGS = ["--set=input_size=40", "--set=h=5", "--set=periods.detect=false", "--set=periods.priors=[5,20]"]
LAST = "2002-12-31"


def bars_file(path, after):
    """Two and a half years of the S&P 500; what comes after `LAST` is multiplied by a number."""
    bars = library.sample_bars()
    own = bars[(bars["symbol"] == "^GSPC") & bars["session"].between("2000-07-03", "2003-03-31")]
    late = own["session"] > LAST
    frame = pd.DataFrame({"date": own["session"].dt.strftime("%Y-%m-%d")})
    for column in ("open", "high", "low", "close"):
        frame[column] = np.where(late, own[column] * after, own[column])
    frame["volume"] = np.where(late, own["volume"].astype(float) * after, own["volume"].astype(float)).astype(int)
    frame.to_csv(path, index=False)
    return [f"--set=source.path={path}", "--set=source.kind=files", "--set=source.symbol=^GSPC", "--set=exchange=XNYS"]


def test_a_forecast_is_divided_in_words_tables_and_figures_and_what_comes_later_changes_nothing(
    fints, home, tmp_path, monkeypatch
):
    results = []
    for number, after in enumerate((1.0, 3.0)):
        monkeypatch.setenv("FINTS_HOME", str(home.parent / f"home-{number}"))
        source = bars_file(tmp_path / f"{number}.csv", after)
        code, out, err, result = fints("explain", "^GSPC", "--as-of", LAST, *source, *SETTINGS)
        assert code == 0, err
        results.append({key: value for key, value in result.items() if key != "report"})
    assert results[0] == results[1]
    assert "why this forecast of log_volume, as of 2002-12-31" in out
    assert "was fitted as a night would, and not kept" in re.sub(r"\s+", " ", out)
    parts = [row["total"] for row in result["forecast"] if row["step"] == 1]
    assert sum(parts) == pytest.approx(result["mean"][0], abs=1e-6)
    assert {"weekly cycle", "monthly cycle"} <= {group["name"] for group in result["groups"]}
    page = home.parent / "home-1" / "reports" / "explain"
    assert "Where attention looks" in next(page.glob("*-^GSPC-log_volume-2002-12-31.html")).read_text("utf-8")


def test_the_model_that_a_night_keeps_is_the_one_that_is_explained(fints, tmp_path):
    source = [*bars_file(tmp_path / "bars.csv", 1.0), *SETTINGS, "--set=targets=log_range", "--set=dataset=kept"]
    source += ["--set=champion.enabled=false"]  # a night as brief as this one may rightly ship HAR
    code, _, err, _ = fints("nightly", "--as-of", LAST, *source)
    assert code == 0, err
    code, out, err, result = fints("explain", "^GSPC", "--target", "log_range", "--as-of", LAST, *source)
    assert code == 0, err
    assert "fit" not in err.split("explain")[0].rsplit("ingest", 1)[-1]
    (note,) = result["notes"]
    assert re.match(
        r"The night ships Combination, an average with .*: the weight of this model is \d+ % from bar 1 on\.$", note
    )
    assert "The night ships" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["NOBODY"], r"unknown symbol 'NOBODY'.*\^GSPC, \^IXIC"),
        (["^GSPC", "--target", "log_volumes"], "log_volume"),
        (["^GSPC", "--as-of", "soon"], "neither a date"),
        (["^GSPC", "--as-of", "2050-01-03"], "future|data end"),
        ([], "SYMBOL"),
    ],
)
def test_a_request_that_cannot_be_met_exits_with_2_and_names_the_offender(fints, arguments, says):
    code, _, err, _ = fints("explain", *arguments)
    assert code == 2
    assert re.search(says, err)


def test_a_series_too_short_to_forecast_has_no_explanation(fints):
    code, _, err, _ = fints("explain", "^GSPC", "--as-of", "1999-01-20")
    assert code == 1
    assert "^GSPC has no forecast of log_volume" in err
