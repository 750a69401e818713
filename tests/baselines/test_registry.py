from __future__ import annotations

import pytest
import yaml
from pydantic import BaseModel, ConfigDict

from fints.baselines import BASELINES, HAR, baseline_config
from fints.baselines.config import BaselineConfig
from fints.baselines.registry import AnyBaselineConfig
from fints.errors import ConfigError, UnknownNameError
from fints.forecast import Forecaster


class Settings(BaseModel):
    """As settings would hold them."""

    model_config = ConfigDict(extra="forbid")
    baselines: tuple[AnyBaselineConfig, ...]


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_every_name_makes_a_forecaster(name: str) -> None:
    model = baseline_config(name).build(7, level=(50,))
    assert isinstance(model, Forecaster)
    assert (model.h, model.level) == (7, (50,))


def test_all_of_them_can_stand_in_one_table() -> None:
    names = [config.build(5).name for config in BASELINES.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_settings_survive_yaml(name: str) -> None:
    text = yaml.safe_dump({"baselines": [BASELINES[name].model_dump(mode="json")]})
    assert Settings.model_validate(yaml.safe_load(text)).baselines == (BASELINES[name],)


def test_a_mapping_makes_any_other() -> None:
    config = baseline_config({"kind": "har", "calendar": True, "spans": [1, 5, 22, 126]})
    model = config.build(3)
    assert isinstance(model, HAR)
    assert (model.name, model.spans) == ("HAR-126-calendar", (1, 5, 22, 126))
    assert baseline_config(config) is config


def test_unknown_names_suggest_the_closest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown baseline 'har_calender'. Did you mean 'har_calendar'"):
        baseline_config("har_calender")
    with pytest.raises(UnknownNameError, match=r"unknown kind of baseline 'prophet'"):
        baseline_config({"kind": "prophet"})
    with pytest.raises(UnknownNameError, match=r"unknown kind of baseline 'None'"):
        baseline_config({"calendar": True})


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "har", "span": [1]},
        {"kind": "seasonal_naive", "season": 0},
        {"kind": "garch", "variance": "arch"},
        {"kind": "gradient_boosting", "held_out": 0.9},
    ],
)
def test_options_that_do_not_fit_are_named(value: dict[str, object]) -> None:
    with pytest.raises(
        ConfigError, match=f"the baseline '{value['kind']}' has options that do not fit: .*{list(value)[1]}"
    ):
        baseline_config(value)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        BASELINES["har"].ridge = 1.0  # type: ignore[attr-defined]
    assert all(isinstance(config, BaselineConfig) for config in BASELINES.values())
