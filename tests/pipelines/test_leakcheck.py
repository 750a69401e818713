"""No model of a backtest knows its future, whatever its options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fints.backtest.leakage import check_leakage
from fints.bars.sources.sample import sample_bars
from fints.baselines.registry import BASELINES
from fints.encodings import ENCODINGS
from fints.errors import FintsError
from fints.plan import FrequencyPlan
from fints.settings import BacktestSettings
from pipelines.asof import AsOf
from pipelines.leakcheck import keeps_versions, recipe, shortened
from pipelines.roster import make_models

SMALL = {
    "h": 3,
    "input_size": 24,
    "step_size": 3,
    "n_windows": 1,
    "network": {"dim": 16, "n_heads": 1, "n_layers": 1},
    "training": {"max_steps": 2, "batch_size": 8, "validate_every": 1, "validation_windows": 8},
    "periods": {"detect": False},
}


@pytest.fixture(scope="module")
def bars():
    whole = sample_bars()
    return whole.groupby("symbol").tail(200).reset_index(drop=True)


def check(bars, target="log_volume", **settings):
    chosen = BacktestSettings.model_validate({**SMALL, **settings})
    last = bars["session"].max()
    return check_leakage(bars, recipe(target, chosen, AsOf(last, last)))


def transformer(name, encoding="cycle", **options):
    return {"kind": "transformer", "name": name, "encoding": encoding, **options}


@pytest.mark.filterwarnings("ignore")  # statsmodels and arch warn of short series
def test_no_baseline_knows_its_future():
    names = [name for name in BASELINES if name != "seasonal_naive_bar"]  # that one is for intraday bars
    longer = sample_bars(["^GSPC"]).tail(330).reset_index(drop=True)
    report = check(longer, "log_range", models=names)
    assert report.sentences() == []
    assert len(report.compared) == len(names)


def test_no_encoding_knows_its_future(bars):
    report = check(bars, models=[transformer(key, key) for key in ENCODINGS])
    assert report.sentences() == []
    assert set(report.compared) == set(ENCODINGS)


@pytest.mark.parametrize("refit", [False, True])
def test_no_option_of_the_network_knows_its_future(refit, bars):
    report = check(
        bars,
        models=[
            transformer("from scratch", network={"linear_skip": False}),
            transformer("cross-asset", network={"cross_asset": True}),
            transformer("bare", "rope", network={"covariates": False, "companions": False}),
            transformer("hstu", network={"block": "hstu"}),
            transformer("ensemble", training={"members": 2}),
            "har",
        ],
        n_windows=2,
        refit=refit,
    )
    assert report.sentences() == []


@pytest.mark.parametrize("target", ["log_return", "abs_return"])
def test_no_target_knows_its_future(target, bars):
    assert check(bars, target, models=["har_calendar", "ewma", "naive"], n_windows=2, embargo=2).tight


def test_detected_cycles_come_from_before_the_windows(bars):
    report = check(bars, models=[transformer("cycle"), "naive"], periods={"detect": True}, n_windows=2)
    assert report.sentences() == []


def test_a_plan_from_the_whole_panel_is_caught(bars):
    settings = BacktestSettings.model_validate({**SMALL, "models": [transformer("cycle"), "naive"]})
    last = bars["session"].max()

    def models(panel, _folds):
        return make_models(settings, FrequencyPlan.from_periods([3 + panel["y"].std()]))

    leaky = replace(recipe("log_volume", settings, AsOf(last, last)), models=models)
    report = check_leakage(bars, leaky)
    assert report.of("cycle")[0].stage == "plan"
    assert {leak.model for leak in report.leaks} == {"cycle"}


def test_restated_bars_leave_the_earlier_version_as_it_was(bars):
    assert keeps_versions(bars)


def test_only_the_windows_and_the_training_are_cut_short():
    settings = BacktestSettings.model_validate(
        {"h": 20, "n_windows": 25, "refit": 5, "models": [transformer("long", training={"max_steps": 900}), "har"]}
    )
    short = shortened(settings)
    assert (short.windows, short.refit, short.h) == (2, True, 20)
    assert short.training_of(short.models[0]).max_steps == 4
    assert short.network_of(short.models[0]) == settings.network_of(settings.models[0])


def test_series_that_are_too_short_are_named(bars):
    with pytest.raises(FintsError, match="GSPC"):
        check(bars, models=["naive"], n_windows=400)
