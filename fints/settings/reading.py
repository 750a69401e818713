"""From a YAML file and overrides to settings, with every fault named."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from fints.errors import ConfigError
from fints.settings.nightly import NightlySettings
from fints.settings.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails

S = TypeVar("S", bound=Section)


def load_settings(path: Path | None = None, overrides: Iterable[str] = ()) -> NightlySettings:
    """Read the settings of a night; see `read_settings`."""
    return read_settings(NightlySettings, path, overrides)


def read_settings(kind: type[S], path: Path | None = None, overrides: Iterable[str] = ()) -> S:
    """Read settings.

    Parameters
    ----------
    kind : type
        `NightlySettings`, `BacktestSettings` …
    path : Path, optional
        A YAML file; defaults where it is silent, and throughout if there is none.
    overrides : iterable of str
        ``key=value`` with dots for nested keys; values are YAML: ``h=10``, ``encoding.kind=rope``.

    Raises
    ------
    ConfigError
        If the file cannot be read, a key is unknown, or a value does not fit; every offender is named.
    """
    value = _read(path) if path is not None else {}
    for override in overrides:
        _put(value, override)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        where = f" in {path}" if path is not None else ""
        faults = "; ".join(_in_words(e, kind) for e in error.errors())
        raise ConfigError(f"the settings{where} do not fit: {faults}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no settings file {path}; check --config") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"the settings file {path} holds a {type(value).__name__}; write `key: value` lines")
    return value


def _put(value: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into nested settings."""
    key, separator, text = override.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"--set takes key=value; got {override!r}")
    try:
        new = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"the value of --set {key} is not YAML: {error}") from error
    *parents, last = key.strip().split(".")
    place = value
    for parent in parents:
        inner = place.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set {key}: {parent} is a single value and has no keys inside")
        place = inner
    if last == "kind" and place.get("kind", new) != new:
        place.clear()
    place[last] = new


def _in_words(error: ErrorDetails, kind: type[Section]) -> str:
    """Say what is wrong with one key, with the closest known one where it is unknown."""
    place = [str(part) for part in error["loc"]]
    name = ".".join(place)
    if error["type"] != "extra_forbidden":
        return f"{name}: {error['msg'].removeprefix('Value error, ')} (got {error['input']!r})"
    known = _keys_beside(place, kind)
    close = get_close_matches(place[-1], known, n=1)
    hint = f", did you mean {close[0]!r}" if close else ""
    return f"unknown key {name!r}{hint} (known here: {', '.join(known) or 'see the documentation'})"


def _keys_beside(place: list[str], kind: type[Section]) -> list[str]:
    """Return the keys that exist where an unknown one was found."""
    inside: Any = kind
    for part in place[:-1]:
        if hasattr(inside, "model_fields"):
            inside = getattr(inside.model_fields.get(part), "annotation", None)
        elif not part.isdigit():  # a place in a list leads to one of its members
            inside = next((m for m in _members(inside) if "kind" in m.model_fields and _kind(m) == part), None)
    return sorted(inside.model_fields) if hasattr(inside, "model_fields") else []


def _kind(model: type[BaseModel]) -> object:
    return model.model_fields["kind"].default


def _members(union: object) -> list[type[BaseModel]]:
    """Models of a union that is told apart by ``kind``."""
    every = [member for argument in get_args(union) for member in (argument, *_members(argument))]
    return [member for member in every if hasattr(member, "model_fields")]
