"""From the lines of many series to the cycles that they share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fints.plan.cycle import Cycle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

SAME_CYCLE = 0.15
"""Two periods whose logarithms differ by less are taken for the same cycle of the market."""

_UNKNOWN_SE = 1e6


def pool(frame: pd.DataFrame, alpha: float) -> list[Cycle]:
    """Merge the significant, stable lines of all series into cycles, the strongest first."""
    rows = frame[(frame["q_value"] <= alpha) & frame["stable"]].sort_values("strength", ascending=False)
    groups: list[list[dict[str, Any]]] = []
    for position in range(len(rows)):
        row: dict[str, Any] = {str(name): value for name, value in rows.iloc[position].items()}
        home = next((g for g in groups if _same(g[0], row)), None)
        if home is None:
            groups.append([row])
        else:
            home.append(row)
    cycles = [_merge(group) for group in groups]
    return sorted(cycles, key=lambda c: -c.strength)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    ratio = float(one["period"]) / float(other["period"])
    return one["clock"] == other["clock"] and abs(math.log(ratio)) < SAME_CYCLE


def _merge(group: list[dict[str, Any]]) -> Cycle:
    """Place one cycle at the precision-weighted mean of its lines, each series counting once."""
    import pandas as pd

    lines = pd.DataFrame(group).drop_duplicates("unique_id")
    precision = 1 / lines["period_se"].fillna(math.inf).clip(lower=1e-12, upper=_UNKNOWN_SE) ** 2
    period = float((lines["period"] * precision).sum() / precision.sum())
    harmonics = tuple(sorted({int(r) for cell in lines["harmonics"] for r in str(cell).split(",")} | {1}))
    names = ", ".join(lines["unique_id"].astype(str).head(5)) + (" …" if len(lines) > 5 else "")
    return Cycle(
        period=period,
        clock=lines["clock"].iloc[0],
        harmonics=harmonics,
        strength=float(lines["strength"].sum()),
        p_value=float(lines["p_value"].min()),
        origin="detected",
        reason=f"found in {names} (p = {lines['p_value'].min():.2g}, ± {float(precision.sum()) ** -0.5:.2g})",
    )


def prior_strength(detected: Sequence[Cycle]) -> float:
    """Weigh a prior: half as much as the weakest detected cycle."""
    return 0.5 * min((c.strength for c in detected), default=2.0)
