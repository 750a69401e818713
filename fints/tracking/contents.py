"""What is logged, before MLflow has it: settings, figures, files, data."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Curves = "Mapping[str, Mapping[int, float]]"
Content = "str | bytes | pd.DataFrame"

_DIGEST_LENGTH = 36
_TIMES = "mMO"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The data that a run worked on.

    Parameters
    ----------
    name : str
    version : str
        Tells this state of the data from any other one.
    source : str
        Where they come from.
    rows : int
    columns : tuple of str
    """

    name: str
    version: str
    source: str
    rows: int
    columns: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, str]:
        """Return the fields of MLflow's dataset; those that hold structure are JSON."""
        columns = [{"type": "string", "name": name, "required": True} for name in self.columns]
        return {
            "name": self.name,
            "digest": self.version[:_DIGEST_LENGTH],
            "source_type": "fints",
            "source": json.dumps({"uri": self.source, "version": self.version}),
            "schema": json.dumps({"mlflow_colspec": columns}),
            "profile": json.dumps({"num_rows": self.rows}),
        }


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Flatten nested settings into dotted keys, for `Run.log_params`."""
    out: dict[str, object] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            out |= flat(value, f"{prefix}{key}.")
        else:
            out[f"{prefix}{key}"] = value
    return out


def split_finite(
    curves: Mapping[str, Mapping[int, float]],
) -> tuple[list[tuple[str, int, float]], dict[str, float]]:
    """Take apart what MLflow can keep, and what it would drop or bend.

    Parameters
    ----------
    curves : mapping of str to mapping of int to float

    Returns
    -------
    points : list of (str, int, float)
        Name, step and value.
    odd : dict of str to float
        The last value that is not finite, by name.
    """
    points = [(key, int(step), float(value)) for key, curve in curves.items() for step, value in curve.items()]
    odd = {key: value for key, _, value in points if not math.isfinite(value)}
    return [point for point in points if math.isfinite(point[2])], odd


def write(content: str | bytes | pd.DataFrame, path: Path) -> None:
    """Write a text, bytes, or a table: as Parquet or CSV if the name says so, else as the JSON that MLflow shows.

    Parameters
    ----------
    content : str, bytes or pandas.DataFrame
    path : Path
        Its folder is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case str():
            path.write_text(content, encoding="utf-8")
        case bytes():
            path.write_bytes(content)
        case pd.DataFrame() if path.suffix == ".parquet":
            content.to_parquet(path, index=False)
        case pd.DataFrame() if path.suffix == ".csv":
            content.to_csv(path, index=False)
        case pd.DataFrame():
            plain = content.astype({c: str for c in content.columns if content[c].dtype.kind in _TIMES})
            plain.to_json(path, orient="split", index=False, date_format="iso")
