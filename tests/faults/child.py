"""What runs in the children of these tests: the command line, in a process whose libraries are loaded already.

A fork server imports this module once, so that a child begins at once with its work. Nothing here may start a thread or
open a table: a fork keeps neither.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import deltalake
import pandas_market_calendars
import pyarrow.dataset
import pyarrow.parquet
import scipy.optimize
import scipy.stats
import sklearn.ensemble

import fints.bars.ingest
import fints.bars.sources.files
import fints.bars.store
import fints.bars.verify
import fints.settings
import pipelines.ingest
import pipelines.nightly
import pipelines.progress
import pipelines.terminal
from fints.sessions import get_calendar
from pipelines.cli import main

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

LOADED = (
    *(deltalake, pandas_market_calendars, pyarrow.dataset, pyarrow.parquet, scipy.optimize, scipy.stats),
    *(sklearn.ensemble, fints.bars, fints.settings, pipelines),
)
get_calendar("XNYS").sessions("1990-01-02", "2027-12-31")
_CAPABILITIES = 0x20080522  # version 3 of the structure that capset(2) takes


def run(home: str, *arguments: str) -> None:
    """Be ``fints ARGUMENTS`` with a home; what it prints goes to a file beside the home."""
    os.environ["FINTS_HOME"] = home
    log = os.open(f"{home}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["fints", *arguments]
    main()


def run_after(barrier: Barrier, home: str, *arguments: str) -> None:
    """Begin together with others."""
    barrier.wait(60)
    run(home, *arguments)


def run_confined(limit: int, home: str, *arguments: str) -> None:
    """Write no file longer than ``limit`` bytes: what a full disk does to a file, it does as well."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    run(home, *arguments)


def run_unprivileged(home: str, *arguments: str) -> None:
    """Have no right to write where the permissions of a folder forbid it; root could write anywhere."""
    if os.geteuid() == 0:
        header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
        if ctypes.CDLL(None, use_errno=True).capset(ctypes.byref(header), ctypes.byref(none)):
            raise OSError(ctypes.get_errno(), "the capabilities of root could not be given up")
    run(home, *arguments)


def said(home: Path) -> str:
    """Return what a child printed."""
    return Path(f"{home}.log").read_text(encoding="utf-8")
