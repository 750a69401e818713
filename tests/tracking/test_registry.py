import json
import pickle

import pandas as pd
import pytest

import fints
from fints.tracking.registry import PARTS, Registry
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

FIRST, SECOND = "line/2018-01-02-aaaaaaaaaaaa", "line/2018-06-01-bbbbbbbbbbbb"


@pytest.fixture(scope="module")
def fit(daily_panel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    model = fints.CycleTransformer(h=3, input_size=20, encoding="rope").with_settings(
        NetworkConfig(dim=16, n_heads=1, n_layers=1), TrainingConfig(max_steps=2, batch_size=4, validate_every=1)
    )
    model.fit(daily_panel).save(folder / "model")
    for name in ("blend.json", "holdout.json"):
        (folder / name).write_text(json.dumps({"of": name}))
    return folder


@pytest.fixture
def registry(tracking):
    return Registry(tracking, "sample", "log_volume")


def test_before_the_first_fit_nothing_is_named(registry):
    assert registry.aliased("champion") == ""


def test_a_fit_is_registered_once_and_named_by_an_alias_until_it_is_taken_away(registry, fit):
    registry.register(FIRST, fit, {"fints.until": "2018-01-02"})
    registry.register(FIRST, fit, {})
    registry.register(SECOND, fit, {})
    versions = registry.tracking.client().search_model_versions(f"name = '{registry.name}'")
    assert sorted(one.tags["fints.version"] for one in versions) == [FIRST, SECOND]
    registry.point("champion", FIRST)
    registry.point("challenger", SECOND)
    assert (registry.aliased("champion"), registry.aliased("challenger")) == (FIRST, SECOND)
    registry.point("champion", SECOND)
    registry.point("challenger", "")
    assert (registry.aliased("champion"), registry.aliased("challenger")) == (SECOND, "")


def test_an_alias_that_a_person_moved_is_seen(registry, fit):
    registry.register(FIRST, fit, {})
    registry.register(SECOND, fit, {})
    assert registry.set_by_night() == ""
    registry.point("champion", FIRST)
    client = registry.tracking.client()
    other = next(one for one in client.search_model_versions() if one.tags["fints.version"] == SECOND)
    client.set_registered_model_alias(registry.name, "champion", other.version)
    assert registry.aliased("champion") == SECOND
    assert registry.set_by_night() == FIRST


def test_a_fit_comes_back_whole_and_forecasts_the_same(registry, fit, tmp_path, daily_panel, monkeypatch):
    def refused(*_args, **_kwargs):
        raise AssertionError("something was unpickled")

    registry.register(FIRST, fit, {})
    for name in ("load", "loads"):
        monkeypatch.setattr(pickle, name, refused)
    assert registry.fetch(FIRST, tmp_path / "back")
    assert {part: (tmp_path / "back" / part).read_bytes() for part in PARTS} == {
        part: (fit / part).read_bytes() for part in PARTS
    }
    models = [CycleTransformer.load(folder / "model") for folder in (fit, tmp_path / "back")]
    pd.testing.assert_frame_equal(*(model.forecast(daily_panel).to_long() for model in models))


def test_a_fit_that_is_not_registered_does_not_come(registry, fit, tmp_path):
    registry.register(FIRST, fit, {})
    assert not registry.fetch(SECOND, tmp_path / "back")
    assert not (tmp_path / "back").exists()
