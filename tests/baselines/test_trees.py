import numpy as np
import pytest

from fints.baselines.trees import Trees


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    x = random.normal(size=(3000, 5))
    x[random.random(x.shape) < 0.2] = np.nan
    x[:, 4] = np.round(x[:, 4])
    y = np.nan_to_num(x[:, 0]) ** 2 + np.where(np.isnan(x[:, 1]), 3.0, x[:, 1]) + random.normal(0, 0.1, 3000)
    return x, y


@pytest.fixture(scope="module")
def grown(rows):
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=15, early_stopping=False, random_state=0)
    return model.fit(*rows)


def test_trees_as_arrays_say_what_the_library_says_to_the_bit(grown, rows):
    trees = Trees.of(grown)
    assert len(trees.sizes) == 40
    assert np.array_equal(trees.predict(rows[0]), grown.predict(rows[0]))


def test_a_value_on_a_threshold_goes_the_same_way(grown):
    trees = Trees.of(grown)
    inner = (
        (trees.nodes["is_leaf"] == 0) & (trees.nodes["feature_idx"] == 0) & np.isfinite(trees.nodes["num_threshold"])
    )
    cuts = trees.nodes["num_threshold"][inner]
    x = np.zeros((len(cuts), 5))
    x[:, 0] = cuts
    assert len(cuts) > 10
    assert np.array_equal(trees.predict(x), grown.predict(x))


def test_unknown_values_go_the_same_way(grown):
    x = np.full((1, 5), np.nan)
    assert np.array_equal(Trees.of(grown).predict(x), grown.predict(x))


def test_trees_that_would_say_something_else_are_not_taken(grown, monkeypatch):
    monkeypatch.setattr(type(grown), "predict", lambda _self, x: np.zeros(len(x)))
    assert Trees.of(grown) is None


def test_what_is_no_grown_forest_is_not_taken():
    assert Trees.of(object()) is None
