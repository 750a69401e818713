"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.wording import needed, percent, seeds_in_words, sentence, times, widest_undecided

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fints.studies.comparison import Contrast, Results

SEPARATE, STANDARD = "transposed key", "standard key"
SHARED, SHARED_TRANSPOSED = "shared α", "shared α, transposed"

ROUNDING = 1e-3
"""Relative differences of losses that rounding explains after hundreds of steps."""


def verdict(results: Results) -> list[str]:
    """Answer the question: by algebra, by opposite coefficients, by ordinary first weights; then shared ones."""
    return [_family(results.extra), _ordinary(results), *_shared(results)]


def _family(units: Sequence[Mapping[str, Any]]) -> str:
    if not units:
        return "Keys of opposite coefficients were not trained."
    apart, ordinary, n = max(one["apart"] for one in units), max(one["ordinary"] for one in units), len(units)
    if apart > ROUNDING:
        return (
            f"No: the argument fails in practice. Losses of a transposed key and of the standard key of −α^k come to "
            f"differ by {100 * apart:.2g} %."
        )
    exact = "to the last bit" if apart == 0 else f"to {apart:.1g} of the loss"
    return (
        "Yes, one function family: a transposed key with α^k is a standard key with −α^k, and trains as it does. From "
        f"the same weights their losses agree {exact} at all {len(units[0]['first'])} steps in {n} of {n} trainings; "
        f"with the sign of α^k kept, they come to differ by up to {100 * ordinary:.0f} %."
    )


def _ordinary(results: Results) -> str:
    contrasts = _between(results, SEPARATE, STANDARD)
    if not contrasts:
        return "Ordinary first weights were not tried."
    found = [contrast for contrast in contrasts if contrast.differs]
    seeds = seeds_in_words(contrasts)
    scatter = [float(np.expm1(c.logs.std(ddof=1))) for c in contrasts if c.seeds > 1]
    luck = (
        f" Between one training of each their ratio scatters by {100 * min(scatter):.0f} to {100 * max(scatter):.0f} % "
        "(standard deviation over seeds), so a gain of a few percent that was seen with one seed is no finding."
        if scatter
        else ""
    )
    if found:
        return (
            f"From ordinary first weights, {len(found)} of {len(contrasts)} comparisons over {seeds} show a "
            "difference between the two keys, against an argument that both have the same distribution of results: "
            "chance, or an assumption of the argument that does not hold. "
            + " ".join(sentence(contrast, results) for contrast in found)
            + luck
        )
    equal = sum(contrast.ruling == "equal" for contrast in contrasts)
    means = [contrast.times.mean for contrast in contrasts]
    return (
        f"From ordinary first weights no difference between the two keys is found, as the argument has it: none of "
        f"{len(contrasts)} comparisons over {seeds} shows one (ratios lie between {min(means):.2f} and "
        f"{max(means):.2f}), {equal} are equal within {percent(results.margin)}{_open(contrasts)}.{luck}"
    )


def _open(contrasts: Sequence[Contrast]) -> str:
    widest = widest_undecided(contrasts)
    if widest is None:
        return ""
    return (
        f", and of the others the widest, on {widest.place.task} ({widest.place.mode}, {widest.place.band}), is "
        f"{times(widest)} and would need, in seeds, {needed(widest)}"
    )


def _shared(results: Results) -> list[str]:
    """Hold separate coefficients against shared ones; both keys count, being one family."""
    contrasts = [*_between(results, SEPARATE, SHARED), *_between(results, STANDARD, SHARED)]
    if not contrasts:
        return []
    wins = [contrast for contrast in contrasts if contrast.ruling == "higher"]
    losses = [contrast for contrast in contrasts if contrast.ruling == "lower"]
    n, seeds = len(contrasts), seeds_in_words(contrasts)
    counted = f"shared α has the smaller error in {len(wins)} of {n} comparisons with separate ones, over {seeds}"
    match bool(wins), bool(losses):
        case True, False:
            said = (
                f"What matters is whether they share: {counted}, and the larger in none. For forecasts this speaks for "
                "`shared=True` with `non_stationary=False`."
            )
        case False, True:
            said = f"Shared α costs: {counted}, and the larger in {len(losses)}. Separate ones stay the default."
        case True, True:
            said = (
                f"It depends on the data: {counted}, and the larger in {len(losses)}. Separate ones stay the default."
            )
        case _:
            said = (
                f"Whether α is shared cannot be told to matter: none of {n} comparisons over {seeds} shows a "
                f"difference{_open(contrasts)}. Separate ones stay the default, as published."
            )
    strongest = sorted((*wins, *losses), key=lambda contrast: contrast.p)[:4]
    return [said, *(sentence(contrast, results) for contrast in strongest)]


def _between(results: Results, first: str, second: str) -> list[Contrast]:
    return [contrast for contrast in results.contrasts if (contrast.first, contrast.second) == (first, second)]
