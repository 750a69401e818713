import json

import numpy as np
import pytest

import fints
from fints.errors import BundleError, NotFittedError
from fints.transformer.checkpoint import CARD, FORMAT, WEIGHTS
from tests.transformer.conftest import small_model


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_saved_model_forecasts_the_same_bits(saved, fitted, daily_panel):
    loaded = fints.CycleTransformer.load(saved)
    assert loaded.design == fitted.design
    assert np.array_equal(loaded.forecast(daily_panel).quantiles, fitted.forecast(daily_panel).quantiles)
    assert loaded.predict(daily_panel).equals(fitted.predict(daily_panel))


def test_a_name_is_saved_and_a_model_saved_without_one_has_the_usual(daily_panel, tmp_path):
    folder = tmp_path / "model"
    small_model().named("mine").fit(daily_panel).save(folder)
    assert fints.CycleTransformer.load(folder).name == "mine"
    card = json.loads((folder / CARD).read_text())
    del card["design"]["name"]
    (folder / CARD).write_text(json.dumps(card))
    assert fints.CycleTransformer.load(folder).name == "CycleTransformer"


def test_saving_again_replaces_the_model(saved, fitted):
    fitted.save(saved)
    assert sorted(p.name for p in saved.iterdir()) == [CARD, WEIGHTS]
    assert [p.name for p in saved.parent.iterdir()] == ["model"]


def test_a_loaded_model_asks_for_a_history(saved):
    with pytest.raises(NotFittedError, match="pass the panel"):
        fints.CycleTransformer.load(saved).predict()


def test_a_folder_of_somebody_else_is_left_alone(fitted, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BundleError, match="not a model"):
        fitted.save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_unfitted_model_has_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError):
        small_model().save(tmp_path / "model")


def test_a_file_in_the_place_is_left_alone(fitted, tmp_path):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(BundleError, match="not a model"):
        fitted.save(tmp_path / "model")
    assert (tmp_path / "model").read_text() == "mine"


def without_end(folder):
    card = json.loads((folder / CARD).read_text())
    del card["fitted"]["until"]
    (folder / CARD).write_text(json.dumps(card))


def damage_weights(folder):
    weights = folder / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")


def newer(folder):
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**card, "format": FORMAT + 1, "fints": "99.0"}))


def older(folder):
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**card, "format": FORMAT - 1, "fints": "0.3"}))


def spoilt_start(folder):
    card = json.loads((folder / CARD).read_text())
    card["fitted"]["start"]["shared"]["weights"] = [[1.0]]
    (folder / CARD).write_text(json.dumps(card))


def start_of_other_covariates(folder):
    card = json.loads((folder / CARD).read_text())
    card["fitted"]["start"]["shared"]["calendar"] = [1.0]
    (folder / CARD).write_text(json.dumps(card))


def unknown_encoding(folder):
    card = json.loads((folder / CARD).read_text())
    card["design"]["encoding"] = {"kind": "astrology"}
    (folder / CARD).write_text(json.dumps(card))


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (damage_weights, "not those that were saved"),
        (newer, r"written by fints 99\.0; this version reads format 2: upgrade fints"),
        (older, r"written by fints 0\.3; this version reads format 2 only: fit the model and save it again"),
        (spoilt_start, r"weights of shape \(m, 4\), not \(3,\) and \(1, 1\)"),
        (start_of_other_covariates, "1 covariates, and the model 3"),
        (unknown_encoding, "astrology"),
        (without_end, "until"),
        (lambda f: (f / WEIGHTS).unlink(), "missing"),
        (lambda f: (f / CARD).unlink(), "no model"),
        (lambda f: (f / CARD).write_text("{"), "cannot be read"),
        (lambda f: (f / CARD).write_text("[]"), "not a model's description"),
    ],
)
def test_a_damaged_bundle_is_refused(saved, harm, says):
    harm(saved)
    with pytest.raises(BundleError, match=says):
        fints.CycleTransformer.load(saved)
