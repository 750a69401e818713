"""A model on disk: safetensors for the weights, JSON for the rest, no pickle."""

from __future__ import annotations

import hashlib
import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from fints.encodings import encoding_config
from fints.errors import BundleError, FintsError
from fints.plan import FrequencyPlan
from fints.transformer.config import NetworkConfig, TrainingConfig
from fints.transformer.design import DEFAULT_NAME, Design, Fitted
from fints.transformer.peers.links import links_from_plain, links_to_plain
from fints.transformer.start import from_plain, to_plain

if TYPE_CHECKING:
    from typing import Any

    from fints.transformer.training import Checkpoints

FORMAT = 2
"""Version of the layout. A reader refuses any other one."""

WEIGHTS, CARD = "weights.safetensors", "model.json"


def save(design: Design, fitted: Fitted, path: str | Path) -> None:
    """Write a model to a folder, all of it or nothing.

    Parameters
    ----------
    design : Design
    fitted : Fitted
    path : path
        New, or a folder that holds a model already, which is replaced.

    Raises
    ------
    BundleError
        If the folder holds something else, or cannot be written.
    """
    from safetensors.torch import save_file

    target = Path(path)
    if target.exists() and not (target / CARD).exists() and (not target.is_dir() or any(target.iterdir())):
        raise BundleError(f"{target} holds something that is not a model; choose another folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".saving-") as folder:
            fresh = Path(folder) / "model"
            fresh.mkdir()
            state = {
                f"{member}.{name}": tensor.contiguous()
                for member, network in enumerate(fitted.networks)
                for name, tensor in network.state_dict().items()
            }
            save_file(state, fresh / WEIGHTS)
            (fresh / CARD).write_text(json.dumps(_card(design, fitted, fresh / WEIGHTS), indent=2), encoding="utf-8")
            if target.exists():
                target.replace(Path(folder) / "old")
            fresh.replace(target)
    except OSError as error:
        raise BundleError(f"the model cannot be written to {target}: {error}; choose a writable folder") from error


def load(path: str | Path) -> tuple[Design, Fitted]:
    """Read a model.

    Raises
    ------
    BundleError
        If the folder is missing, damaged, or written by a version with another layout.
    """
    from safetensors.torch import load_file

    folder = Path(path)
    card = _read_card(folder)
    weights = folder / WEIGHTS
    if not weights.exists() or _digest(weights) != card["weights_sha256"]:
        raise BundleError(f"the weights in {folder} are missing or not those that were saved; save the model again")
    try:
        value = card["design"]
        design = Design(
            h=value["h"],
            input_size=value["input_size"],
            encoding=encoding_config(value["encoding"]),
            plan=FrequencyPlan.from_dict(value["plan"]),
            network=NetworkConfig.model_validate(value["network"]),
            training=TrainingConfig.model_validate(value["training"]),
            level=tuple(value["level"]),
            random_seed=value["random_seed"],
            name=value.get("name", DEFAULT_NAME),
        )
        past, calendar, until, interval = (card["fitted"][key] for key in ("past", "calendar", "until", "interval"))
        start = from_plain(card["fitted"]["start"])
        _require_same(len(start.shared.calendar), len(calendar))
        links = card["fitted"].get("links")
        links = None if links is None else links_from_plain(links)
        state = load_file(weights)
        networks = []
        for member in range(design.training.members):
            network = design.network_for(len(past), len(calendar), member)
            prefix = f"{member}."
            network.load_state_dict({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
            networks.append(network.eval())
    except (KeyError, TypeError, ValueError, RuntimeError, FintsError) as error:
        raise BundleError(f"the model in {folder} cannot be rebuilt: {error}; save it again") from error
    return design, Fitted(tuple(networks), start, tuple(past), tuple(calendar), until, (), links, interval)


def states_of(design: Design, folder: str | Path) -> Checkpoints:
    """Return the place for the states of an unfinished training of a design."""
    from fints.transformer.training import Checkpoints

    return Checkpoints(Path(folder), json.dumps(_plain(design), sort_keys=True))


def _plain(design: Design) -> dict[str, object]:
    return {
        "h": design.h,
        "input_size": design.input_size,
        "encoding": design.encoding.model_dump(mode="json"),
        "plan": design.plan.to_dict(),
        "network": design.network.model_dump(mode="json"),
        "training": design.training.model_dump(mode="json"),
        "level": list(design.level),
        "random_seed": design.random_seed,
        "name": design.name,
    }


def _card(design: Design, fitted: Fitted, weights: Path) -> dict[str, object]:
    return {
        "format": FORMAT,
        "fints": version("fints"),
        "weights_sha256": _digest(weights),
        "design": _plain(design),
        "fitted": {
            "past": list(fitted.past),
            "calendar": list(fitted.calendar),
            "until": fitted.until,
            "interval": fitted.interval,
            "start": to_plain(fitted.start),
            "links": None if fitted.links is None else links_to_plain(fitted.links),
        },
    }


def _read_card(folder: Path) -> dict[str, Any]:
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BundleError(f"there is no model in {folder} ({CARD} is missing); check the path") from error
    except (OSError, ValueError, RecursionError) as error:
        raise BundleError(f"{folder / CARD} cannot be read: {error}; save the model again") from error
    if not isinstance(card, dict) or not isinstance(card.get("format"), int) or "weights_sha256" not in card:
        raise BundleError(f"{folder / CARD} is not a model's description; save the model again")
    if card["format"] > FORMAT:
        raise BundleError(
            f"the model in {folder} has format {card['format']}, written by fints {card.get('fints')}; "
            f"this version reads format {FORMAT}: upgrade fints"
        )
    if card["format"] < FORMAT:
        raise BundleError(
            f"the model in {folder} has format {card['format']}, written by fints {card.get('fints')}; "
            f"this version reads format {FORMAT} only: fit the model and save it again"
        )
    return card


def _require_same(known: int, named: int) -> None:
    if known != named:
        raise ValueError(f"its start knows {known} covariates, and the model {named}")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
