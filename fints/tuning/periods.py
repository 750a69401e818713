"""Where training has moved the periods of cycles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fints.encodings import Encoding
    from fints.encodings.cycle import LearnedCycles
    from fints.transformer import CycleTransformer
    from fints.tuning.candidate import Candidate

    Path = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """Periods of a fitted candidate.

    Parameters
    ----------
    end : mapping of str to float
        By name of the cycle, in units of its clock; the start where it is not learned. Of several members, their
        geometric mean.
    path : mapping of str to tuple of (int, float)
        Period at each look at the validation tail, by step, of the first member; only of cycles that are learned.
    """

    end: Mapping[str, float]
    path: Mapping[str, Path] = field(default_factory=dict)


def moved(candidate: Candidate, model: CycleTransformer) -> Moved:
    """Read the periods that a fitted model has come to.

    Parameters
    ----------
    candidate : Candidate
    model : CycleTransformer
        Its fitted model. Only cycle encodings tie what they learn to a cycle; of others the start is all that is known.
    """
    fitted = model.fitted
    assert fitted is not None
    names = {(c.clock, c.period): name for name, c in zip(candidate.names, candidate.plan, strict=True)}
    ends: dict[str, list[float]] = {}
    paths: dict[str, Path] = {}
    for member, network in enumerate(fitted.networks):
        for parameter, learned in _learned(network.encoding):
            for i, (cycle, period) in enumerate(zip(learned.cycles, learned.periods().tolist(), strict=True)):
                name = names[cycle.clock, cycle.period]
                ends.setdefault(name, []).append(period)
                if member == 0 and fitted.records:
                    paths[name] = tuple((step, at[parameter][i]) for step, at in fitted.records[0].periods)
    means = {name: float(np.exp(np.mean(np.log(periods)))) for name, periods in ends.items()}
    return Moved({**candidate.periods, **means}, paths)


def _learned(encoding: Encoding) -> Iterator[tuple[str, LearnedCycles]]:
    """Yield the parts that learn periods of cycles, with the names that their parameters have."""
    from fints.encodings.cycle import LearnedCycles

    for name, module in encoding.named_modules():
        if isinstance(module, LearnedCycles):
            yield f"{name}.offset".removeprefix("."), module
