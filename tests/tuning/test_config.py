import pytest
import yaml
from pydantic import ValidationError

from fints.tuning import Range, SpaceConfig


def test_on_and_off_are_what_yaml_makes_of_them():
    assert SpaceConfig.model_validate(yaml.safe_load("learn: on")).learn == "on"
    assert SpaceConfig.model_validate(yaml.safe_load("learn: off")).learn == "off"
    assert SpaceConfig.model_validate(yaml.safe_load("learn: search")).learn == "search"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("guard: 0.5", "guard"),
        ("width: 1", "width"),
        ("share: {low: 0.5, high: 0.4}", "low up to high"),
        ("frequency_rate: {low: 0, high: 1, log: true}", "above 0"),
        ("training: {speed: [1, 2]}", "speed"),
        ("network: {dim: []}", "network"),
        ("encodings: []", "encodings"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(settings, told):
    with pytest.raises(ValidationError, match=told):
        SpaceConfig.model_validate(yaml.safe_load(settings))


def test_a_list_and_a_range_are_told_apart():
    config = SpaceConfig.model_validate(
        yaml.safe_load("{training: {learning_rate: {low: 0.001, high: 0.01, log: true}}, network: {dim: [16, 32]}}")
    )
    assert config.training == {"learning_rate": Range(low=0.001, high=0.01, log=True)}
    assert config.network == {"dim": (16, 32)}
