from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.forecasters.jobs import BUDGETS, ENCODINGS, OURS, PARTS, PEERS, Job, encoding_jobs, jobs_of
from benchmarks.forecasters.judging import beside
from benchmarks.forecasters.protocol import Window, folder_from
from benchmarks.forecasters.store import Cost, Store
from fints.forecast import QUANTILES, Forecast

JOB = Job("daily", "log_volume", OURS, 0, "cycle")


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"shift": 500},
        {"encoding": "rope"},
        {"training": {"max_steps": 7}},
        {"network": {"covariates": False}},
        {"target": "log_range"},
    ],
)
def test_whatever_decides_a_result_is_in_its_name(change):
    assert replace(JOB, **change).key != JOB.key
    assert replace(JOB).key == JOB.key


def test_every_budget_compares_all_encodings_with_the_same_seeds_and_no_job_stands_twice():
    for budget in BUDGETS.values():
        jobs = encoding_jobs(budget, 0)
        kinds = [{j.encoding for j in jobs if (j.trial, j.seed, str(j.network)) == k} for k in _settings(jobs)]
        assert all(kind == set(ENCODINGS) for kind in kinds)
        keys = [job.key for job in jobs_of(PARTS, budget, PEERS, 0)]
        assert len(keys) == len(set(keys))


def _settings(jobs):
    return {(j.trial, j.seed, str(j.network)) for j in jobs}


def test_only_a_run_that_came_to_its_end_is_taken_from_the_store(tmp_path):
    store, frame = Store(tmp_path), pd.DataFrame({"yhat": [1.0]})
    assert not store.has(JOB)
    assert store.forecasts(JOB) is None
    frame.to_parquet(tmp_path / f"{JOB.key}.parquet")
    assert store.forecasts(JOB) is None
    store.keep(JOB, frame, Cost(1.0, 2.0, 3.0))
    pd.testing.assert_frame_equal(store.forecasts(JOB), frame)
    assert store.cost(JOB) == Cost(1.0, 2.0, 3.0)


def test_a_protocol_that_is_not_there_is_asked_for(tmp_path):
    with pytest.raises(SystemExit, match=r"protocol\.py, intraday\.py, predictions\.parquet.*--protocol"):
        folder_from(tmp_path)


def test_forecasts_meet_what_came_by_date_and_a_bar_that_none_foresaw_takes_the_one_before():
    days = pd.date_range("2024-01-01", periods=6)
    mean = np.arange(6.0)
    rows = pd.DataFrame({"unique_id": "A", "ds": days, "step": range(1, 7)})
    forecast = Forecast(rows, mean, np.repeat(mean[:, None], len(QUANTILES), axis=1))
    truth = pd.DataFrame({"ds": [days[0], days[2], days[2] + pd.Timedelta("5h"), days[4]], "y": 0.0})
    window = Window("A", 0, days[0] - pd.Timedelta("1D"), truth, 1.0)
    assert beside(forecast, window, "G")["yhat"].tolist() == [0, 2, 2, 4]
