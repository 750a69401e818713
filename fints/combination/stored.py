"""A fitted combination on disk: its weights and bands as JSON beside what its members save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fints.combination.weights import Weights
from fints.conformal import Bands
from fints.errors import BundleError, ConfigError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.forecast import Forecaster

FORMAT = 1
"""Version of the layout. A reader refuses any other one."""

CARD = "combination.json"


@runtime_checkable
class Saved(Protocol):
    """What can be written to a folder and read from there."""

    def save(self, path: str | Path) -> None:
        """Write to a folder."""

    @classmethod
    def load(cls, path: str | Path) -> Forecaster:
        """Read from a folder."""


def save(members: Sequence[Forecaster], weights: Weights, bands: Bands | None, path: str | Path) -> None:
    """Write fitted members and how they are combined to a folder.

    Raises
    ------
    ModelError
        If a member cannot be saved, naming all that cannot.
    BundleError
        If the folder holds something else, or cannot be written.
    """
    unable = [member.name for member in members if not isinstance(member, Saved)]
    if unable:
        raise ModelError(
            f"{', '.join(unable)} cannot be saved, so that the combination cannot either; store weights.to_plain() and "
            "bands.to_plain(), and fit anew with_weights"
        )
    folder = Path(path)
    if folder.exists() and not (folder / CARD).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BundleError(f"{folder} holds something that is not a combination; choose another folder")
    card = {
        "format": FORMAT,
        "weights": weights.to_plain(),
        "bands": None if bands is None else bands.to_plain(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, member in enumerate(members):
            assert isinstance(member, Saved)
            member.save(folder / str(number))
        (folder / CARD).write_text(json.dumps(card, indent=2), encoding="utf-8")
    except OSError as error:
        raise BundleError(f"the combination cannot be written to {folder}: {error}; choose a writable one") from error


def load(kinds: Sequence[Forecaster], path: str | Path) -> tuple[tuple[Forecaster, ...], Weights, Bands | None]:
    """Read fitted members and how they are combined.

    Parameters
    ----------
    kinds : sequence of Forecaster
        Members of the names that were saved; their classes do the reading, so that no file decides what is run.
    path : path

    Raises
    ------
    BundleError
        If the folder is missing, damaged or written by a version with another layout, or a member is not among `kinds`.
    """
    folder = Path(path)
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        if card["format"] != FORMAT:
            raise BundleError(
                f"the combination in {folder} has format {card['format']}, this version reads {FORMAT}; fit it anew"
            )
        weights = Weights.from_plain(card["weights"])
        bands = None if card["bands"] is None else Bands.from_plain(card["bands"])
    except (OSError, KeyError, TypeError, ValueError, RecursionError, ConfigError) as error:
        raise BundleError(f"there is no combination that can be read in {folder}: {error}; save it again") from error
    named = {kind.name: kind for kind in kinds}
    missing = [name for name in weights.members if not isinstance(named.get(name), Saved)]
    if missing:
        raise BundleError(f"the combination in {folder} has {', '.join(missing)}; pass members of these names")
    members = []
    for number, name in enumerate(weights.members):
        kind = named[name]
        assert isinstance(kind, Saved)
        members.append(type(kind).load(folder / str(number)))
    return tuple(members), weights, bands
