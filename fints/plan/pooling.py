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
    return [cycle for cycle, _ in pool_lines(frame, alpha)]


def pool_lines(frame: pd.DataFrame, alpha: float) -> list[tuple[Cycle, float]]:
    """Merge lines into cycles, each with its period on the other clock (NaN where that is unknown).

    A line that its series puts on either clock alike joins a cycle of the other clock.
    """
    rows = frame[(frame["q_value"] <= alpha) & frame["stable"]].sort_values("strength", ascending=False)
    groups: list[list[dict[str, Any]]] = []
    for position in range(len(rows)):
        row: dict[str, Any] = {str(name): value for name, value in rows.iloc[position].items()}
        home = next((g for g in groups if _same(g[0], row)), None)
        if home is None:
            groups.append([row])
        else:
            home.append(_on(row, str(home[0]["clock"])))
    merged = [(_merge(group), float(group[0].get("other_period", math.nan))) for group in groups]
    return sorted(merged, key=lambda pair: -pair[0].strength)


def close(one: float, other: float) -> bool:
    """Whether two periods of one clock are the same cycle of the market."""
    return one > 0 and other > 0 and abs(math.log(one / other)) < SAME_CYCLE


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one["clock"] == other["clock"]:
        return close(float(one["period"]), float(other["period"]))
    return bool(other.get("also_on")) and close(float(one["period"]), float(other.get("other_period", math.nan)))


def _on(row: dict[str, Any], clock: str) -> dict[str, Any]:
    if row["clock"] == clock:
        return row
    scale = float(row["other_period"]) / float(row["period"])
    return {
        **row,
        "clock": clock,
        "period": float(row["other_period"]),
        "period_se": float(row["period_se"]) * scale,
        "other_period": float(row["period"]),
    }


def _merge(group: list[dict[str, Any]]) -> Cycle:
    """Place one cycle at the precision-weighted mean of its lines, each series counting once."""
    import pandas as pd

    lines = pd.DataFrame(group).drop_duplicates("unique_id")
    precision = 1 / lines["period_se"].fillna(math.inf).clip(lower=1e-12, upper=_UNKNOWN_SE) ** 2
    period = float((lines["period"] * precision).sum() / precision.sum())
    harmonics = tuple(sorted({int(r) for cell in lines["harmonics"] for r in str(cell).split(",")}))
    names = ", ".join(lines["unique_id"].astype(str).head(5)) + (" …" if len(lines) > 5 else "")
    return Cycle(
        period=period,
        clock=lines["clock"].iloc[0],
        harmonics=harmonics,
        width=_width(period, harmonics),
        strength=float(lines["strength"].sum()),
        p_value=float(lines["p_value"].min()),
        origin="detected",
        reason=f"found in {names} (p = {lines['p_value'].min():.2g}, ± {float(precision.sum()) ** -0.5:.2g})",
    )


def _width(period: float, harmonics: tuple[int, ...]) -> float | None:
    """Suggest the width of a kernel that is as sharp as the cycle's harmonics are many.

    A Gaussian of width σ repeated every T has harmonics of weight exp(-½ (k / σ*)²), σ* = T / (2πσ). With σ* equal to
    the highest harmonic found, those found keep at least 61 % of the fundamental's weight.
    """
    highest = max(harmonics) / min(harmonics)
    return None if highest <= 1 else period / (2 * math.pi * highest)


def prior_strength(detected: Sequence[Cycle]) -> float:
    """Weigh a prior: half as much as the weakest detected cycle."""
    return 0.5 * min((c.strength for c in detected), default=2.0)
