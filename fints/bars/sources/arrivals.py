"""Which files of a folder that another job fills are there in full, and which are still being written."""

from __future__ import annotations

import csv
import time
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from fints.bars.sources.documents import legible, table_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from fints.bars.sources.config import FolderConfig

#: Endings under which copying programs write a file until it is complete.
UNFINISHED: Final = (".tmp", ".temp", ".part", ".partial", ".filepart", ".crdownload", "~")
_PARQUET_MARK: Final = b"PAR1"
_NANOSECONDS: Final = 1e9


@dataclass(frozen=True, slots=True, order=True)
class Arrival:
    """A file that is there in full; they sort from the oldest to the newest, then by name.

    Attributes
    ----------
    modified : int
        Nanoseconds since the epoch.
    name : str
        Path below the folder, with slashes.
    size : int
        Bytes.
    """

    modified: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A file that is left for the next run.

    Attributes
    ----------
    name : str
        Path below the folder, with slashes.
    stem : str
        What its name will be without folder and ending; empty where that cannot be told.
    reason : str
        Why it was left.
    """

    name: str
    stem: str
    reason: str

    @classmethod
    def of(cls, name: str, reason: str) -> Unfinished:
        """Tell the stem from the name."""
        return cls(legible(name), legible(_stem(name)), reason)

    def note(self) -> str:
        """Return the reason with the file."""
        return f"the file {self.name} was left for the next run: {self.reason}"


@dataclass(frozen=True, slots=True)
class Look:
    """The files of a folder at one moment, in an order that does not depend on how the system lists them."""

    ready: tuple[Arrival, ...]
    left: tuple[Unfinished, ...]


def look_into(config: FolderConfig, pause: Callable[[float], None] = time.sleep) -> Look:
    """List the files that match.

    Parameters
    ----------
    config : FolderConfig
        Folder, pattern, and for how long a file has to lie unchanged.
    pause : callable
        Waits for some seconds; called once, and only where a file is younger than ``config.quiet``.
    """
    ready: list[Arrival] = []
    left: list[Unfinished] = []
    for name in _matching(config):
        reason = _unfinished_name(name)
        if reason:
            left.append(Unfinished.of(name, reason))
        elif table_kind(name) is not None:
            ready += _stat(config.path, name)
    now = time.time_ns()
    if any(now - file.modified < config.quiet * _NANOSECONDS for file in ready):
        pause(config.quiet)
        settled = {again for file in ready for again in _stat(config.path, file.name)}
        names = {file.name for file in settled}
        left += [
            Unfinished.of(file.name, f"it changed within {config.quiet:g} s")
            for file in ready
            if file not in settled and file.name in names
        ]
        ready = [file for file in ready if file in settled]
    return Look(tuple(sorted(ready)), tuple(sorted(left, key=lambda file: file.name)))


def unchanged(file: Arrival, root: Path) -> bool:
    """Say whether a file is still the one that was listed."""
    return _stat(root, file.name) == [file]


def incomplete(path: Path, *, separator: str | None, unterminated: bool) -> str:
    """Say what shows that a file was not written to its end; empty where nothing does.

    Parameters
    ----------
    path : pathlib.Path
        CSV, Parquet or zip.
    separator : str or None
        Of a CSV.
    unterminated : bool
        Whether a CSV may lack the line end of its last line.
    """
    if table_kind(path.name) == "zip":
        return "" if zipfile.is_zipfile(path) else "the directory at the end of the archive is missing"
    content = path.read_bytes()
    if not content:
        return "it is empty"
    if table_kind(path.name) == "parquet":
        whole = len(content) > len(_PARQUET_MARK) and content.endswith(_PARQUET_MARK)
        return "" if whole else "the footer at the end of a Parquet file is missing"
    return _cut_short(content, separator, unterminated=unterminated)


def _cut_short(content: bytes, separator: str | None, *, unterminated: bool) -> str:
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and b"\0" in content:
        return "it holds zero bytes where text should be"
    if content.rstrip(b"\0").endswith((b"\n", b"\r")):
        return ""
    if not unterminated:
        return (
            "its last line has no line end and may be cut short (set `unterminated: true` if its writer never ends "
            "the last line)"
        )
    try:
        lines = content.decode("utf-16" if wide else "latin-1").splitlines()
    except UnicodeDecodeError:
        return "its last character is cut short"
    return _short_line(lines, separator) if lines else "it is empty"


def _short_line(lines: list[str], separator: str | None) -> str:
    sep = separator or max((";", "\t", "|", ","), key=lines[0].count)
    try:
        first, last = (len(next(csv.reader([line], delimiter=sep), [])) for line in (lines[0], lines[-1]))
    except csv.Error:
        return ""  # it is whole, as far as can be told; who reads it will say what is wrong
    return f"its last line has {last} fields and the header {first}" if last < first else ""


def _matching(config: FolderConfig) -> list[str]:
    glob = PurePosixPath(config.glob)
    glob = glob / "*" if glob.name == "**" else glob
    drafts = glob.with_name(f".{glob.name}.*")  # of rsync, see below
    patterns = [str(pattern) for pattern in (glob, *(f"{glob}{ending}" for ending in UNFINISHED), drafts)]
    names = {_below(path, config.path) for pattern in patterns for path in config.path.glob(pattern) if path.is_file()}
    return sorted(name for name in names if not _hidden_folder(name))


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _hidden_folder(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts[:-1])


def _unfinished_name(name: str) -> str:
    """Say why a name stands for a file that is still being written; empty where it does not."""
    path = PurePosixPath(name)
    for part in path.parts:
        ending = next((ending for ending in UNFINISHED if part.casefold().endswith(ending)), None)
        if ending is not None:
            return f"by its name ({ending}) it is still being written"
    # rsync writes .NAME.csv.Xa3d until NAME.csv is complete; other hidden files are nobody's business
    if path.name.startswith(".") and any(table_kind(suffix and f"x{suffix}") for suffix in path.suffixes):
        return "by its name (hidden) it is still being written"
    return ""


def _stem(name: str) -> str:
    """Return the stem that a file will have once it is complete."""
    last = PurePosixPath(name).name
    for ending in UNFINISHED:
        if last.casefold().endswith(ending):
            last = last[: -len(ending)]
    return PurePosixPath(last).stem if table_kind(last) is not None and not last.startswith(".") else ""


def _stat(root: Path, name: str) -> Iterable[Arrival]:
    """Return the file as it is now, or nothing if it is gone."""
    try:
        found = (root / name).stat()
    except FileNotFoundError:
        return []
    return [Arrival(found.st_mtime_ns, name, found.st_size)]
