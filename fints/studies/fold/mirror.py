"""A unit of work: a symmetric law and its folded mirror image, trained side by side."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings.rfr import HeadRotary
from fints.encodings.rope import Plane
from fints.errors import ConfigError
from fints.studies.comparison import BARE, Arm, ArmTrial, Task
from fints.studies.comparison.mirror import mirrored_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.encodings import Encoding
    from fints.encodings.rfr import HeadPlanes

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""


@dataclass(frozen=True, slots=True)
class MirrorTrial:
    """A symmetric law on a task, and its mirror image in which every frequency is folded.

    Parameters
    ----------
    task : Task
    law : {"cosine-sym", "gaussian-sym"}
    seed : int
    """

    task: Task
    law: str
    seed: int

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {"mirror": VERSION, **self._trial().settings()}

    def run(self) -> dict[str, object]:
        """Train both, and for comparison the folded law from the same weights unmirrored.

        Returns
        -------
        dict
            ``law``; ``folded``, the share of planes whose frequency was negative; ``apart``, the largest relative
            difference of the losses of a step between the law and its mirror image; ``unmirrored``, that between the
            law and the folded one from the same weights; ``steps``; ``seconds`` of the processor.
        """
        start = time.process_time()
        trial = self._trial()
        model, seen = trial.model(), self.task.seen(trial.panel()[0])
        encoding = model.design.network_for(0, 0).encoding
        negative = negative_planes(encoding)
        mirrored = mirrored_losses(model, seen, negative, folded)
        same = mirrored_losses(model, seen, np.zeros_like(negative), folded)
        return {
            "law": self.law,
            "folded": float(negative.mean()),
            "apart": mirrored.apart,
            "unmirrored": same.apart,
            "steps": len(mirrored.first),
            "seconds": round(time.process_time() - start, 2),
        }

    def _trial(self) -> ArmTrial:
        return ArmTrial.of(Arm(self.law, {"kind": "clock", "law": self.law}), self.task, BARE, self.seed)


def negative_planes(encoding: Encoding) -> NDArray[np.bool_]:
    """Tell which planes turn backwards, shape (layers, heads, planes)."""
    return np.array([[[plane.frequency < 0 for plane in head] for head in layer] for layer in _planes(encoding)])


def folded(encoding: Encoding) -> Encoding:
    """Return the same planes, all turning forwards."""
    return HeadRotary(
        tuple(
            tuple(tuple(Plane(plane.clock, abs(plane.frequency)) for plane in head) for head in layer)
            for layer in _planes(encoding)
        )
    )


def _planes(encoding: Encoding) -> HeadPlanes:
    if not isinstance(encoding, HeadRotary):
        raise ConfigError(f"{type(encoding).__name__} has no fixed planes to fold; take a law of ClockRoPE")
    return encoding.planes
