"""Checks of the machine: what is installed, the home, its disk, its clock, what others left behind."""

from __future__ import annotations

import importlib.metadata
import math
import os
import shutil
import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fints.bars.place import misread
from pipelines.doctor import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.doctor import Patient

_LITTLE, _ENOUGH = 0.5e9, 5e9
"""Bytes free below which a night fails soon, and below which that is told."""

_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs")
_WALK_SECONDS = 5.0
_WINTER, _SUMMER = (2024, 1, 15), (2024, 7, 15)
_DRAFTS = (".draft-*", ".saving-*", "mlflow.draft*")
"""Names of what takes the place of a file, a fit or the database once it is whole."""

_FOLDERS = ("store", "models", "plans", "reports", "verification", "artifacts", "tuning", "studies")


def installation(_patient: Patient) -> Found:
    """Find out whether every library is there, in a version that fits."""
    from packaging.requirements import Requirement

    from fints import __version__

    try:
        needs = importlib.metadata.requires("fints") or []
    except importlib.metadata.PackageNotFoundError:
        return Found("failed", "fints itself is not installed", "run `pip install .` in its folder")
    wrong, held = (
        [],
        [need for need in map(Requirement, needs) if need.marker is None or need.marker.evaluate({"extra": ""})],
    )
    for need in held:
        try:
            version = importlib.metadata.version(need.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{need.name} is missing")
            continue
        if not need.specifier.contains(version, prereleases=True):
            wrong.append(f"{need.name} is {version}, {need.specifier} is needed")
    if wrong:
        return Found("failed", "; ".join(wrong), "run `pip install .` in the folder of fints, or `make install`")
    python = ".".join(map(str, sys.version_info[:3]))
    return Found("ok", f"fints {__version__} on Python {python}, {len(held)} requirements met")


def torch(patient: Patient) -> Found:
    """Find out whether torch computes, and on what."""
    import torch as library

    product = library.ones(8, 8) @ library.ones(8, 8)
    if float(product.sum()) != 8.0**3:
        return Found("failed", "torch computes wrongly", "install another build of torch")
    cores, wanted = os.cpu_count() or 1, patient.settings.workers
    device = "a GPU" if library.cuda.is_available() else "the CPU"
    said = f"torch {library.__version__} on {device}; {cores} cores, {wanted.threads} threads for each target"
    if wanted.threads * (wanted.count or 1) > cores:
        return Found("warning", said, "workers.threads × workers.count exceed the cores; lower one of them")
    return Found("ok", said)


def home(patient: Patient) -> Found:
    """Find out whether FINTS_HOME can be written, and how much room there is."""
    root = patient.home.root
    there = next(place for place in (root, *root.parents) if place.exists())
    if unfit := _unfit(root, there):
        return unfit
    if not os.access(there, os.W_OK | os.X_OK):
        return Found("failed", f"{there} cannot be written", "give this user the right to, or set FINTS_HOME")
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return Found("failed", f"{there} lies on a disk that is mounted read-only", "mount it for writing")
    free = shutil.disk_usage(there).free
    said = f"{root}{'' if root.exists() else ' (not made yet)'}, {free / 1e9:.1f} GB free"
    if free < _LITTLE:
        return Found("failed", said, "make room: a night needs half a gigabyte to be safe")
    kind = filesystem(there)
    if kind in _REMOTE:
        return Found(
            "warning", f"{said}, on a network file system ({kind})", "locks may not hold there; take a local disk"
        )
    return Found("warning", said, "make room before long") if free < _ENOUGH else Found("ok", said)


def _unfit(root: Path, there: Path) -> Found | None:
    """Tell of a path that tables cannot lie under, and of a file that lies where a folder is needed."""
    if piece := misread(root):
        return Found("failed", f"{root} has {piece!r} in it: tables cannot lie under it", "set FINTS_HOME to another")
    needed = (there, *(root / name for name in _FOLDERS))
    file = next((place for place in needed if place.exists() and not place.is_dir()), None)
    if file is None:
        return None
    cure = "set FINTS_HOME to a folder" if file == there else "move that file away; the next night makes a folder"
    return Found("failed", f"{file} is no folder", cure)


def filesystem(path: Path) -> str:
    """Return the kind of file system that a path lies on; empty where that is not known."""
    try:
        lines = Path("/proc/mounts").read_text("utf-8").splitlines()
    except OSError:
        return ""
    real, best, kind = str(path.resolve()), "", ""
    for line in lines:
        _, place, found, *_ = line.split(" ")
        mounted = place.encode().decode("unicode_escape")
        inside = real == mounted or real.startswith(mounted.rstrip("/") + "/")
        if inside and len(mounted) >= len(best):
            best, kind = mounted, found
    return kind


def clock(patient: Patient) -> Found:
    """Find out whether the clock runs, and time zones are known."""
    before, began = time.time(), time.monotonic()
    time.sleep(0.05)
    drift = abs((time.time() - before) - (time.monotonic() - began))
    try:
        zone = ZoneInfo("America/New_York")
    except ZoneInfoNotFoundError:
        return Found("failed", "there is no time zone data", "install the package tzdata")
    import datetime

    offsets = [datetime.datetime(*day, tzinfo=zone).utcoffset() for day in (_WINTER, _SUMMER)]
    if offsets != [datetime.timedelta(hours=-5), datetime.timedelta(hours=-4)]:
        return Found("failed", "the time zone data are wrong about New York", "upgrade the package tzdata")
    said = f"{patient.now:%Y-%m-%d %H:%M:%S} UTC"
    newest = _newest_file(patient)
    if newest > patient.now.timestamp() + 60:
        return Found("failed", f"{said}, but files of the home are newer", "set the clock right (NTP)")
    if drift > 1:
        return Found("warning", f"{said}; it was set while it was looked at", "look at what sets the clock")
    return Found("ok", said)


def _newest_file(patient: Patient) -> float:
    """When the home's newest report or database was written."""
    places = [patient.home.root / "mlflow.db", *(patient.home.reports / "nightly").glob("*.html")]
    return max((place.stat().st_mtime for place in places if place.exists()), default=0.0)


def locks(patient: Patient) -> Found:
    """Find out whether another run is at work, and whether killed ones left drafts behind."""
    held = [name for name in (".lock", "store/.lock") if _held(patient.home.root / name)]
    if held:
        return Found(
            "warning", f"another run is at work in {patient.home.root}", "let it end; see `ps`, if it seems stuck"
        )
    places = [patient.home.root.glob(name) for name in _DRAFTS]
    for folder in (patient.home.models, patient.home.plans, patient.home.reports, patient.home.root / "verification"):
        places += [folder.rglob(name) for name in _DRAFTS]
    old = [path for path in chain.from_iterable(places) if _written(path) < patient.now.timestamp() - 86_400]
    if old:
        return Found(
            "warning", f"{len(old)} drafts of killed runs, such as {old[0]}", "delete them; nothing reads them"
        )
    return Found("ok", "no run is at work, and none left anything behind")


def _written(path: Path) -> float:
    """When a file was written; now, where a run has just moved it into its place."""
    try:
        return path.stat().st_mtime
    except OSError:
        return math.inf


def _held(path: Path) -> bool:
    """Whether a process holds a lock; nothing is created, and a lock that is free is free afterwards."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return False
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):  # the check of the home tells of one that is no folder
        return False
    except BlockingIOError:
        return True
    return False


def disk(patient: Patient) -> Found:
    """Say what the home takes, folder by folder."""
    until, sizes, whole = time.monotonic() + _WALK_SECONDS, [], True
    for name in _FOLDERS:
        size = 0
        for found in _sizes(patient.home.root / name):
            size += found
            if time.monotonic() > until:
                whole = False
                break
        if size:
            sizes.append(f"{name} {size / 1e6:.0f} MB")
    said = ", ".join(sizes) or "nothing is kept yet"
    return Found("ok", said if whole else f"at least {said}")


def _sizes(folder: Path) -> Iterator[int]:
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                yield (Path(place) / name).lstat().st_size
            except OSError:  # gone in the meantime
                continue
