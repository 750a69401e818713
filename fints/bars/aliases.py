"""Former names of symbols, and where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping


def followed(aliases: Mapping[str, str]) -> dict[str, str]:
    """Return the present name of every former one.

    Parameters
    ----------
    aliases : mapping from former to later symbol
        A later name may itself be a former one.

    Raises
    ------
    ConfigError
        The names lead in a circle.
    """
    found = {}
    for former in aliases:
        name, passed = former, {former}
        while name in aliases:
            name = aliases[name]
            if name in passed:
                raise ConfigError(f"aliases: {former!r} leads back to itself; each former name needs a present one")
            passed.add(name)
        found[former] = name
    return found
