"""The planes of an encoding that turn with a cycle, and the same encoding with them held still."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import torch

from fints.encodings.combine import FeatureSplit, HeadSplit, SumEncoding
from fints.encodings.features import FourierFeatures
from fints.encodings.rfr import HeadRotary, LearnedHeadRotary
from fints.encodings.rope import Plane, RotaryEncoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.encodings import Encoding
    from fints.plan import Cycle

_SAME = 1e-9


def turns_with(plane: Plane, cycles: Sequence[Cycle]) -> Cycle | None:
    """Find the cycle that a plane turns with.

    A plane does if it turns a whole number of times per period, on the cycle's clock. Of several such cycles, it is the
    one of which it turns the fewest times.
    """
    found = []
    for cycle in cycles:
        times = abs(plane.frequency) * cycle.period
        whole = plane.clock == cycle.clock and times > 0.5 and abs(times - round(times)) < _SAME * times  # noqa: PLR2004
        if whole:
            found.append((round(times), cycle))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def count_planes(encoding: Encoding, cycle: Cycle, cycles: Sequence[Cycle]) -> int:
    """Count the planes of all layers and heads that turn with a cycle, and input features at its lines.

    Parameters
    ----------
    encoding : Encoding
    cycle : Cycle
    cycles : sequence of Cycle
        Of the plan, this one among them.
    """
    match encoding:
        case FeatureSplit() | HeadSplit() | SumEncoding():
            return sum(count_planes(part, cycle, cycles) for part in encoding.encodings())
        case HeadRotary() | LearnedHeadRotary():
            every = [plane for layer in encoding.planes for head in layer for plane in head]
        case RotaryEncoding():
            every = list(encoding.planes)
        case FourierFeatures():
            every = list(encoding.phases.planes)
        case _:
            every = []
    return sum(turns_with(plane, cycles) == cycle for plane in every)


def held_still(encoding: Encoding, still: Sequence[Cycle], cycles: Sequence[Cycle]) -> Encoding:
    """Return an encoding like this one that does not know some cycles.

    The rotation of their planes is the identity; input features at their lines are zero, their mean. Everything else is
    as it was, learned frequencies included.

    Parameters
    ----------
    encoding : Encoding
    still : sequence of Cycle
    cycles : sequence of Cycle
        Of the plan.
    """
    if not any(count_planes(encoding, cycle, cycles) for cycle in still):
        return encoding
    made: Encoding
    match encoding:
        case FeatureSplit():
            made = FeatureSplit(_parts(encoding, still, cycles), encoding.widths, encoding.n_layers)
        case HeadSplit():
            made = HeadSplit(_parts(encoding, still, cycles), encoding.counts, encoding.n_layers)
        case SumEncoding():
            made = SumEncoding(_parts(encoding, still, cycles), encoding.n_layers)
        case HeadRotary() | LearnedHeadRotary():
            made = _still_heads(encoding, still, cycles)
        case RotaryEncoding():
            frequencies = encoding.frequencies(torch.device("cpu")).tolist()
            made = RotaryEncoding(_stilled(encoding.planes, frequencies, still, cycles), encoding.n_layers)
        case FourierFeatures():
            made = _still_features(encoding, still, cycles)
        case _:
            return encoding
    made.built = encoding.built
    return made.train(encoding.training)


def _parts(encoding: FeatureSplit | HeadSplit | SumEncoding, *of: Sequence[Cycle]) -> list[Encoding]:
    return [held_still(part, *of) for part in encoding.encodings()]


def _stilled(
    planes: Sequence[Plane], frequencies: Sequence[float], still: Sequence[Cycle], cycles: Sequence[Cycle]
) -> tuple[Plane, ...]:
    """Planes at their frequencies, which may have been learned; those of some cycles at rest."""
    return tuple(
        Plane(plane.clock, 0.0 if turns_with(plane, cycles) in still else frequency)
        for plane, frequency in zip(planes, frequencies, strict=True)
    )


def _still_heads(
    encoding: HeadRotary | LearnedHeadRotary, still: Sequence[Cycle], cycles: Sequence[Cycle]
) -> HeadRotary:
    if isinstance(encoding, LearnedHeadRotary):
        rows = encoding.frequencies().tolist()
    else:
        rows = [[[plane.frequency for plane in head] for head in layer] for layer in encoding.planes]
    return HeadRotary(
        tuple(
            tuple(_stilled(head, own, still, cycles) for head, own in zip(layer, of_layer, strict=True))
            for layer, of_layer in zip(encoding.planes, rows, strict=True)
        )
    )


def _still_features(encoding: FourierFeatures, still: Sequence[Cycle], cycles: Sequence[Cycle]) -> FourierFeatures:
    made = deepcopy(encoding)
    gone = [turns_with(plane, cycles) in still for plane in encoding.phases.planes]
    with torch.no_grad():
        made.project.weight[:, torch.tensor(gone * 2)] = 0.0
    return made
