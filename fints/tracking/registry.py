"""The MLflow registry of the models of nights: a version for every fit, and who is champion and challenger."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

    from fints.tracking.tracking import Tracking

Alias = Literal["champion", "challenger"]

VERSION = "fints.version"
"""Tag of a registered version: the name that the fit has in reports and in the book."""

PARTS = ("blend.json", "holdout.json", "model/model.json", "model/weights.safetensors")
"""Files of a fit; nothing else is taken from a registry, and none of them is ever unpickled or run."""

_FIT = "fit"
_BY_NIGHT = "SELECT value FROM registered_model_tags WHERE name = ? AND key = ?"
_ALIASED = (
    "SELECT t.value FROM registered_model_aliases a JOIN model_version_tags t ON t.name = a.name AND t.version = "
    "a.version WHERE a.name = ? AND a.alias = ? AND t.key = ?"
)


class Registry:
    """The registered model of one dataset and target.

    Parameters
    ----------
    tracking : Tracking
    dataset, target : str
    """

    def __init__(self, tracking: Tracking, dataset: str, target: str) -> None:
        self.tracking = tracking
        self.dataset = dataset
        self.name = f"fints.{dataset}.{target}"

    def aliased(self, alias: Alias = "champion") -> str:
        """Return the fit that an alias names; empty if there is none.

        The database of a home is read without MLflow, which takes seconds to load.

        Raises
        ------
        Exception
            Whatever MLflow or its server raises.
        """
        if self.tracking.local:
            return self._stored(_ALIASED, (self.name, alias, VERSION))
        from mlflow.exceptions import MlflowException

        try:
            found = self.tracking.client().get_model_version_by_alias(self.name, alias)
        except MlflowException as error:
            if error.error_code in {"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"}:
                return ""
            raise
        return str(found.tags.get(VERSION, ""))

    def set_by_night(self, alias: Alias = "champion") -> str:
        """Return the fit that a night of any home let an alias name last; empty if none did.

        Raises
        ------
        Exception
            Whatever MLflow or its server raises.
        """
        if self.tracking.local:
            return self._stored(_BY_NIGHT, (self.name, _noted(alias)))
        return str(self.tracking.client().get_registered_model(self.name).tags.get(_noted(alias), ""))

    def register(self, version: str, folder: Path, tags: Mapping[str, str]) -> None:
        """Make a version of a fit, unless there is one.

        Parameters
        ----------
        version : str
        folder : Path
            Of the fit, with the files of `PARTS`.
        tags : mapping of str to str
            Shown beside it.

        Raises
        ------
        Exception
            Whatever MLflow or its server raises.
        """
        self.tracking.prepare()
        client = self.tracking.client()
        self._make_room(client)
        if self._find(client, version) is not None:
            return
        labels = {"fints.kind": "fit", VERSION: version, **tags}
        with self.tracking.run(f"fints/models/{self.dataset}", f"{self.name} {version}", labels) as run:
            run.log_files({f"{_FIT}/{part}": (folder / part).read_bytes() for part in PARTS})
            model = run.log_model(self.name, folder / "model")
            # by its place: the address models:/… would be looked up in the store of the environment, not in this one
            source = client.get_logged_model(model).artifact_location
            client.create_model_version(self.name, source, run.run_id, tags={VERSION: version, **tags})

    def point(self, alias: Alias, version: str) -> None:
        """Let an alias name a fit; an empty version, or one that is not registered, takes it away."""
        client = self.tracking.client()
        found = self._find(client, version) if version else None
        if found is not None:
            # told first: where homes share a server, what a night of one has set is no person's wish to the others
            client.set_registered_model_tag(self.name, _noted(alias), version)
            client.set_registered_model_alias(self.name, alias, found.version)
        elif self.aliased(alias):
            client.delete_registered_model_alias(self.name, alias)

    def fetch(self, version: str, folder: Path) -> bool:
        """Copy the files of a fit from the registry; False if it is not there, or not whole.

        Parameters
        ----------
        version : str
        folder : Path
            New, or to be replaced.
        """
        self.tracking.prepare()
        client = self.tracking.client()
        found = self._find(client, version)
        if found is None or not found.run_id:
            return False
        with tempfile.TemporaryDirectory(prefix="fints-") as place:
            fit = Path(client.download_artifacts(found.run_id, _FIT, place))
            if not all((fit / part).is_file() for part in PARTS):
                return False
            for part in reversed(PARTS):  # what the shelf looks for first is written last
                (folder / part).parent.mkdir(parents=True, exist_ok=True)
                draft = (folder / part).with_name(f".draft-{(folder / part).name}")
                draft.write_bytes((fit / part).read_bytes())
                draft.replace(folder / part)
        return True

    def _stored(self, query: str, values: tuple[str, ...]) -> str:
        if not self.tracking.store.ready():
            return ""
        try:
            with closing(self.tracking.store.connect()) as connection:
                row = connection.execute(query, values).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return ""
            raise
        return "" if row is None else str(row[0])

    def _make_room(self, client: MlflowClient) -> None:
        from mlflow.exceptions import MlflowException

        try:
            client.create_registered_model(self.name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise

    def _find(self, client: MlflowClient, version: str) -> ModelVersion | None:
        found = client.search_model_versions(f"name = '{self.name}'")
        return next((one for one in found if one.tags.get(VERSION) == version), None)


def _noted(alias: Alias) -> str:
    return f"fints.{alias}"
