"""One MLflow run that is open."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fints.tracking.contents import split_finite, write
from fints.tracking.models import keep_model
from fints.tracking.redaction import without_passwords

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from mlflow import MlflowClient

    from fints.tracking.contents import Dataset

_BATCH, _PARAMS, _TAGS = 1000, 100, 100
_PARAM_LENGTH, _TAG_LENGTH = 6000, 8000
_TABLES = "mlflow.loggedArtifacts"


@dataclass(slots=True)
class Run:
    """One MLflow run that is open; implements `fints.forecast.Tracker`.

    Every call to MLflow costs a transaction, or a request to a server: what is known together is logged together.

    Parameters
    ----------
    client : MlflowClient
    run_id, experiment_id : str
    tables : list of str
        Artifacts that MLflow is told to show as tables, so far.
    status : {"FINISHED", "FAILED", "KILLED"}
        With which it is closed, if nothing interrupts it.
    """

    client: MlflowClient
    run_id: str
    experiment_id: str
    tables: list[str] = field(default_factory=list)
    status: Literal["FINISHED", "FAILED", "KILLED"] = "FINISHED"

    def log(
        self,
        params: Mapping[str, object] | None = None,
        curves: Mapping[str, Mapping[int, float]] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Record settings, figures and tags in as few calls as MLflow's limits allow.

        Parameters
        ----------
        params : mapping of str to object, optional
            Flat settings.
        curves : mapping of str to mapping of int to float, optional
            Value by step. Those that are not finite become tags, since MLflow would drop or bend them.
        tags : mapping of str to str, optional
        """
        from mlflow.entities import Metric, Param, RunTag

        now = int(time.time() * 1000)
        points, odd = split_finite(curves or {})
        metrics = [Metric(key, value, now, step) for key, step, value in points]
        entries = [Param(key, without_passwords(str(value))[:_PARAM_LENGTH]) for key, value in (params or {}).items()]
        said = {**{f"fints.not_finite.{key}": str(value) for key, value in odd.items()}, **(tags or {})}
        labels = [RunTag(key, value[:_TAG_LENGTH]) for key, value in said.items()]
        while metrics or entries or labels:
            room = _BATCH - len(entries[:_PARAMS]) - len(labels[:_TAGS])
            self.client.log_batch(self.run_id, metrics=metrics[:room], params=entries[:_PARAMS], tags=labels[:_TAGS])
            metrics, entries, labels = metrics[room:], entries[_PARAMS:], labels[_TAGS:]

    def log_params(self, params: Mapping[str, object]) -> None:
        """Record flat settings."""
        self.log(params=params)

    def log_metrics(self, metrics: Mapping[str, float], step: int = 0) -> None:
        """Record figures at a step; those that are not finite become tags."""
        self.log(curves={key: {step: value} for key, value in metrics.items()})

    def log_curves(self, curves: Mapping[str, Mapping[int, float]]) -> None:
        """Record whole curves, value by step, in few calls."""
        self.log(curves=curves)

    def log_files(self, files: Mapping[str, str | bytes | pd.DataFrame]) -> None:
        """Store artifacts, all in one call.

        Parameters
        ----------
        files : mapping of str to str, bytes or pandas.DataFrame
            Content by path. A table whose name ends in ``.json`` is shown as one.
        """
        with tempfile.TemporaryDirectory(prefix="fints-") as folder:
            for name, content in files.items():
                settings = isinstance(content, str) and name.endswith((".json", ".yaml"))
                write(without_passwords(str(content)) if settings else content, Path(folder) / name)
            self.client.log_artifacts(self.run_id, folder)
        tables = [name for name, content in files.items() if name.endswith(".json") and not isinstance(content, str)]
        fresh = [name for name in tables if name not in self.tables]
        if fresh:
            self.tables.extend(fresh)
            self.log(tags={_TABLES: json.dumps([{"path": name, "type": "table"} for name in self.tables])})

    def log_text(self, text: str, file: str) -> None:
        """Store a text as an artifact."""
        self.log_files({file: text})

    def log_table(self, table: pd.DataFrame, file: str) -> None:
        """Store a table as an artifact that MLflow shows (JSON)."""
        self.log_files({file: table})

    def log_dataset(self, data: Dataset) -> None:
        """Record the data that the run worked on."""
        from mlflow.entities import Dataset as Entity
        from mlflow.entities import DatasetInput, InputTag

        context = InputTag("mlflow.data.context", "evaluation")
        self.client.log_inputs(self.run_id, [DatasetInput(Entity(**data.to_dict()), [context])])

    def log_model(self, name: str, folder: Path) -> str:
        """Store a fitted transformer, so that MLflow can load and serve it without unpickling anything.

        Parameters
        ----------
        name : str
        folder : Path
            As `CycleTransformer.save` wrote it.

        Returns
        -------
        str
            Its id; ``mlflow.pyfunc.load_model(f"models:/{id}")`` loads it.
        """
        return keep_model(self.client, (self.experiment_id, self.run_id), name, folder)

    def describe(self, markdown: str) -> None:
        """Set the description that stands at the top of the run's page."""
        self.client.set_tag(self.run_id, "mlflow.note.content", markdown[:_TAG_LENGTH])
