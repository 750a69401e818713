from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.forecasters.jobs import COMBINATION, ENCODINGS, INFERENCE, OURS, PARTS, PEERS, Budget, jobs_of
from benchmarks.forecasters.judging import LEVELS, QUANTILE_NAMES
from benchmarks.forecasters.page import page
from benchmarks.forecasters.store import Cost, Store

BUDGET = Budget(2, 2, {}, {"max_steps": 3}, PEERS)
SHIFT = 500  # no forecasts came with the protocol for it, so that nothing of its folder is read
NOWHERE = Path("nowhere")


def forecast_of(job) -> pd.DataFrame:
    """Forecast ten origins with an error of the job's own; `cycle` is twice as good as the others, seed by seed."""
    if job.trial == INFERENCE:
        return pd.DataFrame({"wall": [1.5], "cpu": [1.4]})
    keys = pd.MultiIndex.from_product([["A", "B"], range(10), [1, 20, 50]], names=["group", "number", "step"])
    frame = keys.to_frame(index=False).assign(y=0.0, unit=1.0)
    frame["series"] = frame["group"]
    noise = np.random.default_rng([job.seed, ENCODINGS.index(job.encoding or "none")]).standard_normal(len(frame))
    frame["yhat"] = (0.5 if job.encoding == "cycle" else 1.0) * np.sign(noise) * (1 + 0.01 * np.abs(noise))
    frame[QUANTILE_NAMES] = frame[["yhat"]].to_numpy() + np.linspace(-1, 1, len(LEVELS))
    if job.model == COMBINATION:
        frame["low95"], frame["high95"] = frame["yhat"] - 2, frame["yhat"] + 2
        frame["regime"] = np.where(frame["number"] < 5, "calm", "stormy")
    return frame


def run_all(store: Store, *, but: str = "") -> None:
    for job in jobs_of(PARTS, BUDGET, PEERS, SHIFT):
        if not but or but not in job.key:
            store.keep(job, forecast_of(job), Cost(10.0 if job.model == OURS else 20.0, 100.0, 1.0))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> str:
    store = Store(tmp_path_factory.mktemp("whole"))
    run_all(store)
    return page(store, NOWHERE, BUDGET, PARTS, SHIFT)


def test_a_page_of_everything_has_all_sections_and_nothing_that_was_not_run(whole):
    for title in (
        "Targets",
        "Daily protocol, log return",
        "Hourly protocol",
        "Encodings under one",
        "Combination",
        "What it takes",
    ):
        assert f"## {title}" in whole
    assert "not run |" not in whole
    assert "nan" not in whole
    assert "500 sessions" in whole
    assert all(f"| {peer} |" in whole for peer in PEERS)


def test_coverage_is_told_by_regime(whole):
    rows = [line for line in whole.splitlines() if line.startswith("| daily log range | ")]
    assert [row.split(" | ")[1] for row in rows if "%" not in row][-3:] == ["all", "calm", "stormy"]
    assert rows[-1].endswith("| 100.0 | 30 |")


def test_the_sentence_names_the_encoding_that_is_better_with_every_seed(whole):
    sentences = [line for line in whole.splitlines() if "etter than `rope`, seed by seed:" in line]
    assert len(sentences) == 2 * (1 + 3)  # alone and helped: daily, and three bands of hourly bars
    for sentence in sentences:
        assert "`cycle` (-5" in sentence.split(";")[0]


def test_targets_are_judged_against_what_was_run_beside_them(whole):
    rows = {line.split(" | ")[0]: line for line in whole.splitlines() if line.startswith("| ")}
    assert rows["| CPU seconds of the daily protocol, PatchTST's"].endswith("| 20 | 40 | met |")
    assert rows["| seconds to forecast 500 series × 20"].endswith("| 1.50 | 2.00 | met |")
    assert rows["| daily log volume, RMSE"].endswith("| **missed** |")


def test_what_was_not_run_is_said_and_the_rest_is_shown(tmp_path):
    run_all(Store(tmp_path), but="PatchTST")
    text = page(Store(tmp_path), NOWHERE, BUDGET, PARTS, SHIFT)
    assert "| PatchTST | not run |" in text
    assert "## Daily protocol, log volume" in text
    assert page(Store(tmp_path / "empty"), NOWHERE, BUDGET, PARTS, SHIFT).count("not run") > 10


def test_seeds_are_compared_only_where_every_encoding_was_run_with_them(tmp_path):
    run_all(Store(tmp_path), but="alibi-seed1")
    text = page(Store(tmp_path), NOWHERE, BUDGET, ["encodings"], SHIFT)
    assert "1 seed\n" in text
    assert "2 seeds" not in text
