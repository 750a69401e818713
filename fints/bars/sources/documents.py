"""Tables out of files: CSV and Parquet, single, in folders, or in zip archives that are never unpacked to disk."""

from __future__ import annotations

import csv
import io
import lzma
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

import pandas as pd

from fints.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CSV: Final = (".csv", ".txt", ".tsv")
_PARQUET: Final = (".parquet", ".pq")
_ZIP: Final = ".zip"
_UNREADABLE: Final = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_LARGE: Final = 64 * 2**20  # bytes
_DENSEST: Final = 100  # bytes for each of an archive; tables of bars come to ten
_SEPARATORS: Final = (";", "\t", "|", ",")


@dataclass(frozen=True, slots=True)
class Document:
    """One table of a file or of an archive's member.

    Attributes
    ----------
    where : str
        For messages: the path, and the member in an archive.
    stem : str
        Name without folder and ending: the symbol, where no column says it.
    path : pathlib.Path
        File on disk.
    member : str or None
        Member of an archive.
    """

    where: str
    stem: str
    path: Path
    member: str | None = None

    def read(self, separator: str | None) -> pd.DataFrame:
        """Read the table; every column of a CSV as text, so that tickers and numbers keep their spelling.

        Raises
        ------
        SourceError
            The file cannot be read as what its ending says.
        """
        if legible(self.path.name) != self.path.name:
            raise SourceError(f"{self.where} has a name that is not UTF-8, which no symbol can be; rename the file")
        try:
            content = self._content()
            if _ending(self.member or self.path.name) in _PARQUET:
                return pd.read_parquet(io.BytesIO(content))
            return read_csv(content, separator)
        except _UNREADABLE as error:
            raise SourceError(f"{self.where} cannot be read: {error}") from error

    def _content(self) -> bytes:
        if self.member is None:
            return self.path.read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(self.member)


def find_documents(path: Path) -> list[Document]:
    """List the tables at a path.

    Parameters
    ----------
    path : pathlib.Path
        A file (CSV, Parquet, zip) or a folder; of a folder every such file below it, except hidden ones.

    Raises
    ------
    ConfigError
        There is nothing at the path, or no table in it.
    """
    if not path.exists():
        raise ConfigError(f"there is no file or folder {path}; set the option `path` of the source")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    found = [document for file in files for document in documents_in(file, path)]
    if not found:
        raise ConfigError(f"{path} holds no table; what is read are files {', '.join((*_CSV, *_PARQUET, _ZIP))}")
    return found


def documents_in(file: Path, root: Path) -> Iterator[Document]:
    """List the tables of one file below ``root``: itself, or an archive's members; of a hidden or other file none.

    Raises
    ------
    SourceError
        It is called an archive and is none.
    """
    told = legible(str(file))
    hidden = file != root and any(part.startswith(".") for part in file.relative_to(root).parts)
    if hidden:
        return
    if _ending(file.name) == _ZIP:
        try:
            with zipfile.ZipFile(file) as archive:
                found = [info for info in archive.infolist() if not info.is_dir()]
        except _UNREADABLE as error:
            raise SourceError(f"{told} cannot be read as a zip archive: {error}") from error
        _refuse_bomb(sum(info.file_size for info in found), file)
        for member in sorted(info.filename for info in found):
            name = PurePosixPath(member)
            if (
                _ending(name.name) in (*_CSV, *_PARQUET)
                and not name.name.startswith(".")
                and "__MACOSX" not in name.parts
            ):
                yield Document(f"{told}:{member}", _stem(name.name), file, member)
    elif _ending(file.name) in (*_CSV, *_PARQUET):
        yield Document(told, legible(_stem(file.name)), file)


def _refuse_bomb(unpacked: int, file: Path) -> None:
    """Refuse an archive that would fill the memory: no table of bars packs so well, and members may share their bytes.

    What a member unpacks to is never more than the archive says.
    """
    packed = file.stat().st_size
    if unpacked > _LARGE and unpacked > _DENSEST * packed:
        raise SourceError(
            f"{legible(str(file))} holds {unpacked // 2**20} MB in {packed // 1024} kB, as archives do that are made "
            "to fill a memory; nothing of it was read. If it is meant, unpack it and name its folder as `path`"
        )


def legible(name: str) -> str:
    """Return the name of a file as it can be told: bytes that are not UTF-8, which no table and no page holds, marked.

    Examples
    --------
    >>> legible("SPY.csv")
    'SPY.csv'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def table_kind(name: str) -> Literal["csv", "parquet", "zip"] | None:
    """Say by its ending what a file should be; None where it is no table."""
    ending = _ending(name)
    if ending in _CSV:
        return "csv"
    return "parquet" if ending in _PARQUET else "zip" if ending == _ZIP else None


def read_csv(content: bytes, separator: str | None) -> pd.DataFrame:
    """Read a CSV, every column as text, so that tickers and numbers keep their spelling.

    Raises
    ------
    ValueError
        It is none, or a row is longer than the header.
    """
    text = _decode(content)
    sep = separator or _separator(text)
    with warnings.catch_warnings():
        # pandas cuts rows that are longer than the header, and only warns
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return _parse(text, sep)
        except pd.errors.ParserWarning:
            _refuse_overlong(text, sep)
            warnings.simplefilter("ignore", pd.errors.ParserWarning)
            return _parse(text, sep)


def _parse(text: str, sep: str) -> pd.DataFrame:
    return pd.read_csv(
        io.StringIO(text), sep=sep, dtype=str, keep_default_na=False, skipinitialspace=True, index_col=False
    )


def _refuse_overlong(text: str, sep: str) -> None:
    """Refuse rows with more fields than the header; separators at the end of a row are none."""
    rows = csv.reader(io.StringIO(text), delimiter=sep, skipinitialspace=True)
    try:
        width = len(next(rows))
        for row in rows:
            if any(row[width:]):
                raise ValueError(
                    f"line {rows.line_num} has {len(row)} fields and the header {width}; quote numbers that hold the "
                    f"separator {sep!r}, or set `separator`"
                )
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: {error}") from error


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.casefold()


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _separator(text: str) -> str:
    header = text.split("\n", 1)[0]
    return max(_SEPARATORS, key=header.count) if any(s in header for s in _SEPARATORS) else ","
