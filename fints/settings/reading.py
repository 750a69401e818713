"""From a YAML file and overrides to settings, with every fault named."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import ValidationError

from fints.errors import ConfigError
from fints.settings.faults import in_words, misread_switches
from fints.settings.nightly import NightlySettings
from fints.settings.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

S = TypeVar("S", bound=Section)

_MOST = 100_000
"""Values of a file of settings, far more than one holds."""
_CURE = "put a value that is meant as it stands into quotes"
_KINDS: Mapping[type[yaml.YAMLError], str] = MappingProxyType(
    {
        yaml.constructor.ConstructorError: f"a tag (!) that is not known, or does not fit its value; {_CURE}",
        yaml.composer.ComposerError: f"a name (& or *) that is missing or there twice, or a new text (---); {_CURE}",
        yaml.parser.ParserError: "a bracket, a comma or an indent that is not as YAML wants it",
        yaml.scanner.ScannerError: f"a sign that YAML does not take there; {_CURE}",
        yaml.reader.ReaderError: "a character that no text file holds",
    }
)
"""What is said of a fault: YAML's own words hold a part of the value, which may be a secret."""


class _TwiceError(yaml.YAMLError):
    """A key stands twice."""


class _EndlessError(yaml.YAMLError):
    """Names (``&``, ``*``) that stand for each other without end, or for more than anybody writes."""


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML would silently take the last."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None:
            _size(node, {})
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        seen: set[str] = set()
        for key in keys:
            if key.value in seen:
                raise _TwiceError(f"the key {key.value!r} stands twice, again in line {key.start_mark.line + 1}")
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


def _size(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Count the values of a node, names written out, as everything that goes through settings does.

    Raises
    ------
    _EndlessError
        There are too many, or a name stands within itself.
    """
    if node in known:
        if known[node] == 0:
            raise _EndlessError(
                f"a name (& and *) stands within what it names, from line {node.start_mark.line + 1} on"
            )
        return known[node]
    known[node] = 0
    inner = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        inner = [each for pair in node.value for each in pair]
    found = 1 + sum(_size(each, known) for each in inner)
    if found > _MOST:
        raise _EndlessError(f"with its names (& and *) written out it holds more than {_MOST} values")
    known[node] = found
    return found


def _told(error: yaml.YAMLError) -> str:
    """Say what kind of fault it is and where, without a word of what was written: it may be a secret."""
    if isinstance(error, _TwiceError | _EndlessError):
        return str(error)
    said = next((words for kind, words in _KINDS.items() if isinstance(error, kind)), "it is no YAML")
    mark = error.problem_mark or error.context_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return said if mark is None else f"{said}; in line {mark.line + 1}, column {mark.column + 1}"


def _parse(text: str) -> Any:  # noqa: ANN401
    try:
        return yaml.load(text, _Loader)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # of a value that is not what its tag says (`!!int x`, a 30th of February), or nested beyond measure
        raise yaml.constructor.ConstructorError(None, None, None, None) from None


def _put(value: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into nested settings."""
    key, separator, text = override.partition("=")
    if not separator or not key.strip():
        raise ConfigError("--set takes key=value; one has no key before a `=`")
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
