import pickle
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from fints.baselines import Naive
from fints.errors import BundleError
from pipelines.fitted import FittedModels, PanelFacts


@dataclass
class Transformer:
    """Saves a file that says when it was fitted."""

    until: str
    design: str = "one"
    name: str = "T"
    full: bool = False
    records: tuple = ()
    fitted: SimpleNamespace = field(init=False)

    def __post_init__(self):
        self.fitted = SimpleNamespace(until=self.until, records=self.records)

    def save(self, path):
        if self.full:
            raise BundleError("no space left")
        Path(path).mkdir(parents=True)
        (Path(path) / "model.json").write_text(self.until)


def test_the_model_that_was_fitted_last_is_found_whatever_came_last(tmp_path):
    kept, first = FittedModels(tmp_path), Transformer("2018-01-02T00:00:00")
    for until in ("2018-03-02T00:00:00", "2018-12-24T13:30:00", first.until):
        kept(replace(first, until=until))
    assert (kept.latest(first) / "model.json").read_text() == "2018-12-24T13:30:00"


def test_models_of_another_design_panel_or_code_are_not_taken(tmp_path, monkeypatch):
    model = Transformer("2018-01-02")
    facts = PanelFacts(10, 1, "abc")
    FittedModels.under(tmp_path, facts)(model)
    assert FittedModels.under(tmp_path, facts).latest(model)
    assert FittedModels.under(tmp_path, facts).latest(replace(model, design="other")) is None
    assert FittedModels.under(tmp_path, replace(facts, digest="abd")).latest(model) is None
    monkeypatch.setattr("fints.backtest.job_store.code_version", lambda: "newer")
    assert FittedModels.under(tmp_path, facts).latest(model) is None


def test_one_that_forecasts_from_a_longer_context_is_kept_as_what_it_was_trained_as(tmp_path):
    model = Transformer("2018-01-02")
    FittedModels(tmp_path)(SimpleNamespace(model=model, name="longer", fitted=model.fitted))
    assert FittedModels(tmp_path).latest(model)


def test_a_disk_that_is_full_costs_the_model_and_not_the_forecasts(tmp_path, caplog):
    record = SimpleNamespace(validation={0: 1.0, 2: 0.5}, periods=())
    curves = FittedModels(tmp_path)(Transformer("2018-01-02", full=True, records=(record,)))
    assert curves == {"train/validation_crps": {0: 1.0, 2: 0.5}}
    assert "no space left" in caplog.text


@pytest.mark.parametrize("model", [Naive(5), Transformer("2018-01-02")])
def test_only_fitted_transformers_are_kept(tmp_path, model):
    if isinstance(model, Transformer):
        model.fitted = None
    assert FittedModels(tmp_path)(model) == {}
    assert not list(tmp_path.iterdir())


def test_it_goes_to_other_processes(tmp_path):
    assert pickle.loads(pickle.dumps(FittedModels(tmp_path))) == FittedModels(tmp_path)


def test_a_panel_is_known_by_all_of_its_values():
    panel = pd.DataFrame({"unique_id": ["a", "a", "b"], "ds": pd.to_datetime(["2018-01-02"] * 3), "y": [1.0, 2.0, 3.0]})
    facts = PanelFacts.of(panel)
    assert (facts.rows, facts.series) == (3, 2)
    assert PanelFacts.of(panel.copy()) == facts
    assert PanelFacts.of(panel.assign(y=[1.0, 2.0, 3.5])).digest != facts.digest
