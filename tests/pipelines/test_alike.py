import numpy as np

from fints.backtest import cross_validation
from fints.baselines import Naive, SeasonalNaive
from fints.settings import BacktestSettings, read_settings
from pipelines.alike import told_alike
from pipelines.named import Named
from tests.pipelines.conftest import panel

LABELS = ["A", "B", "C", "D"]


def settings(*overrides):
    entries = [f"{{kind: transformer, encoding: rope, name: {label}}}" for label in LABELS]
    return read_settings(BacktestSettings, None, [f"models=[{', '.join(entries)}]", *overrides])


class Nudged(SeasonalNaive):
    def forecast(self, *args, **options):
        said = super().forecast(*args, **options)
        return type(said)(said.frame, np.nextafter(said.mean, np.inf), said.quantiles)


def found():
    models = [Naive(5), SeasonalNaive(5), Naive(5), Nudged(5)]
    rows = panel(ONE=("XNYS", "2018-01-02", "2018-12-31"), TWO=("XNYS", "2018-01-02", "2018-12-31"))
    return cross_validation(rows, [Named(m, n) for m, n in zip(models, LABELS, strict=True)], h=5, n_windows=2)


def test_transformers_that_differ_in_no_bit_are_named_and_others_are_not():
    (said,) = told_alike(found(), settings())
    assert said.startswith("A and C forecast the same to the last bit")
    assert "linear_skip=false" in said


def test_without_a_linear_start_nothing_is_said_of_it():
    (said,) = told_alike(found(), settings("network.linear_skip=false"))
    assert said.startswith("A and C forecast the same to the last bit: training never bettered")
    assert "linear" not in said
