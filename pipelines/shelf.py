"""Fitted models on disk, with the hold-out that they passed."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints import __version__
from fints.errors import BundleError
from fints.transformer import CycleTransformer
from pipelines.blend import Blend
from pipelines.files import write_text
from pipelines.holdout import Holdout
from pipelines.pantry import PANTRY

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_KEEP = 5
_HOLDOUT, _BLEND = "holdout.json", "blend.json"
_DAMAGED = (BundleError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, eq=False)
class Shelved:
    """A fitted model with its hold-out, and how it is averaged with the others.

    Parameters
    ----------
    model : CycleTransformer, optional
        None where it failed; such a night is not kept.
    holdout : Holdout
    blend : Blend
    place : pathlib.Path, optional
        Folder that it lies in; None where it is not kept.
    """

    model: CycleTransformer | None
    holdout: Holdout
    blend: Blend
    place: Path | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """The fitted models of one dataset, target and configuration.

    Parameters
    ----------
    folder : Path
        ``models/<dataset>/<target>/<configuration>``; each model in a folder named after what it learnt from.
    """

    folder: Path

    @classmethod
    def under(cls, models: Path, dataset: str, target: str, digest: str) -> Shelf:
        """Return the shelf of a target; another version of fints has another one."""
        return cls(models / dataset / target / f"{digest}-{__version__}")

    @property
    def training(self) -> Path:
        """Where the states of a fit lie while it lasts; a night that was killed goes on from them."""
        return self.folder / "training"

    def find(self, key: str) -> Shelved | None:
        """Take the model that learnt from the rows named by a key; None if it is not there, or damaged."""
        try:
            return self._read(self.folder / key)
        except _DAMAGED:
            return None

    def fault(self, key: str) -> str:
        """Say why a model cannot be taken; empty where it can."""
        try:
            self._read(self.folder / key)
        except BundleError as error:
            return str(error)
        except _DAMAGED as error:
            return f"{self.folder / key} is damaged or not whole ({type(error).__name__}: {error})"
        return ""

    @staticmethod
    def _read(folder: Path) -> Shelved:
        holdout = Holdout.from_json((folder / _HOLDOUT).read_text("utf-8"))
        blend = Blend.from_plain(json.loads((folder / _BLEND).read_text("utf-8")))
        return Shelved(CycleTransformer.load(folder / "model"), holdout, blend, folder)

    def put(self, key: str, shelved: Shelved, held: Collection[str] = ()) -> Shelved:
        """Store a fitted model, and return it as it lies; the newest few are kept, and those `held` whatever their age.

        The baselines beside it are no part of it: they give the same forecasts from the same rows, whether they are
        fitted again or taken from where they are kept (see `pipelines.pantry`). A night whose transformer failed is not
        stored either, so that the next one tries again.
        """
        if shelved.model is None:
            return shelved
        folder = self.folder / key
        folder.mkdir(parents=True, exist_ok=True)
        shelved.model.save(folder / "model")
        write_text(folder / _BLEND, json.dumps(shelved.blend.to_plain()))
        write_text(folder / _HOLDOUT, shelved.holdout.to_json())
        ours = [path.parent for path in self.folder.glob(f"*/{_HOLDOUT}")]
        for old in sorted(ours, key=lambda path: (path / _HOLDOUT).stat().st_mtime)[:-_KEEP]:
            if old.name not in held:
                shutil.rmtree(old)
                shutil.rmtree(self.folder / PANTRY / old.name, ignore_errors=True)
        return replace(shelved, place=folder)

    def keys(self) -> list[str]:
        """Names of the rows of the models that lie here, the oldest rows first."""
        return sorted(path.parent.name for path in self.folder.glob(f"*/{_HOLDOUT}"))

    def version(self, key: str) -> str:
        """Name of a model in tables."""
        return f"{self.folder.name}/{key}"
