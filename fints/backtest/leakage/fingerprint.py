"""Every number that a fitted model holds, by where it lies."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SKIPPED = (FunctionType, MethodType, BuiltinFunctionType, ModuleType, type)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, pd.Timestamp, pd.Timedelta)
_DEEPEST = 24


def fingerprint(value: object) -> dict[str, str]:
    """Hash every leaf of a value, bit by bit.

    Parameters
    ----------
    value : object
        Numbers, text, arrays, tensors, frames, and whatever holds them: containers, dataclasses, objects with
        attributes. Functions, classes and modules are passed over.

    Returns
    -------
    dict of str to str
        From a path such as ``_fits[^GSPC].bands.offsets`` to a hash.
    """
    return {path: hashlib.blake2b(content, digest_size=12).hexdigest() for path, content in _leaves(value, "", ())}


def _leaves(value: object, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, bytes]]:
    if isinstance(value, _SKIPPED) or id(value) in above or len(above) > _DEEPEST:
        return
    content = _content(value)
    if content is not None:
        yield path, content
        return
    for name, part in _parts(value).items():
        inner = name if name.startswith("[") or not path else f".{name}"
        yield from _leaves(part, path + inner, (*above, id(value)))


def _content(value: object) -> bytes | None:
    """Return the bytes of a leaf; None for what has parts."""
    if isinstance(value, float):
        return np.float64(value).tobytes()
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}".encode()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return _of_array(value)
    if hasattr(value, "detach"):
        tensor: Any = value
        still = tensor.detach().cpu()
        return _of_array(np.asarray(still.double() if still.is_floating_point() else still))
    if isinstance(value, set | frozenset):
        return repr(sorted(map(repr, value))).encode()
    return None


def _of_array(array: np.ndarray) -> bytes:
    return f"{array.dtype} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes()


def _parts(value: object) -> Mapping[str, object]:
    """Return what a value is made of, by name."""
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return _columns(value)
    if hasattr(value, "state_dict"):
        module: Any = value
        return dict(module.state_dict())
    if hasattr(value, "items"):
        mapping: Any = value
        return {f"[{key}]": part for key, part in mapping.items()}
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        return {f"[{i}]": part for i, part in enumerate(value)}
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return _attributes(value)


def _columns(table: pd.DataFrame | pd.Series | pd.Index) -> Mapping[str, object]:
    if isinstance(table, pd.DataFrame):
        return {f"[{name}]": _column(table[name]) for name in table.columns}
    return {"[values]": _column(table)}


def _column(column: pd.Series | pd.Index) -> np.ndarray:
    """Return a column as an array of numbers; text and mixed values by their hash."""
    values = column.to_numpy()
    if values.dtype == object or isinstance(column.dtype, pd.api.extensions.ExtensionDtype):
        return np.asarray(pd.util.hash_array(np.array([repr(v) for v in values], dtype=object), categorize=False))
    return np.asarray(values)


def _attributes(value: object) -> Mapping[str, object]:
    slots = [name for kind in type(value).__mro__ for name in np.atleast_1d(getattr(kind, "__slots__", ()))]
    held = {str(name): getattr(value, str(name)) for name in slots if hasattr(value, str(name))}
    return {**held, **getattr(value, "__dict__", {})}
