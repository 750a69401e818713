"""How soon a better challenger is promoted, how often one that is no better; ``python -m benchmarks.champion.power``.

Series of bars with long memory and volatility in clusters are forecast by models that know everything but for a slowly
moving error of their own; its size makes one model better than another. Windows overlap as in a night.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from fints.champion import Rules, Trial, degradation, promotion, recovery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

H, APART, YEARS = 20, 5, 10
MEMORY = np.array([1.0, *(0.45 * k**-0.5 for k in range(1, H))])
SPREAD = np.sqrt(np.cumsum(MEMORY**2))
SPELL = np.array([[MEMORY[k - i] if k >= i else 0.0 for k in range(H)] for i in range(H)])
"""What the news of bar `i` of a window is worth at its bar `k`."""
EQUAL, FIVE, TEN = 0.55, 0.40, 0.2
"""Sizes of a model's own error: those of the champion, and of challengers whose CRPS is 5 and 10 % lower."""


def crps(error: Floats, spread: Floats) -> Floats:
    """Score of a normal forecast."""
    z = error / spread
    return spread * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))


def slow(rng: np.random.Generator, size: tuple[int, int], memory: float) -> Floats:
    """First-order autoregressive noise of variance 1."""
    shocks = rng.standard_normal(size) * np.sqrt(1 - memory**2)
    out = np.empty(size)
    last = rng.standard_normal(size[0])
    for i in range(size[1]):
        last = out[:, i] = memory * last + shocks[:, i]
    return out


def losses(
    rng: np.random.Generator, runs: int, windows: int, sizes: Sequence[float], series: int = 2
) -> tuple[Floats, Floats]:
    """Mean CRPS, and share within the 80 % band, of each model and window, shape (models, runs, windows)."""
    bars, origins = windows * H + H, np.arange(0, (windows - 1) * H + 1, APART)
    loss = np.zeros((len(sizes), runs, len(origins)))
    inside = np.zeros_like(loss)
    common, calm = rng.standard_normal((runs, bars)), np.exp(0.3 * slow(rng, (runs, bars), 0.97))
    for _ in range(series):
        news = (np.sqrt(0.6) * common + np.sqrt(0.4) * rng.standard_normal((runs, bars))) * calm
        own = [0.8 * slow(rng, (runs, bars), 0.97) + 0.6 * slow(rng, (runs, bars), 0.9) for _ in sizes]
        came = np.lib.stride_tricks.sliding_window_view(news, H, axis=1)[:, origins] @ SPELL
        for model, size in enumerate(sizes):
            error = came - size * own[model][:, origins, None] * SPREAD
            wide = SPREAD * np.sqrt(1 + size**2)
            loss[model] += crps(error, wide).mean(axis=2) / series
            inside[model] += (np.abs(error) < norm.ppf(0.9) * wide).mean(axis=2) / series
    return loss, inside


def promoted(loss: Floats, rules: Rules) -> int:
    """Bars until the first of two models is promoted over the second; 0 where it is not."""
    for look in rules.looks:
        kept = 1 + (look - 1) * H // APART
        trial = Trial("it", loss[0][:kept], {"champion": loss[1][:kept]}, APART, H)
        if promotion(trial, rules, look).outcome == "yes":
            return look * H
    return 0


def switches(loss: Floats, inside: Floats, rules: Rules) -> tuple[int, int]:
    """Falls and recoveries of the first of two models over the years, the second being the baseline."""
    fallen, start, falls, returns = False, 0, 0, 0
    for end in range(1, loss.shape[1] + 1):
        if (end - 1) * APART % H:
            continue
        part = slice(start, end)
        trial = Trial("it", loss[0][part], {"HAR": loss[1][part]}, APART, H, inside[0][part], inside[1][part])
        if (recovery if fallen else degradation)(trial, rules).outcome == "yes":
            falls, returns = falls + (not fallen), returns + fallen
            fallen, start = not fallen, end
    return falls, returns


def main(runs: int = 1000) -> None:
    """Print the figures."""
    rng, rules = np.random.default_rng(0), Rules()
    for name, size in (("equally good", EQUAL), ("CRPS 5 % lower", FIVE), ("CRPS 10 % lower", TEN)):
        loss, _ = losses(rng, runs, max(rules.looks), (size, EQUAL))
        gain = 1 - loss[0].mean() / loss[1].mean()
        when = np.array([promoted(loss[:, run], rules) for run in range(runs)])
        hit = when[when > 0]
        shares = {look: round(float((hit <= look * H).sum()) / runs, 3) for look in rules.looks}
        half = int(np.median(hit)) if len(hit) else 0
        print(
            f"{name} (measured {100 * gain:.1f} %): promoted {len(hit) / runs:.3f}, by windows {shares}, median {half}"
        )
    windows = YEARS * 252 // H
    for name, size in (("as good as HAR", EQUAL), ("5 % better", FIVE), ("10 % worse", 0.75), ("25 % worse", 1.0)):
        loss, inside = losses(rng, runs // 5, windows, (size, EQUAL))
        gain = 1 - loss[0].mean() / loss[1].mean()
        counts = np.array([switches(loss[:, run], inside[:, run], rules) for run in range(runs // 5)])
        print(
            f"{name} (measured {100 * gain:.1f} %): in {YEARS} years {counts[:, 0].mean():.2f} falls and "
            f"{counts[:, 1].mean():.2f} recoveries; {np.mean(counts[:, 0] > 0):.2f} of runs fell, "
            f"{np.mean(counts.sum(axis=1) > 2):.3f} switched more than twice"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
