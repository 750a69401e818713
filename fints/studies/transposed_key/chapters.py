"""The chapters on signs, and on how far seeds scatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.wording import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fints.studies.comparison import Results

ARGUMENT = """\
With R(φ) the rotation of a plane and R(φ)ᵀ = R(−φ), T-RoPE turns query and key of plane d by

- transposed key: q′ = R(α^q t_q/β) q, k′ = R(−α^k t_k/β) k, so q′ᵀk′ = qᵀ R(−(α^q t_q + α^k t_k)/β) k;
- standard key: q′ = R(α^q t_q/β) q, k′ = R(α^k t_k/β) k, so q′ᵀk′ = qᵀ R(−(α^q t_q − α^k t_k)/β) k.

The first with (α^q, α^k) is the second with (α^q, −α^k), for all places, queries and keys. α^k runs over all real
numbers, so both span **the same functions**, with any projections and in any block, HSTU's too, which turns queries and
keys only after its nonlinearity. They also train alike: with a = −α^k the derivative of the loss changes its sign, and
AdamW, its decay towards the start, clipping by the norm and averaged weights commute with a change of sign. And the
first α^k is drawn from N(0, σ²), in which −α^k is as likely as α^k. So over seeds both keys have the same distribution
of results on every series; what differs for one seed is luck of the draw.

**Shared α** is another family. With the standard key it is α^k = α^q: the logit depends on t_q − t_k alone
(Theorem 1), whatever the epoch, a part of the family above. With the transposed key it is α^k = −α^q in the standard
spelling: the logit depends on t_q + t_k alone, another part, that has nothing to do with the first. "With and without
the transposed key" compares one function family with itself where α is separate, and two different ones where it is
shared.

Below, a transposed key is trained from ordinary first weights, and from the same weights and on the same windows a
standard key that starts at −α^k, and for comparison one that starts at α^k.
"""


def chapters(results: Results) -> list[Chapter]:
    """Show the losses of keys of opposite coefficients, and the spread of errors over seeds."""
    return [_signs(results.extra), _spread(results)]


def _signs(units: Sequence[Mapping[str, Any]]) -> Chapter:
    title = "Why a transposed key is a standard key"
    if not units:
        return Chapter(title, ARGUMENT)
    rows = [
        {
            "task": one["task"],
            "seed": str(one["seed"]),
            "steps": str(len(one["first"])),
            "losses apart, standard key of −α^k": _apart(one["apart"]),
            "losses apart, standard key of α^k": _apart(one["ordinary"]),
        }
        for one in units
    ]
    caption = "Largest difference of the loss of any step between a transposed key and standard ones"
    return Chapter(title, ARGUMENT, [Table(caption, pd.DataFrame(rows))], [_curves(units[0]), _differences(units)])


def _curves(unit: Mapping[str, Any]) -> LineChart:
    first, negated, kept = (np.array(unit[key]) for key in ("first", "negated", "kept"))
    step = np.arange(1.0, len(first) + 1)
    return LineChart(
        slug="losses",
        title=f"Loss by step on {unit['task']}, seed {unit['seed']}",
        x_label="step",
        y_label="loss",
        lines=[
            Line("transposed key, α^k", step, first, reference=True),
            Line("standard key, α^k", step, kept),
            Line("standard key, −α^k", step, negated),
        ],
    )


def _differences(units: Sequence[Mapping[str, Any]]) -> LineChart:
    def apart(key: str) -> np.ndarray:
        first = np.array([one["first"] for one in units])
        largest: np.ndarray = 100 * (np.abs(np.array([one[key] for one in units]) - first) / np.abs(first)).max(axis=0)
        return largest

    step = np.arange(1.0, len(units[0]["first"]) + 1)
    return LineChart(
        slug="losses-apart",
        title=f"Difference of the loss from that of the transposed key, largest of {len(units)} trainings",
        x_label="step",
        y_label="percent of the loss",
        lines=[
            Line("standard key, −α^k", step, apart("negated")),
            Line("standard key, α^k", step, apart("kept")),
        ],
    )


def _spread(results: Results) -> Chapter:
    rows = []
    for task, mode, arm in results.units:
        error = results.rmse(arm, task, mode, "beyond")
        rows.append(
            {
                "task": task,
                "mode": mode,
                "arm": arm,
                "seeds": str(len(error)),
                "geometric mean": f"{np.exp(np.log(error).mean()):.3g}",
                "lowest": f"{error.min():.3g}",
                "highest": f"{error.max():.3g}",
                "standard deviation": f"{number(100 * float(np.expm1(np.log(error).std(ddof=1))))} %"
                if len(error) > 1
                else "–",
            }
        )
    text = (
        "How far errors of one arm scatter where nothing differs but the seed: data, first weights, order of windows "
        "and α. What a single training of each arm shows of their difference is to be held against that."
    )
    caption = "Root mean square error beyond the trained horizon, by arm, over seeds"
    return Chapter("The spread over seeds", text, [Table(caption, pd.DataFrame(rows))])


def _apart(value: float) -> str:
    return "0 (to the last bit)" if value == 0 else f"{100 * value:.2g} %"
