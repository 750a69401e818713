"""What makes the trials of two runs comparable: the space, the settings, the data."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOG = logging.getLogger(__name__)

_SHOWN = 12


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """What a study searches, on what.

    Parameters
    ----------
    space, settings : mapping
        Plain values: what is searched; folds, base model and objective.
    data : str
        Version of the data.
    code : str
        Version of the code. Another one is told, and not refused.
    """

    space: Mapping[str, object]
    settings: Mapping[str, object]
    data: str = ""
    code: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {key: _plain(value) for key, value in asdict(self).items()}

    def require_same(self, stored: Mapping[str, Any], name: str) -> None:
        """Refuse a study of another space, settings or data.

        Parameters
        ----------
        stored : mapping
            From `to_dict`.
        name : str
            Of the study.

        Raises
        ------
        ConfigError
            With each difference.
        """
        own = self.to_dict()
        decisive = ("space", "settings", "data")
        found = list(_differences({k: stored.get(k) for k in decisive}, {k: own[k] for k in decisive}))
        if found:
            more = f"\n  … and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise ConfigError(
                f"the study {name!r} was begun with something else, and its trials cannot be compared with new ones. "
                "Give this search another name, or change back:\n  " + "\n  ".join(found[:_SHOWN]) + more
            )
        if stored.get("code") != own["code"]:
            LOG.warning(
                "the study %r was begun by version %s of the code, and goes on with %s",
                name,
                stored.get("code") or "unknown",
                own["code"] or "unknown",
            )


def _differences(there: object, here: object, path: str = "") -> Iterator[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            yield from _differences(there.get(key), here.get(key), f"{path}.{key}".removeprefix("."))
    elif there != here:
        yield f"{path}: {_said(there)} there, {_said(here)} here"


def _said(value: object) -> str:
    return "nothing" if value is None else repr(value)


def _plain(value: object) -> object:
    """Return what JSON makes of a value and back, so that it equals what was stored."""
    import json

    return json.loads(json.dumps(value, default=str))
