"""Outcomes of jobs on disk, so that a comparison that was killed goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.jobs import COLUMNS, VOID_COLUMNS, Outcome
from fints.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

LOG = logging.getLogger(__name__)

_DECISIVE = (
    *("sessions", "series", "periods", "plan", "encodings", "conformal", "baselines", "transformer", "combination"),
    *("forecast.py", "backtest/folds.py", "backtest/jobs.py"),
)
"""Packages and modules of fints whose code decides what a job finds."""

_LIBRARIES = (
    *("numpy", "pandas", "scipy", "torch", "statsmodels", "scikit-learn", "arch"),
    *("exchange-calendars", "pandas-market-calendars"),
)
_STALE = 7 * 86400.0
"""Seconds after which what a killed run left unfinished is not taken up any more."""

_SEED = "fints.outcome"
_DRAFT = ".draft-"


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
    the curves. Failed jobs are not kept: they are tried again. Beside the outcomes lie, while a job is being run or
    after a kill, its lock and the states of its training.

    Parameters
    ----------
    folder : Path
        Made when it is needed.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """Return where the outcome of a job lies."""
        return self.folder / f"{key}.parquet"

    @contextmanager
    def claimed(self, key: str) -> Iterator[Path]:
        """Hold a job against other processes, for which they wait; a process that dies lets go.

        Yields
        ------
        Path
            Folder for the states of an unfinished training. It is gone once the outcome is kept.

        Raises
        ------
        StoreError
            If the folder cannot be written.
        """
        from filelock import FileLock

        lock, states = FileLock(self.folder / f"{key}.lock"), self.folder / f"{key}.states"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            for draft in self.folder.glob(f"{_DRAFT}{key}-*"):  # of a process that was killed while it wrote
                draft.unlink(missing_ok=True)
            yield states
            if self.path(key).exists():
                # In this order: who waits for the lock still finds the outcome, whatever file its lock has become.
                shutil.rmtree(states, ignore_errors=True)
                Path(lock.lock_file).unlink(missing_ok=True)
        finally:
            lock.release()

    def sweep(self) -> None:
        """Remove what killed runs left and nobody needs: drafts, locks and states of trainings.

        Those of a finished job go at once, others after a week.
        """
        oldest = time.time() - _STALE
        for pattern in (f"{_DRAFT}*", "*.lock", "*.states"):
            for path in self.folder.glob(pattern):
                if self.path(path.stem).exists() or _modified(path) < oldest:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

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
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=f"{_DRAFT}{key}-", delete=False) as file:
                draft = Path(file.name)
                pq.write_table(table, file, write_page_checksum=True)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path(key))
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            if draft is not None:
                draft.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"the outcome of a job cannot be written to {self.folder}: {error}; free space, or set FINTS_HOME"
        )


def _modified(path: Path) -> float:
    """Return when a path was changed last; now, if it has just gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


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
