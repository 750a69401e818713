"""The MLflow registry kept like the book, and what a person changed in it; the book is the truth of the night."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from fints.champion import standing
from fints.errors import DamagedBookError
from fints.tracking import Tracking
from fints.tracking.redaction import redacted, traced
from fints.tracking.registry import Registry
from pipelines.files import write_text
from pipelines.patience import ASK, SEND, in_time
from pipelines.shelf import Shelf
from pipelines.succession import Succession

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fints.champion import Standing
    from fints.settings import NightlySettings
    from fints.tracking.registry import Alias

LOG = logging.getLogger(__name__)

_FILE = "registry.json"


@dataclass(slots=True)
class _Told:
    """What the registry was told last."""

    file: Path
    registered: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path) -> _Told:
        try:
            plain = json.loads(file.read_text("utf-8"))
            return cls(file, list(map(str, plain["registered"])), {str(k): str(v) for k, v in plain["aliases"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls(file)

    def save(self) -> None:
        write_text(self.file, json.dumps({"registered": self.registered, "aliases": self.aliases}, indent=1))


def wanted(settings: NightlySettings) -> bool:
    """Whether fits go into the registry."""
    return settings.tracking.enabled and settings.champion.enabled and settings.champion.register_fits


def moved_by_hand(settings: NightlySettings, models: Path) -> tuple[dict[str, str], list[str]]:
    """Find the targets whose alias champion a person moved since it was set.

    Returns
    -------
    versions : dict of str to str
        By target, what the alias names now.
    warnings : list of str
        Why the registry could not be asked.
    """
    moved: dict[str, str] = {}
    if not wanted(settings):
        return moved, []
    for target in settings.targets:
        told = _told(settings, models, target)
        if not told.aliases:
            continue  # nothing was set yet, so that nothing can have been moved
        try:
            registry = _registry(settings, models, target)
            now, by_night = in_time(partial(_named_now, registry), ASK, settings.tracking)
        except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the book is enough
            LOG.debug("the registry could not be asked: %s", traced(error))
            return moved, [f"the model registry could not be asked, and the local book is followed: {redacted(error)}"]
        if now and now not in {told.aliases.get("champion", ""), by_night}:
            moved[target] = now
    return moved, []


def synchronise(settings: NightlySettings, models: Path, targets: Iterable[str]) -> list[str]:
    """Register what the latest decisions name, and move the aliases; return what went wrong."""
    warnings: list[str] = []
    if not wanted(settings):
        return warnings
    for target in targets:
        try:
            in_time(partial(_synchronise, settings, models, target), SEND, settings.tracking)
        except DamagedBookError:  # the night says so itself, and the others are none the worse for it
            continue
        except Exception as error:  # noqa: BLE001 — the night has its forecasts; the next one tries again
            LOG.debug("the registry could not be brought up to date: %s", traced(error))
            warnings.append(f"the model registry could not be brought up to date for {target}: {redacted(error)}")
            break
    return warnings


def fetch(settings: NightlySettings, models: Path, target: str, version: str) -> bool:
    """Bring a fit from the registry onto the shelf; False where that cannot be."""
    if not wanted(settings):
        return False
    shelf = _shelf(settings, models, target)
    try:
        registry, folder = _registry(settings, models, target), shelf.folder / version.rpartition("/")[2]
        return in_time(partial(registry.fetch, version, folder), SEND, settings.tracking)
    except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the night goes on without it
        LOG.debug("the fit could not be fetched: %s", traced(error))
        return False


def _named_now(registry: Registry) -> tuple[str, str]:
    return registry.aliased(), registry.set_by_night()


def _synchronise(settings: NightlySettings, models: Path, target: str) -> None:
    shelf = _shelf(settings, models, target)
    book = Succession.book_under(models, (settings.dataset, settings.interval, target))
    state = standing(book.read(), shelf.folder.name)
    if state is None:
        return
    told, aliases = _told(settings, models, target), _aliases(state)
    named = dict.fromkeys(seat for seat in (state.champion, state.challenger, state.previous) if seat is not None)
    missing = [seat for seat in named if not seat.is_baseline and seat.version not in told.registered]
    if not missing and aliases == told.aliases:
        return
    registry = _registry(settings, models, target)
    for seat in missing:
        folder = shelf.folder / seat.key
        if (folder / "model").is_dir():
            about = {"fints.until": seat.until[:10], "fints.model": seat.model, "fints.interval": settings.interval}
            registry.register(seat.version, folder, about)
            told.registered.append(seat.version)
            told.save()
    for alias, version in aliases.items():
        registry.point(alias, version)
    told.aliases = {str(alias): version for alias, version in aliases.items()}
    told.save()


def _aliases(state: Standing) -> dict[Alias, str]:
    """Return what the aliases should name; the baseline is no registered model."""
    champion = "" if state.champion.is_baseline else state.champion.version
    return {"champion": champion, "challenger": "" if state.challenger is None else state.challenger.version}


def _shelf(settings: NightlySettings, models: Path, target: str) -> Shelf:
    return Shelf.under(models, settings.dataset, target, settings.digest)


def _told(settings: NightlySettings, models: Path, target: str) -> _Told:
    return _Told.open(models / settings.dataset / settings.interval / target / _FILE)


def _registry(settings: NightlySettings, models: Path, target: str) -> Registry:
    return Registry(Tracking(models.parent, settings.tracking.uri), settings.dataset, target)
