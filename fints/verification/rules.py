"""Rules that decide when a promise is broken.

Every rule about figures looks at the newest nights with live forecasts, and is a one-sided test of their mean. A rule
tests each target, stretch of the horizon and band; its level is that of all of them together (Bonferroni), so that it
is the chance that faultless forecasts raise any of its alerts on a night. What that comes to over a year is measured:
``benchmarks/verification``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.verification.alert import Alert
from fints.verification.interval import mean_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from fints.verification.interval import Mean
    from fints.verification.scorecard import Scorecard

LEAST_NIGHTS = 20
"""Nights with live forecasts before which no figure is judged."""

NOMINAL = {"cov80": 0.8, "cov95": 0.95}


@dataclass(frozen=True, slots=True)
class Limit:
    """When figures break a rule.

    Parameters
    ----------
    margin : float
        By how much they may be worse than promised.
    level : float
        Chance of a false alarm of the rule on one night.
    enabled : bool
    """

    margin: float
    level: float = 0.01
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Count:
    """When nights that are lacking break a rule; from how many in a row."""

    most: int
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules.

    Parameters
    ----------
    coverage : Limit
        Share within a band below the lesser of its name and the hold-out's, by `margin` (0.05: five points).
    error : Limit
        Mean absolute error above the hold-out's, by `margin` as a share of it.
    bias : Limit
        Mean error other than zero, by `margin` as a share of the promised mean absolute error.
    absent : Count
        A symbol without forecasts for so many nights in a row.
    missed : Count
        So many sessions in a row without a night that was made in time.
    nights : int
        Newest nights with live forecasts that figures are judged on.
    """

    coverage: Limit = Limit(0.05)
    error: Limit = Limit(0.2)
    bias: Limit = Limit(0.5)
    absent: Count = Count(3)
    missed: Count = Count(2)
    nights: int = 60


@dataclass(frozen=True, slots=True, eq=False)
class _Nights:
    """Nights of one target and stretch of the horizon."""

    target: str
    steps: str
    last: int
    found: pd.DataFrame


@dataclass(frozen=True, slots=True)
class _Test:
    subject: str
    mean: Mean
    sentence: str
    grade: int

    @property
    def p_value(self) -> float:
        return self.mean.p_above()


def broken(cards: Sequence[Scorecard], rules: Rules) -> list[Alert]:
    """Return the alerts about the figures of live forecasts.

    Parameters
    ----------
    cards : sequence of Scorecard
    rules : Rules
    """
    alerts: list[Alert] = []
    judged = [nights for card in cards if card.live for nights in _nights(card, rules.nights)]
    for name, limit, tests in (
        ("coverage", rules.coverage, _coverage),
        ("error", rules.error, _error),
        ("bias", rules.bias, _bias),
    ):
        asked = [test for nights in judged for test in tests(nights, limit.margin)]
        found = [test for test in asked if limit.enabled and test.p_value * len(asked) <= limit.level]
        alerts += [Alert(name, test.subject, f"{test.sentence}.", test.grade) for test in found]
    return alerts


def _nights(card: Scorecard, nights: int) -> Iterator[_Nights]:
    """Yield the nights of every stretch that can be judged; the horizon as a whole is judged by its stretches."""
    for name, first, last in card.stretches:
        if name == "all":
            continue
        found = card.nightly(first, last, nights)
        if len(found) >= LEAST_NIGHTS:
            yield _Nights(card.target, f"{name} ahead", last, found)


def _coverage(nights: _Nights, margin: float) -> Iterator[_Test]:
    steps, last, found = nights.steps, nights.last, nights.found
    for column, nominal in NOMINAL.items():
        stated = np.fmin(found[f"p_{column}"], nominal)
        short = stated - margin - found[column]
        live, promised = float(found[column].mean()), float(stated.mean())
        yield _Test(
            f"{nights.target}, {steps}, {column.removeprefix('cov')} % band",
            mean_of(short.to_numpy(), last),
            (
                f"{nights.target}: the {column.removeprefix('cov')} % band of bars {steps} held {live:.0%} of what "
                f"came over the last {len(found)} nights with live forecasts; {promised:.0%} was promised"
            ),
            1 + int(max(promised - live, 0) / 0.1),
        )


def _error(nights: _Nights, share: float) -> Iterator[_Test]:
    steps, last, found = nights.steps, nights.last, nights.found
    excess = found["absolute"] - (1 + share) * found["p_absolute"]
    live, promised = float(found["absolute"].mean()), float(found["p_absolute"].mean())
    ratio = live / promised if promised > 0 else float("nan")
    yield _Test(
        f"{nights.target}, {steps}",
        mean_of(excess.to_numpy(), last),
        (
            f"{nights.target}: the mean absolute error of bars {steps} was {live:.3g} over the last {len(found)} "
            f"nights with live forecasts, {ratio - 1:+.0%} against the {promised:.3g} that was promised"
        ),
        1 + int(max(ratio - 1, 0) / 0.25) if np.isfinite(ratio) else 1,
    )


def _bias(nights: _Nights, share: float) -> Iterator[_Test]:
    steps, last, found = nights.steps, nights.last, nights.found
    mean, promised = float(found["error"].mean()), float(found["p_absolute"].mean())
    part = abs(mean) / promised if promised > 0 else float("nan")
    for sign, word in ((1.0, "above"), (-1.0, "below")):
        beyond = sign * found["error"] - share * found["p_absolute"]
        yield _Test(
            f"{nights.target}, {steps}, {word}",
            mean_of(beyond.to_numpy(), last),
            (
                f"{nights.target}: what came {steps} was {abs(mean):.3g} {word} the forecasts on average over the "
                f"last {len(found)} nights with live forecasts, {part:.0%} of the error that was promised"
            ),
            1 + int(part / 0.5) if np.isfinite(part) else 1,
        )


def absent(nights: Mapping[str, int], count: Count) -> list[Alert]:
    """Return an alert for every symbol that has had no forecast for too long.

    Parameters
    ----------
    nights : mapping of str to int
        Newest nights in a row without a forecast, by symbol.
    count : Count
    """
    if not count.enabled:
        return []
    return [
        Alert("absent", name, f"{name}: no forecast for {_in_a_row(n, 'night')}.", n // (2 * count.most) + 1)
        for name, n in sorted(nights.items())
        if n >= count.most
    ]


def missed(sessions: Sequence[pd.Timestamp], count: Count) -> list[Alert]:
    """Return an alert where too many sessions in a row had no night that was made in time.

    Parameters
    ----------
    sessions : sequence of pandas.Timestamp
        Without one, before tonight's, the newest last.
    count : Count
    """
    if not count.enabled or len(sessions) < count.most:
        return []
    span = f"{sessions[0]:%Y-%m-%d} to {sessions[-1]:%Y-%m-%d}" if len(sessions) > 1 else f"{sessions[0]:%Y-%m-%d}"
    said = f"{_in_a_row(len(sessions), 'session')} ({span}) had no forecast that was made in time."
    return [Alert("missed", f"since {sessions[0]:%Y-%m-%d}", said, len(sessions) // 5 + 1)]


def _in_a_row(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s in a row"
