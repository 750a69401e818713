"""No forecaster that is made of others, or that plans for itself, knows its future; nor does any rhythm of fitting."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fints.backtest import make_folds
from fints.backtest.leakage import Recipe, check_leakage
from fints.bars.sources.sample import sample_bars
from fints.baselines import EWMA, HAR, Naive
from fints.combination import Combination, ConformalForecaster, Tail
from fints.encodings import encoding_config, fit_plan
from fints.series import make_panel
from fints.settings import BacktestSettings
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
from pipelines.model import detected_plan

pytestmark = pytest.mark.filterwarnings("ignore:a band of")  # the tail is short, so that the tests are

H = 3
TAIL = Tail(origins=4)
MEMBERS = [HAR(H), EWMA(H)]
NETWORK = NetworkConfig(dim=16, n_heads=1, n_layers=1)
TRAINING = TrainingConfig(max_steps=2, batch_size=8, validate_every=1, validation_windows=8)


@pytest.fixture(scope="module")
def panel():
    bars = sample_bars().groupby("symbol").tail(150)
    return make_panel(bars, "log_volume", known_at=bars["session"].max())


def checked(panel, *models, refit=True, windows=2):
    def folds(rows):
        return make_folds(rows, H, windows, H, embargo=1)

    return check_leakage(panel, Recipe(lambda _panel, _folds: models, folds, refit=refit))


def transformer(**options):
    return CycleTransformer(H, 24, "cycle").with_settings(NETWORK.model_copy(update=options), TRAINING)


class PlansForItself:
    """A transformer whose cycles are looked for in the rows that it is fitted on, each time anew."""

    name, h = "PlansForItself", H

    def fit(self, panel):
        _, plan = detected_plan(panel, BacktestSettings().periods)
        made = CycleTransformer(H, 24, "cycle", fit_plan(plan, encoding_config("cycle"), 16))
        self.model = made.with_settings(NETWORK, TRAINING).fit(panel)
        return self

    def forecast(self, panel=None, *, at=None, known_at=None):
        return self.model.forecast(panel, at=at, known_at=known_at)


@pytest.mark.parametrize(
    ("refit", "models"),
    [
        (False, [Combination(MEMBERS, tail=TAIL), ConformalForecaster(Naive(H), tail=TAIL)]),
        (
            True,
            [
                Combination(MEMBERS, tail=TAIL, refit=False, calibrate=True),
                ConformalForecaster(Naive(H), tail=TAIL, adaptive=False),
            ],
        ),
    ],
    ids=["fitted once", "fitted anew"],
)
def test_no_combination_and_no_conformal_band_knows_its_future(refit, models, panel):
    report = checked(panel, *models, refit=refit)
    assert report.sentences() == []
    assert set(report.compared) == {"Combination", "Naive-conformal"}


@pytest.mark.parametrize("refit", [2, lambda window, _: window == 1], ids=["every second", "a function"])
def test_no_rhythm_of_fitting_lets_the_future_in(refit, panel):
    report = checked(panel, HAR(H), transformer().named("plain"), refit=refit, windows=3)
    assert report.sentences() == []


def test_a_plan_that_is_detected_at_every_fit_knows_no_future(panel):
    report = checked(panel, PlansForItself())
    assert report.sentences() == []
    assert len(report.compared) == 1


def test_conformal_bands_that_are_calibrated_beyond_the_cutoff_are_caught(panel):
    class Peeking(ConformalForecaster):
        bands_of_all = None

        def fit(self, rows, progress=None):
            super().fit(rows, progress)
            self.fitted = replace(self.fitted, bands=self.bands_of_all)
            return self

    def models(rows, _folds):
        Peeking.bands_of_all = ConformalForecaster(Naive(H), tail=TAIL, adaptive=False).fit(rows).bands
        return [Peeking(Naive(H), tail=TAIL, adaptive=False)]

    report = check_leakage(panel, Recipe(models, lambda rows: make_folds(rows, H, 2, H)))
    assert report.of("Naive-conformal")[0].stage == "conformal"
