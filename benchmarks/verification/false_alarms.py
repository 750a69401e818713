"""How often the alert rules cry wolf: years of faultless forecasts, judged every night.

Run: ``python benchmarks/verification/false_alarms.py [years]``. A market is a level with noise and a memory (an AR(1)
with half-lives of 1 to 20 sessions); forecasts are its exact conditional distributions, 20 steps ahead, so that every
promise is true and every alert false. Series share half of their shocks.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from fints.conformal.bands import STRETCHES
from fints.conformal.scores import stretch_of
from fints.verification import Limit, Rules, Scorecard, broken

H, NIGHTS, SERIES = 20, 250, 5
BURN, EVERY = 80, 10
Z80, Z95 = 1.2815515655446004, 1.959963984540054
RULES = {
    "the defaults": Rules(),
    "no margins": Rules(coverage=Limit(0.0), error=Limit(0.0), bias=Limit(0.0)),
}


def year(rng: np.random.Generator, half_life: float) -> pd.DataFrame:
    """Make the scored forecasts of one year and the nights before it."""
    keep = 0.5 ** (1 / half_life)
    length = BURN + NIGHTS + H
    shared = rng.standard_normal((length, 1))
    shocks = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.standard_normal((length, SERIES))
    level = np.zeros((length, SERIES))
    for t in range(1, length):
        level[t] = keep * level[t - 1] + shocks[t]
    steps = np.arange(1, H + 1)
    spread = np.sqrt((1 - keep ** (2 * steps)) / (1 - keep**2))
    nights = np.arange(BURN + NIGHTS)
    came = level[nights[:, None] + steps]  # (nights, steps, series)
    error = came - keep ** steps[None, :, None] * level[nights][:, None, :]
    scaled = np.abs(error) / spread[None, :, None]
    index = pd.MultiIndex.from_product([nights, steps, range(SERIES)], names=["night", "step", "unique_id"])
    rows = pd.DataFrame(index=index).reset_index()
    mae = spread * np.sqrt(2 / np.pi)
    stated = {"p_squared": spread**2, "p_absolute": mae, "p_crps": mae, "p_cov80": 0.8, "p_cov95": 0.95}
    each = {name: np.broadcast_to(value, H)[rows["step"] - 1] for name, value in stated.items()}
    return rows.assign(
        as_of=pd.Timestamp("2020-01-01") + pd.to_timedelta(rows["night"], unit="D"),
        state="scored",
        live=True,
        stretch=stretch_of(rows["step"].to_numpy(np.int64), STRETCHES),
        error=error.ravel(),
        squared=error.ravel() ** 2,
        absolute=np.abs(error).ravel(),
        crps=np.abs(error).ravel(),
        cov80=(scaled <= Z80).ravel().astype(float),
        cov95=(scaled <= Z95).ravel().astype(float),
        **each,
    )


def judged(rows: pd.DataFrame, rules: Rules) -> np.ndarray:
    """Say for each night of the year which rules were broken; shape (nights, 3)."""
    found = np.zeros((NIGHTS // EVERY, 3), dtype=bool)
    for i, night in enumerate(range(BURN, BURN + NIGHTS, EVERY)):
        # a night sees what has come by then, and no more than the nights that are judged
        seen = rows[(rows["night"] + rows["step"] <= night) & (rows["night"] > night - rules.nights - H)]
        broken_now = {alert.rule for alert in broken([Scorecard("y", seen)], rules)}
        found[i] = [name in broken_now for name in ("coverage", "error", "bias")]
    return found


def main(years: int) -> None:
    """Print the share of nights and of years with a false alarm."""
    print("| rules | half-life of the market | rule | nights with an alert | years with one |")
    print("| --- | --- | --- | --- | --- |")
    for name, rules in RULES.items():
        for half_life in (1.0, 5.0, 20.0):
            rng = np.random.default_rng(7)
            found = np.stack([judged(year(rng, half_life), rules) for _ in range(years)])
            shares = zip(
                ("coverage", "error", "bias"), found.mean(axis=(0, 1)), found.any(axis=1).mean(axis=0), strict=True
            )
            for rule, nights, with_one in shares:
                print(f"| {name} | {half_life:g} sessions | {rule} | {nights:.2%} | {with_one:.0%} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
