"""From a YAML file and overrides to settings, with every fault named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import ValidationError

from fints.errors import ConfigError
from fints.settings.faults import in_words, misread_switches
from fints.settings.nightly import NightlySettings
from fints.settings.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

S = TypeVar("S", bound=Section)

_SHOWN = 8
"""Letters that are repeated of what may be a secret in the wrong place."""


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        seen: set[str] = set()
        for key in keys:
            if key.value in seen:
                raise yaml.YAMLError(f"the key {key.value!r} stands twice, again in line {key.start_mark.line + 1}")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


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
    where = f" in {path}" if path is not None else ""
    try:
        settings = kind.model_validate(value)
    except ValidationError as error:
        # not `from error`: pydantic repeats what was written, which may be a secret
        raise ConfigError(f"the settings{where} do not fit: {in_words(error, kind)}") from None
    misread = "; ".join(misread_switches(value, settings))
    if misread:
        raise ConfigError(f"the settings{where} do not fit: {misread}")
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        value = _parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no settings file {path}; check --config") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"the settings file {path} cannot be read: {_told(error)}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the settings file {path} cannot be read: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"the settings file {path} holds a {type(value).__name__}; write `key: value` lines")
    return value


def _told(error: yaml.YAMLError) -> str:
    """Say what is wrong and where, without the lines around it: they may hold a secret."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem:
        mark = error.problem_mark or error.context_mark
        return error.problem + (f" in line {mark.line + 1}, column {mark.column + 1}" if mark is not None else "")
    return str(error)


def _parse(text: str) -> Any:  # noqa: ANN401
    return yaml.load(text, _Loader)


def _put(value: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into nested settings."""
    key, separator, text = override.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"--set takes key=value; what begins with {override[:_SHOWN]!r} has no key before a `=`")
    try:
        new = _parse(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"the value of --set {key} cannot be read as YAML: {_told(error)}") from None
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
