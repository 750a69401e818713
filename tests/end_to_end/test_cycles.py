"""Cycles that the settings state are the plan of every command."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

CYCLES = "periods.cycles=[{period: 7.02, clock: calendar, origin: tuned, reason: tuned on volume}, 21]"
SAID = "The cycles come from the settings (periods.cycles), 1 of them tuned; none was looked for."


def stated(cycles):
    assert [(c["period"], c["clock"], c["origin"]) for c in cycles] == [
        (21.0, "session", "prior"),
        (7.02, "calendar", "tuned"),
    ]


def test_a_night_takes_the_cycles_of_its_settings_and_its_page_says_so(fints, home, tmp_path):
    config = tmp_path / "best.yaml"
    cycles = CYCLES.removeprefix("periods.cycles=")
    plain = "targets: [log_volume]\ntracking: {enabled: false}\nh: 5\n"
    config.write_text(f"{plain}periods: {{cycles: {cycles}}}\n")
    code, _, err, result = fints("nightly", "--config", str(config))
    assert code == 0, err
    stated(result["plans"]["log_volume"])
    page = (home / "reports" / "nightly" / "sample-1d-2018-12-31.html").read_text("utf-8")
    assert SAID in page
    assert "tuned on volume" in page
    assert "Cycles found" not in page


def test_a_backtest_takes_them_and_its_page_says_so(fints, home):
    settings = ["h=5", "n_windows=2", "input_size=40", "models=[{kind: transformer, encoding: cycle}]", CYCLES]
    brief = ["network={dim: 16, n_heads: 1}", "training={max_steps: 2, batch_size: 8}", "tracking.enabled=false"]
    code, _, err, result = fints("backtest", *(f"--set={s}" for s in [*settings, *brief]), brief=False)
    assert code == 0, err
    stated(result["targets"]["log_volume"]["plan"])
    (page,) = (home / "reports" / "backtests").glob("*/index.html")
    assert SAID in page.read_text("utf-8")


def test_a_search_is_made_all_the_same_and_names_the_plan_of_the_settings(fints):
    code, out, _, result = fints("periods", "^GSPC", "--clock", "calendar", f"--set={CYCLES}", brief=False)
    assert code == 0
    assert result["lines"]
    stated(result["plan"])
    assert "the cycles of the settings" in " ".join(out.split())


def test_cycles_that_cannot_be_are_a_wrong_request(fints):
    code, _, err, _ = fints("nightly", "--set=periods.cycles=[0]")
    assert code == 2
    assert "periods.cycles.0: a cycle needs a positive period" in err
