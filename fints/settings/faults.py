"""Faults of settings in words, with the closest known name beside an unknown one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from fints.settings.section import Section

#: Keys under which an address or a token stands, whose value is never repeated.
_GUARDED: Final = ("url", "uri", "token", "webhook", "pass", "secret", "api", "auth", "credential")

#: Sections with such keys: a text in the place of one may be meant for a key inside.
_SECTIONS: Final = ("tracking", "alerts")


def in_words(error: ValidationError, kind: type[Section]) -> str:
    """Say everything that is wrong with some settings.

    Parameters
    ----------
    error : pydantic.ValidationError
    kind : type
        Of the settings.
    """
    faults = error.errors()
    return "; ".join(_fault(fault, kind) for fault in faults if not _follows(fault, faults))


def misread_switches(value: object, read: object, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Name every true and false that was read as a number.

    Parameters
    ----------
    value : object
        Plain values, as they were written.
    read : object
        What became of them.
    place : tuple of str
        Keys that lead here.
    """
    if isinstance(value, bool) and isinstance(read, int | float) and not isinstance(read, bool):
        yield f"{'.'.join(place)}: a number is wanted, not {str(value).lower()}"
    elif isinstance(value, dict) and isinstance(read, BaseModel):
        for key, inner in value.items():
            yield from misread_switches(inner, getattr(read, str(key), None), (*place, str(key)))
    elif isinstance(value, list) and isinstance(read, tuple):
        for i, (inner, one) in enumerate(zip(value, read, strict=False)):
            yield from misread_switches(inner, one, (*place, str(i)))


def _follows(fault: ErrorDetails, faults: Sequence[ErrorDetails]) -> bool:
    """Tell whether a list is called too short only because entries of it were faulty."""
    place = fault["loc"]
    inside = any(len(other["loc"]) > len(place) and other["loc"][: len(place)] == place for other in faults)
    return fault["type"] == "too_short" and inside


def _fault(fault: ErrorDetails, kind: type[Section]) -> str:
    """Say what is wrong with one key."""
    place = [str(part) for part in fault["loc"]]
    name = ".".join(place)
    match fault["type"]:
        case "extra_forbidden":
            known = _keys_beside(place, kind)
            return f"unknown key {name!r}{_suggestion(place[-1], known) or ' (see the documentation)'}"
        case "union_tag_invalid":
            known = [choice.strip("'") for choice in fault["ctx"]["expected_tags"].split(", ")]
            tag = fault["ctx"]["tag"]
            return f"{name}: unknown kind {tag!r}{_suggestion(tag, known)}"
        case "union_tag_not_found":
            return f"{name}: it needs a kind{_got(fault)}"
        case _:
            said = fault["msg"].removeprefix("Value error, ")
            # What is wrong with settings as a whole is said without repeating all of them.
            return f"{name}: {said}{_got(fault)}" if place else said


def _got(fault: ErrorDetails) -> str:
    """Repeat what was written, unless a secret may be in it: these words go into logs and mails."""
    place = [str(part) for part in fault["loc"]]
    inside = "http" in place or place == ["source"] or any(map(_guarded, place))
    misplaced = place[0] in _SECTIONS and isinstance(fault["input"], str | dict | list)
    return "" if inside or misplaced or _holds_secret(fault["input"]) else f" (got {fault['input']!r})"


def _guarded(key: object) -> bool:
    return str(key).casefold().startswith(_GUARDED)


def _holds_secret(value: object) -> bool:
    if isinstance(value, dict):
        return any(_guarded(key) or _holds_secret(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return any(map(_holds_secret, value))
    return isinstance(value, str) and "://" in value


def _suggestion(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(name, names, n=1)
    hint = f", did you mean {close[0]!r}" if close else ""
    return f"{hint} (known here: {', '.join(names)})" if names else ""


def _keys_beside(place: list[str], kind: type[Section]) -> list[str]:
    """Return the keys that exist where an unknown one was found."""
    inside: Any = kind
    for part in place[:-1]:
        if hasattr(inside, "model_fields"):
            inside = getattr(inside.model_fields.get(part), "annotation", None)
        elif part.isdigit():  # a place in a list leads to its member, if there is one kind of them
            inside = members[0] if len(members := _members(inside)) == 1 else inside
        else:
            inside = next((m for m in _members(inside) if "kind" in m.model_fields and _kind(m) == part), None)
    return sorted(inside.model_fields) if hasattr(inside, "model_fields") else []


def _kind(model: type[BaseModel]) -> object:
    return model.model_fields["kind"].default


def _members(union: object) -> list[type[BaseModel]]:
    """Models of a union that is told apart by ``kind``."""
    every = [member for argument in get_args(union) for member in (argument, *_members(argument))]
    return [member for member in every if isinstance(member, type) and hasattr(member, "model_fields")]
