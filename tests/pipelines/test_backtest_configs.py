"""The comparisons that the repository ships settings for, each run in small."""

import io
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from fints.backtest.extrapolation import BANDS
from fints.errors import ConfigError
from fints.settings import BacktestSettings, TransformerEntry, read_settings
from pipelines.backtest import run_backtest
from pipelines.home import Home
from pipelines.progress import stages

CONFIGS = Path(__file__).parents[2] / "configs"
SMALL = [
    *("h=20", "trained_h=2", "input_size=30", "n_windows=2", "step_size=10", "periods.detect=false"),
    *("workers.count=1", "network.dim=16", "network.n_layers=1", "tracking.enabled=false"),
    "training={max_steps: 2, batch_size: 8, validate_every: 1, validation_windows: 8}",
]
ENCODINGS = [
    *("none", "absolute_linear", "absolute_sinusoidal", "absolute_learned"),
    *("alibi", "xpos", "rope", "cycle", "clock", "t_rope"),
]


def read(name, *overrides):
    return read_settings(BacktestSettings, CONFIGS / f"{name}.yaml", overrides)


@pytest.mark.parametrize("name", ["extrapolation", "intraday"])
def test_the_encodings_are_those_of_the_comparison_and_nothing_else_carries_them(name):
    settings = read(name)
    transformers = [entry for entry in settings.models if isinstance(entry, TransformerEntry)]
    assert [entry.encoding.kind for entry in transformers] == ENCODINGS
    networks = [settings.network_of(entry) for entry in transformers]
    assert not any(net.linear_skip or net.covariates or net.companions or net.cross_asset for net in networks)
    assert settings.h == BANDS[-1][1] * settings.learned_h
    assert settings.step == settings.h  # windows that overlap would be too few for the tests


@pytest.mark.parametrize("name", ["backtest", "extrapolation", "intraday"])
def test_a_misspelt_key_is_refused(name, tmp_path):
    path = tmp_path / "copy.yaml"
    text = (CONFIGS / f"{name}.yaml").read_text("utf-8")
    path.write_text(text + "\nn_window: 3\n", "utf-8")
    assert "n_window" not in yaml.safe_load(text)
    with pytest.raises(ConfigError, match="did you mean 'n_windows'"):
        read_settings(BacktestSettings, path)


@pytest.mark.filterwarnings("ignore")  # statsmodels warns of short series
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("extrapolation", []),
        ("intraday", ["source.start=2018-01-02", "source.end=2018-06-29"]),
    ],
)
def test_error_is_measured_at_every_distance(name, more, tmp_path):
    settings = read(name, *SMALL, *more)
    with stages(Console(file=io.StringIO())) as shown:
        done = run_backtest(settings, Home(tmp_path), shown)
    (found,) = done.targets
    assert found.result.failures == {}
    assert found.extrapolation is not None
    bands = found.extrapolation.by_band()
    labels = [entry.label for entry in settings.models]
    assert set(bands["model"]) == set(labels)
    assert (bands.groupby("model").size() == len(BANDS)).all()
    assert (bands["RMSE"] > 0).all()
    assert found.extrapolation.slopes()["slope"].notna().all()
