import pandas as pd
import pytest

from pipelines.holdout import Holdout
from pipelines.shelf import Shelf, Shelved
from tests.transformer.conftest import small_model


@pytest.fixture(scope="module")
def shelved(daily_panel):
    holdout = Holdout(pd.DataFrame({"model": ["A"], "RMSE": [0.5]}), pd.DataFrame(), ("better",))
    return Shelved(small_model().fit(daily_panel), holdout)


def test_a_model_is_found_under_its_key_alone(tmp_path, shelved, daily_panel):
    shelf = Shelf(tmp_path)
    assert shelf.find("2018-12-31-abc") is None
    shelf.put("2018-12-31-abc", shelved)
    found = shelf.find("2018-12-31-abc")
    assert found.holdout.verdicts == ("better",)
    assert found.model.predict(daily_panel).equals(shelved.model.predict(daily_panel))
    assert shelf.find("2018-12-31-abd") is None


def test_the_newest_few_stay_and_foreign_folders_are_left_alone(tmp_path, shelved):
    (tmp_path / "notes").mkdir()
    shelf = Shelf(tmp_path)
    for i in range(7):
        shelf.put(f"key-{i}", shelved)
    assert sorted(p.name for p in tmp_path.iterdir()) == [*(f"key-{i}" for i in range(2, 7)), "notes"]


def test_a_damaged_model_is_fitted_anew(tmp_path, shelved):
    shelf = Shelf(tmp_path)
    shelf.put("key", shelved)
    (tmp_path / "key" / "holdout.json").write_text("{")
    assert shelf.find("key") is None
    shelf.put("key", shelved)
    (tmp_path / "key" / "model" / "model.json").unlink()
    assert shelf.find("key") is None
