import mlflow
import numpy as np
import pandas as pd
import pytest

import fints
from fints.errors import BundleError
from fints.tracking import CLIENT
from fints.transformer import NetworkConfig, TrainingConfig

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


@pytest.fixture(scope="module")
def fitted(daily_panel):
    model = fints.CycleTransformer(h=3, input_size=20, encoding="rope").with_settings(
        NetworkConfig(dim=16, n_heads=1, n_layers=1), TrainingConfig(max_steps=2, batch_size=4, validate_every=1)
    )
    return model.fit(daily_panel)


@pytest.fixture
def logged(tracking, fitted, tmp_path):
    fitted.save(tmp_path / "bundle")
    with tracking.run("fints/backtests/test", "rope", {}) as run:
        model_id = run.log_model("CycleTransformer[a/b: 1.5 %]", tmp_path / "bundle")
    return model_id, run.run_id


def test_a_logged_model_forecasts_what_the_fitted_one_does(tracking, fitted, logged, daily_panel, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    mlflow.set_tracking_uri(tracking.uri)
    loaded = mlflow.pyfunc.load_model(f"models:/{logged[0]}")
    found = loaded.predict(daily_panel)
    expected = fitted.forecast(daily_panel).to_long()
    pd.testing.assert_frame_equal(found, expected)
    assert set(loaded.metadata.signature.outputs.input_names()) == set(expected.columns)
    assert np.isfinite(found["mean"]).all()


def test_a_panel_without_a_covariate_is_refused_by_its_signature(tracking, logged, daily_panel):
    mlflow.set_tracking_uri(tracking.uri)
    loaded = mlflow.pyfunc.load_model(f"models:/{logged[0]}")
    with pytest.raises(mlflow.MlflowException, match="cal_friday"):
        loaded.predict(daily_panel.drop(columns="cal_friday"))


def test_a_logged_model_belongs_to_its_run_and_holds_no_pickle(tracking, logged, read):
    model_id, run_id = logged
    model = tracking._client().get_logged_model(model_id)
    assert model.status == "READY"
    assert model.source_run_id == run_id
    assert [output.model_id for output in read(run_id).outputs.model_outputs] == [model_id]
    files = {path.name for path in tracking.artifacts.rglob(f"{model_id}/**/*") if path.is_file()}
    assert {"model.json", "weights.safetensors", "served.py", "MLmodel"} <= files
    assert not any(name.endswith((".pkl", ".pt", ".bin")) for name in files)
    assert CLIENT["MLFLOW_ALLOW_PICKLE_DESERIALIZATION"] == "false"


def test_a_model_that_is_not_there_is_not_listed(tracking, tmp_path):
    with tracking.run("fints/backtests/test", "none", {}) as run, pytest.raises(BundleError, match="no model"):
        run.log_model("none", tmp_path)
    assert not list(tracking._client().search_logged_models([run.experiment_id]))


def test_a_model_that_could_not_be_stored_is_not_listed(tracking, fitted, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    fitted.save(tmp_path / "bundle")
    with tracking.run("fints/backtests/test", "full", {}) as run:
        monkeypatch.setattr(run.client, "log_model_artifacts", full)
        with pytest.raises(OSError, match="no space"):
            run.log_model("full", tmp_path / "bundle")
    assert not list(tracking._client().search_logged_models([run.experiment_id]))
