"""Outcomes of jobs on disk, so that a comparison that was killed goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.jobs import COLUMNS, VOID_COLUMNS, Outcome
from fints.errors import StoreError

if TYPE_CHECKING:
    import pyarrow as pa

LOG = logging.getLogger(__name__)

_DECISIVE = (
    *("sessions", "series", "periods", "plan", "encodings", "conformal", "baselines", "transformer", "forecast.py"),
    *("backtest/folds.py", "backtest/jobs.py"),
)
"""Packages and modules of fints whose code decides what a job finds."""

_LIBRARIES = ("numpy", "pandas", "scipy", "torch", "statsmodels", "scikit-learn", "arch", "exchange-calendars")
_SEED = "fints.outcome"


@cache
def code_version() -> str:
    """Name the code that decides what a job finds: a hash of the sources and of the versions of their libraries."""
    root = Path(__file__).parents[1]
    content = hashlib.sha256()
    for name in _DECISIVE:
        place = root / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in {".py", ".yaml"}:
                content.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    content.update(json.dumps({name: _version(name) for name in _LIBRARIES}).encode())
    return content.hexdigest()[:16]


def panel_version(panel: pd.DataFrame) -> str:
    """Name a panel by everything it holds."""
    content = hashlib.sha256(json.dumps([[str(c), str(d)] for c, d in panel.dtypes.items()]).encode())
    content.update(pd.util.hash_pandas_object(panel, index=False).to_numpy().tobytes())
    return content.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class JobStore:
    """A folder of finished jobs: one Parquet file each, there whole or not at all.

    A file holds the forecasts, scored and void (those have a ``reason``); in its metadata, as JSON, lie the seconds and
    the curves. Failed jobs are not kept: they are tried again.

    Parameters
    ----------
    folder : Path
        Made when it is needed.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """Return where the outcome of a job lies."""
        return self.folder / f"{key}.parquet"

    def read(self, key: str) -> Outcome | None:
        """Return the outcome of a job; None where there is none, or only a damaged one, which is removed."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path(key)
        try:
            table = pq.read_table(path, page_checksum_verification=True)
            said = json.loads(table.schema.metadata[_SEED.encode()])
            return _outcome(table, said)
        except FileNotFoundError:
            return None
        except (OSError, pa.ArrowException, KeyError, ValueError, TypeError) as error:
            LOG.warning("%s is damaged and its job is run again: %s", path, error)
            path.unlink(missing_ok=True)
            return None

    def write(self, key: str, outcome: Outcome) -> None:
        """Keep the outcome of a finished job.

        Raises
        ------
        StoreError
            If the folder cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        void = outcome.void.reindex(columns=[*COLUMNS, "reason"]).astype(outcome.rows.dtypes.to_dict())
        frame = pd.concat([outcome.rows.assign(reason=None), void], ignore_index=True) if len(void) else outcome.rows
        frame = frame.reindex(columns=[*COLUMNS, "reason"]).astype({"reason": "object"})
        said = {"seconds": outcome.seconds, "curves": {n: list(c.items()) for n, c in outcome.curves.items()}}
        table = pa.Table.from_pandas(frame, preserve_index=False)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _SEED: json.dumps(said)})
        draft = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".draft-", delete=False) as file:
                draft = Path(file.name)
                pq.write_table(table, file, write_page_checksum=True)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path(key))
        except OSError as error:
            raise StoreError(
                f"the outcome of a job cannot be written to {self.folder}: {error}; free space, or set FINTS_HOME"
            ) from error
        finally:
            if draft is not None:
                draft.unlink(missing_ok=True)


def _outcome(table: pa.Table, said: dict[str, object]) -> Outcome:
    frame = table.to_pandas()
    void = frame["reason"].notna()
    curves = said["curves"]
    assert isinstance(curves, dict)
    return Outcome(
        rows=frame.loc[~void, COLUMNS].reset_index(drop=True),
        void=frame.loc[void, VOID_COLUMNS].reset_index(drop=True),
        seconds=float(str(said["seconds"])),
        curves={name: {int(step): float(value) for step, value in points} for name, points in curves.items()},
    )


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""
