from dataclasses import replace

import pandas as pd
import pytest

from fints.combination import Weights
from fints.conformal import AdaptiveBands, Bands
from fints.conformal.adaptive import Pace
from pipelines.blend import Blend
from pipelines.holdout import Holdout
from pipelines.shelf import Shelf, Shelved
from tests.transformer.conftest import small_model


@pytest.fixture(scope="module")
def shelved(daily_panel):
    holdout = Holdout(pd.DataFrame({"model": ["A"], "RMSE": [0.5]}), pd.DataFrame(), ("better",))
    bands = AdaptiveBands(Bands.none(), Pace(30.0, 0.01, 0.5), until="2016-12-30T00:00:00")
    blend = Blend("Mix", Weights.equal(["CycleTransformer", "HAR"], (3,)), bands, notes=("said",))
    return Shelved(small_model().fit(daily_panel), holdout, blend)


def test_a_model_is_found_under_its_key_alone(tmp_path, shelved, daily_panel):
    shelf = Shelf(tmp_path)
    assert shelf.find("2018-12-31-abc") is None
    shelf.put("2018-12-31-abc", shelved)
    found = shelf.find("2018-12-31-abc")
    assert found.holdout.verdicts == ("better",)
    assert found.blend.to_plain() == shelved.blend.to_plain()
    assert found.model.predict(daily_panel).equals(shelved.model.predict(daily_panel))
    assert shelf.find("2018-12-31-abd") is None


def test_the_newest_few_stay_and_foreign_folders_are_left_alone(tmp_path, shelved):
    (tmp_path / "notes").mkdir()
    shelf = Shelf(tmp_path)
    for i in range(7):
        shelf.put(f"key-{i}", shelved)
    assert sorted(p.name for p in tmp_path.iterdir()) == [*(f"key-{i}" for i in range(2, 7)), "notes"]


@pytest.mark.parametrize("text", ["", "\0" * 40, "{", "[" * 100_000, "[]", "{}", '{"name": "Mix"}'])
@pytest.mark.parametrize("file", ["holdout.json", "blend.json", "model/model.json"])
def test_a_damaged_night_is_fitted_anew(tmp_path, shelved, file, text):
    shelf = Shelf(tmp_path)
    shelf.put("key", shelved)
    (tmp_path / "key" / file).write_text(text)
    assert shelf.find("key") is None
    shelf.put("key", shelved)
    assert shelf.find("key") is not None


@pytest.mark.parametrize("file", ["holdout.json", "blend.json", "model/model.json"])
def test_a_night_that_lacks_a_part_is_fitted_anew(tmp_path, shelved, file):
    shelf = Shelf(tmp_path)
    shelf.put("key", shelved)
    (tmp_path / "key" / file).unlink()
    assert shelf.find("key") is None


def test_a_night_whose_transformer_failed_is_tried_again(tmp_path, shelved):
    shelf = Shelf(tmp_path)
    shelf.put("key", replace(shelved, model=None))
    assert shelf.find("key") is None
