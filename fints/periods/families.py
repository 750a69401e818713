"""From the tones of one series to its cycles: harmonics and sidebands put where they belong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.bursts import find_bursts
from fints.periods.harmonics import group_harmonics, harmonic_number
from fints.periods.lines import Tone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.periods.bursts import Burst
    from fints.periods.peeling import Peeled
    from fints.periods.samples import Clock

    FloatArray = NDArray[np.float64]

YEAR = 365.25
_SURE = 3.0
_HARMONIC_BINS = 0.6
_OF_THE_YEAR = 48
_SEASONS = 24
_BY_CHANCE = 0.25
_STRONGER = 2.0
_HIGH = 24


@dataclass(frozen=True, slots=True)
class Family:
    """One cycle: a fundamental and the harmonics that were found.

    Parameters
    ----------
    clock : {"session", "calendar"}
        The clock it lives on.
    frequency, error : float
        Of the fundamental, which need not have been found itself; its standard error.
    members : mapping of int to int
        Harmonic number to line.
    sidebands : tuple of int
        Lines that are the sum or difference of a member and a slower cycle: the cycle's size changes with the latter.
    burst : Burst, optional
        The part of the series that the strongest member is confined to.
    """

    clock: Clock
    frequency: float
    error: float
    members: Mapping[int, int]
    sidebands: tuple[int, ...] = ()
    burst: Burst | None = None

    @property
    def alone(self) -> Burst | None:
        """The burst that the cycle is, if it has no harmonics."""
        return self.burst if set(self.members) == {1} else None

    @property
    def head(self) -> int:
        """The lowest line."""
        return self.members[min(self.members)]


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Lines that are reported, as arrays over all lines of a series."""

    peeled: Peeled
    rows: list[int]
    error: FloatArray
    tolerance: FloatArray
    strength: FloatArray

    @classmethod
    def of(cls, peeled: Peeled) -> _Lines:
        samples, fit = peeled.samples, peeled.fit
        error = np.sqrt(fit.variance)
        bins = np.array([_HARMONIC_BINS / samples.duration(tone.clock) for tone in fit.tones])
        rows = [k for k, tone in enumerate(fit.tones) if peeled.search.reports(tone, samples)]
        return cls(peeled, rows, error, np.maximum(_SURE * error, bins), np.array([p.ratio for p in peeled.peaks]))

    def on(self, row: int, clock: Clock) -> tuple[float, float]:
        """Frequency and tolerance of a line on a clock; on the other clock what was fitted there, if anything."""
        rate, peak = self.peeled.samples.rate, self.peeled.peaks[row]
        tone = peak.tone
        if tone.clock != clock and peak.tied and peak.rival is not None:
            tone = peak.rival
        scale = tone.on(clock, rate) / tone.frequency if tone.frequency else 1.0
        own = peak.tone.on(clock, rate) / peak.tone.frequency
        return tone.frequency * scale, float(self.tolerance[row] * own)


def families(peeled: Peeled) -> list[Family]:
    """Cycles of a series, the strongest first."""
    lines = _Lines.of(peeled)
    bursts = find_bursts(peeled.samples, peeled.fit, lines.rows, peeled.background, peeled.clocks)
    parts = {row for burst in bursts for row in burst.rows[1:]}
    lines.rows[:] = [row for row in lines.rows if row not in parts]
    carriers = _sidebands(lines)
    free = [row for row in lines.rows if row not in carriers]
    found: list[Family] = []
    own = _clocks(lines, free)
    for clock in sorted(set(own.values())):
        found.extend(_grouped(lines, [row for row in free if own[row] == clock], clock))
    found = _absorbed(lines, found)
    with_sides = []
    for family in found:
        sides = tuple(side for side, carrier in carriers.items() if carrier in family.members.values())
        with_sides.append(_confined(replace(family, sidebands=sides), bursts))
    return sorted(with_sides, key=lambda family: -max(lines.strength[row] for row in family.members.values()))


def _confined(family: Family, bursts: list[Burst]) -> Family:
    """Say in which part of the series a cycle lives; one that has no harmonics has its frequency from there."""
    burst = next((burst for burst in bursts if burst.rows[0] in family.members.values()), None)
    if burst is None or set(family.members) != {1}:
        return replace(family, burst=burst)
    return replace(family, clock=burst.tone.clock, frequency=burst.tone.frequency, error=burst.error, burst=burst)


def _clocks(lines: _Lines, rows: list[int]) -> dict[int, Clock]:
    """Clock of each line; one that either clock explains as well goes to where it belongs to a family."""
    clocks = {row: lines.peeled.peaks[row].tone.clock for row in rows}
    for row in rows:
        peak = lines.peeled.peaks[row]
        if not peak.tied or peak.rival is None:
            continue
        relatives: dict[Clock, int] = {"session": 0, "calendar": 0}
        for clock, other in product(relatives, rows):
            if other != row and (clocks[other] == clock or lines.peeled.peaks[other].tied):
                pair = sorted([lines.on(row, clock), lines.on(other, clock)])
                relatives[clock] += harmonic_number(pair[1], pair[0]) is not None
        away = peak.rival.clock
        if relatives[away] > relatives[peak.tone.clock]:
            clocks[row] = away
    return clocks


def _grouped(lines: _Lines, rows: list[int], clock: Clock) -> list[Family]:
    if not rows:
        return []
    values = np.array([lines.on(row, clock) for row in rows])
    groups = group_harmonics(values[:, 0], values[:, 1], lines.strength[rows])
    found = []
    for members in groups.values():
        own = {number: rows[k] for number, k in members.items()}
        found.append(_family(lines, clock, own))
    return _of_the_year(lines, found) if clock == "calendar" else found


def _family(lines: _Lines, clock: Clock, members: Mapping[int, int], *, sure: bool = False) -> Family:
    """Place the fundamental at the precision-weighted mean of what its harmonics imply.

    The harmonics of a cycle that drifts lie further apart than their errors. Then its fundamental stays where it was
    found, unless the members surely belong together: then the errors are widened until they agree.
    """
    rows, numbers = list(members.values()), np.array(list(members), dtype=np.float64)
    values = np.array([lines.on(row, clock) for row in rows])
    scale = values[:, 0] / np.array([lines.peeled.fit.tones[row].frequency for row in rows])
    error = np.maximum(lines.error[rows] * scale / numbers, 1e-300)
    weight = error**-2.0
    implied = values[:, 0] / numbers
    frequency, own = float(weight @ implied / weight.sum()), dict(sorted(members.items()))
    if 1 in members and not sure and np.any(np.abs(implied - frequency) > _SURE * error):
        first = rows.index(members[1])
        return Family(clock, float(implied[first]), float(error[first]), own)
    spread = float(weight @ (implied - frequency) ** 2) / max(1, len(rows) - 1) if sure else 1.0
    return Family(clock, frequency, float(np.sqrt(max(1.0, spread) / weight.sum())), own)


def _absorbed(lines: _Lines, found: list[Family]) -> list[Family]:
    """Put single lines that are high harmonics of a stronger, well-known cycle under it."""
    kept = sorted(found, key=lambda family: -lines.strength[family.head])
    for single in reversed(kept.copy()):
        if len(single.members) > 1:
            continue
        for host in kept:
            frequency, tolerance = lines.on(single.head, host.clock)
            number = int(np.rint(frequency / host.frequency))
            off, allowed = abs(frequency - number * host.frequency), np.hypot(tolerance, _SURE * number * host.error)
            weaker = lines.strength[single.head] < lines.strength[host.head]
            if host.clock == single.clock and weaker and 1 < number <= _HIGH and off <= allowed:
                kept[kept.index(host)] = _family(lines, host.clock, {number: single.head} | dict(host.members))
                kept.remove(single)
                break
    return kept


def _of_the_year(lines: _Lines, found: list[Family]) -> list[Family]:
    """Join lines that are multiples of the year's frequency, if there are several.

    Up to the forty-eighth, a quarter of a month, beyond which the week is near.
    """
    joined: dict[int, int] = {}
    rest = []
    for family in found:
        number = _multiple_of_the_year(lines.on(family.head, "calendar")) or 0
        multiples = {number * k // min(family.members): row for k, row in family.members.items()}
        own = {m: _multiple_of_the_year(lines.on(row, "calendar")) for m, row in multiples.items()}
        strays = any(m <= _OF_THE_YEAR and own[m] != m for m in own)
        if not number or strays or multiples.keys() & joined.keys():
            rest.append(family)
            continue
        joined |= multiples
    if len(joined) < 2:
        return found
    common = np.gcd.reduce(list(joined))
    members = {int(number // common): row for number, row in joined.items()}
    return [*rest, _family(lines, "calendar", members, sure=True)]


def _multiple_of_the_year(value: tuple[float, float]) -> int | None:
    number = int(np.rint(value[0] * YEAR))
    told = _seasons_told_apart(value[1])
    return number if told and 1 <= number <= _OF_THE_YEAR and abs(value[0] - number / YEAR) <= value[1] else None


def _seasons_told_apart(tolerance: float) -> bool:
    """Whether few frequencies lie within a tolerance of a multiple of the year's by chance."""
    return 2 * tolerance * YEAR <= _BY_CHANCE


def _sidebands(lines: _Lines) -> dict[int, int]:
    """Lines that are a sum or a difference of a stronger line and a slower cycle, to that stronger line.

    A carrier's second and third harmonic count too, found or not, as five days a week hold only two of the week's. The
    slower cycle is another line, or a season: a multiple of the year's frequency up to the twenty-fourth, if the series
    is long enough to tell these apart.
    """
    found: dict[int, int] = {}
    rate = lines.peeled.samples.rate
    for row in sorted(lines.rows, key=lambda k: lines.strength[k]):
        clock = lines.peeled.peaks[row].tone.clock
        own = lines.on(row, clock)
        if clock == "calendar" and _multiple_of_the_year(own) is not None:
            continue
        told = _seasons_told_apart(lines.on(row, "calendar")[1])
        seasons = [Tone("calendar", m / YEAR).on(clock, rate) for m in range(1, _SEASONS + 1)] if told else []
        stronger = [k for k in lines.rows if lines.strength[k] > _STRONGER * lines.strength[row] and k not in found]
        for carrier in stronger:
            strong = lines.on(carrier, clock)
            slow = [lines.on(k, clock) for k in lines.rows if k not in {row, carrier}]
            slow += [(season, 0.0) for season in seasons]
            offs = [abs(own[0] - number * strong[0]) for number in (1, 2, 3)]
            if any(
                value < strong[0] / 2 and value < own[0] / 2 and abs(off - value) <= np.hypot(own[1], tolerance)
                for (value, tolerance), off in product(slow, offs)
            ):
                found[row] = carrier
                break
    return found
