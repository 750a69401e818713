"""One Delta Lake table of the store: created once, appended to, or replaced by whole partitions.

Every write is a single Delta transaction: a process killed at any instant leaves the last complete version. A
replacement names the partitions it covers and nothing else, so that no value of the data (a symbol, a target) is ever
spelled in a predicate. Log clean-up is off: every version stays readable for ever.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fints.bars.damage import damage_in_words
from fints.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from deltalake import DeltaTable, WriterProperties
    from pyarrow.compute import Expression
    from pyarrow.dataset import Dataset

_LOG: Final = "_delta_log"
_KEEP_EVERY_VERSION: Final = {
    "delta.enableExpiredLogCleanup": "false",
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
}
_ROW_GROUP: Final = 32_768  # rows; small enough that one symbol of a year touches few groups


@dataclass(frozen=True, slots=True)
class StoreTable:
    """A Delta table with a fixed schema.

    Attributes
    ----------
    path : pathlib.Path
        Its folder.
    schema : pyarrow.Schema
        Columns and types, partition columns included.
    partitions : tuple of str
        Partition columns, from coarse to fine.
    """

    path: Path
    schema: pa.Schema
    partitions: tuple[str, ...] = ()

    def exists(self) -> bool:
        """Say whether a first version was committed.

        Raises
        ------
        StoreError
            Data lie there without any commit: something else wrote them, or a copy was cut short.
        """
        if any((self.path / _LOG).glob("*.json")) or any((self.path / _LOG).glob("*.checkpoint*.parquet")):
            return True
        if self.path.is_file() or (self.path.is_dir() and any(self.path.rglob("*.parquet"))):
            raise StoreError(
                f"{self.path} holds data but no transaction log: a copy was cut short, or something else wrote it. "
                "Restore the folder from a backup, or move it away; nothing was changed"
            )
        return False

    def create(self) -> None:
        """Write version 0, without rows, unless the table exists."""
        if self.exists():
            return
        from deltalake import DeltaTable

        with told(f"create the table {self.path}"):
            DeltaTable.create(
                str(self.path),
                self.schema,
                mode="ignore",
                partition_by=list(self.partitions),
                configuration=dict(_KEEP_EVERY_VERSION),
            )

    def at(self, version: int | None = None) -> DeltaTable:
        """Open the table, at its newest version by default.

        Raises
        ------
        StoreError
            The version does not exist, or the log cannot be read.
        """
        from deltalake import DeltaTable

        with told(f"open the table {self.path}"):
            table = DeltaTable(str(self.path))
            held = {field.name for field in table.schema().fields}
        lacking = [name for name in self.schema.names if name not in held]
        if lacking:
            raise StoreError(
                f"the table {self.path} has no column {lacking[0]!r}: a fints from before it was released wrote it. "
                "Move the folder away to begin it anew; nothing was changed"
            )
        newest = table.version()
        if version is None or version == newest:
            return table
        if not 0 <= version < newest:
            raise StoreError(f"{self.path} has no version {version}; its versions are 0 to {newest}")
        with told(f"open version {version} of {self.path}"):
            table.load_as_version(version)
        return table

    def version(self) -> int:
        """Return the newest version; 0 also where the table is still to be created."""
        return int(self.at().version()) if self.exists() else 0

    def committed_at(self, version: int) -> int:
        """Return when a version was committed, in milliseconds of Unix time.

        Raises
        ------
        StoreError
            The version does not exist.
        """
        self.at(version)  # raises where there is none
        # the history of a table opened at an older version numbers its entries wrongly (deltalake 1.6)
        return int(next(entry["timestamp"] for entry in self.at().history() if entry["version"] == version))

    def rows(
        self, where: Expression | None = None, *, columns: Sequence[str] | None = None, version: int | None = None
    ) -> pa.Table:
        """Read rows.

        Parameters
        ----------
        where : pyarrow.compute.Expression, optional
            Filter; values enter it as literals, so that any text is safe.
        columns : sequence of str, optional
            Columns wanted; all by default.
        version : int, optional
            The newest by default.
        """
        if not self.exists():
            if version:
                raise StoreError(f"{self.path} has no version {version}; nothing was committed yet")
            return self.schema.empty_table().select(list(columns or self.schema.names))
        table = self._dataset(version)
        with self._reading(version):
            return table.to_table(columns=list(columns or self.schema.names), filter=where)

    def files(self, version: int | None = None) -> dict[str, dict[str, Any]]:
        """Return the data files of a version, from path (relative to the folder) to partition values and row count."""
        import pyarrow as pa

        if not self.exists():
            return {}
        actions = pa.table(self.at(version).get_add_actions(flatten=True)).to_pylist()
        return {action["path"]: action for action in actions}

    def rows_outside(self, paths: Iterable[str], *, version: int | None = None) -> pa.Table:
        """Read the rows of every data file of a version except those of ``paths``."""
        from pyarrow.dataset import FileSystemDataset

        if not self.exists():
            return self.schema.empty_table()
        left_out = set(paths)
        whole = self._dataset(version)
        fragments = [fragment for fragment in whole.get_fragments() if fragment.path not in left_out]
        with self._reading(version):
            rows = FileSystemDataset(fragments, whole.schema, whole.format, whole.filesystem).to_table()
            return rows.select(self.schema.names)

    def _dataset(self, version: int | None) -> Dataset:
        """Open a version for reading.

        Through the file system of Arrow: that of Delta Lake is Python's, and Arrow's threads still let go of it when an
        interpreter ends that has just read, which is an abort ("terminate called without an active exception").
        """
        from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

        own = SubTreeFileSystem(str(self.path), LocalFileSystem())
        return self.at(version).to_pyarrow_dataset(filesystem=own)

    @contextmanager
    def _reading(self, version: int | None) -> Iterator[None]:
        """Say of what cannot be read which files are damaged, whose rows they hold, and the cure."""
        try:
            with told(f"read {self.path}"):
                yield
        except StoreError as error:
            damage = damage_in_words(self.path, self.files(version))
            if not damage:
                raise
            raise StoreError(damage) from error

    def append(self, rows: pa.Table | pa.RecordBatchReader, *, to: DeltaTable | None = None) -> int:
        """Add rows in one transaction and return the new version; of a reader no more is held than it yields."""
        return self._write(rows, to, mode="append")

    def replace(
        self,
        rows: pa.Table | pa.RecordBatchReader,
        parts: Sequence[Mapping[str, str | int]],
        *,
        to: DeltaTable | None = None,
    ) -> int:
        """Put ``rows`` in the place of everything in the partitions ``parts``, in one transaction.

        Parameters
        ----------
        rows : pyarrow.Table or pyarrow.RecordBatchReader
            All rows that these partitions are to hold.
        parts : sequence of dict
            One dict per partition, from partition column to value; empty replaces the whole table.
        to : deltalake.DeltaTable, optional
            The version that ``rows`` were derived from: a commit made by someone else since then fails this one.

        Returns
        -------
        int
            The new version.
        """
        clauses = (" AND ".join(f'"{name}" = {_literal(part[name])}' for name in self.partitions) for part in parts)
        predicate = " OR ".join(f"({clause})" for clause in clauses) or None
        return self._write(rows, to, mode="overwrite", predicate=predicate)

    def _write(self, rows: pa.Table | pa.RecordBatchReader, to: DeltaTable | None, **how: str | None) -> int:
        import pyarrow as pa
        from deltalake import write_deltalake

        table = self.at() if to is None else to
        data = rows.select(self.schema.names) if isinstance(rows, pa.Table) else rows
        with told(f"write to {self.path}", left="The last complete version is untouched"):
            write_deltalake(table, data, writer_properties=_writer(self.schema), **how)
            table.update_incremental()
        return int(table.version())


@contextmanager
def told(doing: str, left: str = "Nothing was changed") -> Iterator[None]:
    """Turn what Delta Lake and the file system raise into a :class:`~fints.errors.StoreError`.

    Parameters
    ----------
    doing : str
        What was tried, as it goes on behind "could not".
    left : str
        What became of the data.
    """
    import pyarrow as pa
    from deltalake.exceptions import DeltaError

    try:
        yield
    except PermissionError as error:
        raise StoreError(f"could not {doing}: permission denied. Make the folder writable") from error
    except (DeltaError, pa.ArrowException, OSError) as error:
        raise StoreError(
            f"could not {doing}: {str(error).rstrip('. ')}. {left}; look at the folder's permissions and disk space, "
            "or restore a damaged folder from a backup"
        ) from error


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _writer(schema: pa.Schema) -> WriterProperties:
    """Parquet settings: prices hardly repeat, and trying to build dictionaries of them doubles the time to write."""
    import pyarrow as pa
    from deltalake import ColumnProperties, WriterProperties

    plain = ColumnProperties(dictionary_enabled=False)
    numbers = {field.name: plain for field in schema if pa.types.is_float64(field.type) or field.name == "volume"}
    return WriterProperties(compression="SNAPPY", max_row_group_size=_ROW_GROUP, column_properties=numbers)
