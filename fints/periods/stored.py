"""What a search found, as bytes that hold it exactly: arrays by safetensors, the rest as JSON, no pickle."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.errors import BundleError
from fints.periods.background import Background
from fints.periods.leverage import Leverage
from fints.periods.lines import LineFit, Tone
from fints.periods.peeling import Peeled
from fints.periods.result import Line, Periods
from fints.periods.samples import Samples
from fints.periods.search import Peak, Search
from fints.series import SeriesProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
"""Version of the layout. A reader refuses any other one."""

_KINDS: Mapping[str, type] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (Background, Leverage, Line, LineFit, Peak, Peeled, Periods, Samples, Search, SeriesProblem, Tone)
    }
)


def to_bytes(found: Periods) -> bytes:
    """Write down what a search found, spectra and amplitudes of its figures included."""
    from safetensors.numpy import save

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    plain = json.dumps({"format": FORMAT, "found": _plain(found, arrays)})
    return bytes(save({"format": np.array([FORMAT]), **arrays}, metadata={"plain": plain}))


def from_bytes(content: bytes) -> Periods:
    """Read what `to_bytes` wrote.

    Raises
    ------
    BundleError
        If it is something else, damaged, or of another version.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        plain = json.loads(header["__metadata__"]["plain"])
        known = plain["format"] == FORMAT
        found = _rebuilt(plain["found"], load(content)) if known else f"of format {plain['format']}"
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"what a search found cannot be read: {error!r}; search again") from error
    if not isinstance(found, Periods):
        raise BundleError(f"what a search found cannot be read: it is {type(found).__name__}; search again")
    return found


def _plain(value: object, arrays: dict[str, np.ndarray[Any, Any]]) -> object:
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        arrays[name] = np.ascontiguousarray(value)
        return {"array": name}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: getattr(value, part.name) for part in fields(value) if not part.name.startswith("_")}
        return {"kind": type(value).__name__, "of": {name: _plain(part, arrays) for name, part in parts.items()}}
    if isinstance(value, tuple | list):
        return {"tuple": [_plain(part, arrays) for part in value]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {"mapping": {str(name): _plain(part, arrays) for name, part in dict(value).items()}}  # type: ignore[call-overload]


def _rebuilt(plain: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:  # noqa: ANN401
    if not isinstance(plain, dict):
        return plain
    if "array" in plain:
        return arrays[plain["array"]]
    if "tuple" in plain:
        return tuple(_rebuilt(part, arrays) for part in plain["tuple"])
    if "mapping" in plain:
        return {name: _rebuilt(part, arrays) for name, part in plain["mapping"].items()}
    return _KINDS[plain["kind"]](**{name: _rebuilt(part, arrays) for name, part in plain["of"].items()})
