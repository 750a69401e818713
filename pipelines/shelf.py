"""Fitted models on disk, with the hold-out that they passed."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints import __version__
from fints.errors import BundleError
from fints.sessions import get_calendar
from fints.transformer import CycleTransformer
from pipelines.files import DIGITS, write_text

if TYPE_CHECKING:
    from pathlib import Path

_KEEP = 5
_STAMP = "%Y-%m-%dT%H%M"


@dataclass(frozen=True, slots=True, eq=False)
class Holdout:
    """How a model did beside the baselines before it was used.

    Parameters
    ----------
    leaderboard, by_step : pandas.DataFrame
        See `fints.backtest.CrossValidation`.
    verdicts : tuple of str
    """

    leaderboard: pd.DataFrame
    by_step: pd.DataFrame
    verdicts: tuple[str, ...]

    def to_json(self) -> str:
        """Write it as JSON text."""
        frames = {"leaderboard": self.leaderboard, "by_step": self.by_step}
        plain = {
            name: json.loads(frame.to_json(orient="split", index=False, double_precision=DIGITS))
            for name, frame in frames.items()
        }
        return json.dumps({**plain, "verdicts": list(self.verdicts)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Holdout:
        """Read what `to_json` wrote."""
        value = json.loads(text)
        board, steps = (pd.DataFrame(**value[name]) for name in ("leaderboard", "by_step"))
        return cls(board, steps, tuple(value["verdicts"]))


@dataclass(frozen=True, slots=True, eq=False)
class Shelved:
    """A fitted model with its hold-out and its name."""

    model: CycleTransformer
    holdout: Holdout
    version: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The fitted models of one dataset, target and configuration.

    Parameters
    ----------
    folder : Path
        ``models/<dataset>/<target>/<configuration>``; each model in a folder named after its last training bar.
    """

    folder: Path

    @classmethod
    def under(cls, models: Path, dataset: str, target: str, digest: str) -> Shelf:
        """Return the shelf of a target; another version of fints has another one."""
        return cls(models / dataset / target / f"{digest}-{__version__}")

    def find(self, until: pd.Timestamp, exchange: str, retrain_every: int) -> Shelved | None:
        """Take the newest model that saw no bar after `until` and is not due for retraining.

        Parameters
        ----------
        until : pandas.Timestamp
            Last bar that may be known.
        exchange : str
            Its sessions are counted.
        retrain_every : int
            A model this many sessions old, or older, is not taken.
        """
        for folder in sorted(self._folders(), reverse=True):
            last = _until(folder)
            if last is None or last > until:
                continue
            age = len(get_calendar(exchange).sessions(last.normalize(), until.normalize())) - 1
            if age >= retrain_every:
                return None
            try:
                holdout = Holdout.from_json((folder / "holdout.json").read_text("utf-8"))
                return Shelved(CycleTransformer.load(folder / "model"), holdout, self._version(folder))
            except (BundleError, OSError, ValueError, KeyError):
                continue
        return None

    def put(self, model: CycleTransformer, holdout: Holdout, until: pd.Timestamp) -> str:
        """Store a fitted model; the newest few are kept. Returns its version."""
        folder = self.folder / until.strftime(_STAMP)
        folder.mkdir(parents=True, exist_ok=True)
        model.save(folder / "model")
        write_text(folder / "holdout.json", holdout.to_json())
        for old in sorted(self._folders())[:-_KEEP]:
            if old != folder:
                shutil.rmtree(old)
        return self._version(folder)

    def _folders(self) -> list[Path]:
        """Folders of models; one of another name is somebody else's."""
        every = self.folder.iterdir() if self.folder.is_dir() else ()
        return [path for path in every if path.is_dir() and _until(path) is not None]

    def _version(self, folder: Path) -> str:
        return f"{self.folder.name}/{folder.name}"


def _until(folder: Path) -> pd.Timestamp | None:
    """Last training bar of the model in a folder; None if its name is no stamp."""
    stamp = pd.to_datetime(folder.name, format=_STAMP, errors="coerce")
    return None if pd.isna(stamp) else pd.Timestamp(stamp)
