"""Fitted transformers as MLflow models: the code is ours, the weights are safetensors, nothing is pickled."""

from __future__ import annotations

import json
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fints import __version__

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.models import ModelSignature

BUNDLE = "model"
"""Name of the folder of weights and settings within the MLflow model."""

_SERVED = Path(__file__).with_name("served.py")


def keep_model(client: MlflowClient, owner: tuple[str, str], name: str, folder: Path) -> str:
    """Store a model below an experiment, as the output of a run.

    Parameters
    ----------
    client : MlflowClient
    owner : tuple of str
        Experiment and run.
    name : str
    folder : Path
        As `CycleTransformer.save` wrote it.

    Returns
    -------
    str
        Its id.

    Raises
    ------
    BundleError
        If there is no model in the folder.
    """
    from mlflow.entities import LoggedModelOutput, LoggedModelStatus

    signature = signature_of(folder)
    experiment, run = owner
    made = client.create_logged_model(experiment, name=_allowed(name), source_run_id=run, model_type="forecaster")
    try:
        with tempfile.TemporaryDirectory(prefix="fints-") as place:
            _save(Path(place) / "model", folder, signature, (made.model_id, run))
            client.log_model_artifacts(made.model_id, str(Path(place) / "model"))
        client.finalize_logged_model(made.model_id, LoggedModelStatus.READY)
        client.log_outputs(run, [LoggedModelOutput(made.model_id, 0)])
    except BaseException:
        with suppress(Exception):  # half a model must not stand in the list as if it could be used
            client.delete_logged_model(made.model_id)
        raise
    return str(made.model_id)


def signature_of(folder: Path) -> ModelSignature:
    """Return what a model reads, a panel with its covariates, and what it answers.

    Parameters
    ----------
    folder : Path
        As `CycleTransformer.save` wrote it.

    Raises
    ------
    BundleError
        If there is no model in it.
    """
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, Schema

    from fints.errors import BundleError
    from fints.forecast import QUANTILE_COLUMNS

    try:
        fitted = json.loads((folder / "model.json").read_text(encoding="utf-8"))["fitted"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BundleError(f"there is no model in {folder}: {error}; save it again") from error
    keys = [ColSpec("string", "unique_id"), ColSpec("datetime", "ds")]
    about = [ColSpec("string", name, required=False) for name in ("exchange", "interval")]
    covariates = [ColSpec("double", name) for name in (*fitted["calendar"], *fitted["past"])]
    answers = [ColSpec("long", "step"), *(ColSpec("double", name) for name in ("mean", *QUANTILE_COLUMNS))]
    return ModelSignature(Schema([*keys, ColSpec("double", "y"), *about, *covariates]), Schema([*keys, *answers]))


def _save(place: Path, folder: Path, signature: ModelSignature, ids: tuple[str, str]) -> None:
    import mlflow.pyfunc
    from mlflow.models import Model

    model_id, run_id = ids
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an example of the input would be the panel once more
        mlflow.pyfunc.save_model(
            str(place),
            python_model=str(_SERVED),
            artifacts={BUNDLE: str(folder)},
            signature=signature,
            pip_requirements=[f"fints=={__version__}"],
            mlflow_model=Model(model_id=model_id, run_id=run_id),
        )


def _allowed(name: str) -> str:
    """Replace what MLflow does not allow in the name of a model."""
    return "".join("-" if letter in "/:.%\"'" else letter for letter in name)
