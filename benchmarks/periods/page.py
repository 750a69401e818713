"""The page: tables and what they say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.periods.accuracy import DECIBELS, PERIODS, Cell, ratio
from benchmarks.periods.alarms import SEARCHED
from benchmarks.periods.alarms import N as ALARM_SESSIONS
from benchmarks.periods.days import CLOCKS, GARCH
from benchmarks.periods.estimators import PERIOD
from benchmarks.periods.peers import COEFFICIENTS, FINTS, ROBUST, N, detectors, few
from benchmarks.periods.peers import DECIBELS as PEER_DECIBELS
from benchmarks.periods.planted import LONGEST, MOST, SHORTEST
from benchmarks.periods.real import TOLD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.periods.cells import Values
    from benchmarks.periods.real import Named
    from benchmarks.periods.timing import Took


_LEAST = 0.005


def accuracy_table(found: Mapping[Cell, Values]) -> str:
    """List the root mean square error of the frequency over the bound."""
    sizes = sorted({cell.n for cell in found})
    rows = [
        (f"{n:,}", clock, f"{period}", *(_ratio(found[Cell(n, clock, period, d)]) for d in DECIBELS))
        for n in sizes
        for clock in CLOCKS
        for period in PERIODS
    ]
    rows += [(f"{n:,}", "both", "all", *(_pooled(found, n, d) for d in DECIBELS)) for n in sizes]
    series = "; ".join(_efficient(n, [int(v["series"]) for cell, v in found.items() if cell.n == n]) for n in sizes)
    return (
        "## Error of the frequency over the Cramér-Rao bound\n\n"
        "One line in white noise, both clocks searched; root mean square error over the root of the bound for the "
        f"sampled places, mean, trend, amplitude and phase unknown too. Series a cell: {series}. Decibels: power of "
        "the line over the variance of the noise. In brackets, if any: share of series whose line was not found, and "
        "share where it was found on the other clock, which the ratio leaves out: a short series, or a slow line, "
        "cannot always tell the clocks apart, and then says so (`also_on`). Where many are missed the bound is out of "
        "reach for any estimator: at times it takes the highest peak of the noise.\n\n"
    ) + _table(("sessions", "clock", "period", *(f"{d} dB" for d in DECIBELS)), rows)


def estimator_table(found: Mapping[int, Values], trials: int) -> str:
    """List estimators of one line's frequency."""
    sizes = sorted(found)
    rows = [(name, *(f"{found[n][name]:.2f}" for n in sizes)) for name in found[sizes[0]]]
    return (
        "## Estimators over the same bound\n\n"
        f"A line of amplitude 1 and a period of {PERIOD} sessions in white noise of variance 1, by length; {trials} "
        "series each.\n\n"
    ) + _table(("", *(f"{n:,} sessions" for n in sizes)), rows)


def alarm_table(found: Mapping[str, Values], trials: int) -> str:
    """List false alarms."""
    rows = [
        (kind if kind == GARCH else f"AR(1), φ = {kind}", *(f"{100 * values[c]:.1f} %" for c in SEARCHED))
        for kind, values in found.items()
    ]
    pooled = [sum(values[c] for values in found.values()) / len(found) for c in SEARCHED]
    rows.append(("all", *(f"{100 * share:.1f} %" for share in pooled)))
    return (
        "## False alarms at the 5 % level\n\n"
        f"Share of series of noise alone with any line at p < 0.05; {ALARM_SESSIONS:,} sessions, {trials} series a "
        f"row (standard error {100 * math.sqrt(0.05 * 0.95 / trials):.1f} %), one-off effects taken out.\n\n"
    ) + _table(("noise", *SEARCHED), rows)


def peer_tables(found: Mapping[tuple[str, float, int | None], Values], trials: int) -> str:
    """Set recall and precision of all detectors side by side."""
    told = ", ".join(d.name for d in detectors() if d.told)
    said = (
        "## Recall and precision beside other packages\n\n"
        f"One to {MOST} cycles of {SHORTEST:g} to {LONGEST:g} sessions, none of whole length but by chance, each on "
        f"either clock, in AR(1) noise of {N:,} sessions; {trials} series a cell ({ROBUST}: {few(trials)}, as it takes "
        "half a minute for each). Decibels: power of a cycle over the density of the noise at its frequency; half of "
        "the sessions times that is the height of its peak over the noise. An answer is right within 5 % of a planted "
        "period, or half a session; twice or three times a planted period is neither right nor wrong. Cells: recall / "
        "precision. Error: median of the right answers' frequency at -5 dB, in Fourier bins. Noise: share of series "
        f"without any cycle in which something is named. Told how many to name: {told}."
    )
    parts = [said]
    for coefficient in COEFFICIENTS:
        shown = [d for d in PEER_DECIBELS if d is not None]
        head = ("", *(f"{d} dB" for d in shown), "error", "noise")
        rows = [
            (
                detector.name,
                *(_pair(found[detector.name, coefficient, d]) for d in shown),
                _number(found[detector.name, coefficient, -5]["error"], 3),
                "" if detector.told else f"{100 * found[detector.name, coefficient, None]['answered']:.0f} %",
            )
            for detector in detectors()
        ]
        parts.append(f"### φ = {coefficient}\n\n" + _table(head, rows))
    return "\n\n".join(parts)


def real_table(found: Sequence[Named]) -> str:
    """List what each names in the log volume of the sample."""
    rows = [(named.detector, f"`{named.unique_id}`", f"{named.sessions:,}", _listed(named.answers)) for named in found]
    return (
        "## Real series\n\n"
        "Log volume of the S&P 500 and the NASDAQ Composite, 1999 to 2018; periods in sessions unless they say days. "
        f"Detectors without a threshold are asked for {TOLD}. Nobody knows the truth; the trading week is 7 days, "
        "which is 4.83 sessions.\n\n"
    ) + _table(("", "series", "sessions", "named"), rows)


def time_tables(whole: Sequence[Took], each: Mapping[str, Mapping[int, float]], cores: int) -> str:
    """List seconds."""
    first = _table(
        ("`fints.detect_periods`", "wall, s", "processor, s"),
        [(took.what, f"{took.wall:.1f}", f"{took.processor:.1f}") for took in whole],
    )
    lengths = sorted(each[FINTS])
    rows = [(name, *(f"{1000 * own[n]:.0f}" for n in lengths)) for name, own in each.items()]
    second = _table(("one daily series, ms of processor time", *(f"{n:,} sessions" for n in lengths)), rows)
    return f"## Time\n\nOn {cores} cores, shared with whatever else ran.\n\n{first}\n\n{second}"


def _ratio(values: Values) -> str:
    lost = {"missed": values["series"] - values["here"] - values["elsewhere"], "other clock": values["elsewhere"]}
    said = [f"{_percent(count / values['series'])} {word}" for word, count in lost.items() if count]
    return _number(ratio(values), 2) + (f" ({', '.join(said)})" if said else "")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= _LEAST else "< 1 %"


def _efficient(n: int, series: Sequence[int]) -> str:
    """Say how many series a length has, and what an efficient estimator shows over the fewest."""
    few, most = min(series), max(series)
    said = f"{few}" if few == most else f"{few} to {most}"
    return f"{said} at {n:,} sessions (an efficient estimator shows 1 ± {1 / math.sqrt(2 * few):.2f})"


def _pooled(found: Mapping[Cell, Values], n: int, decibel: int) -> str:
    own = [values for cell, values in found.items() if (cell.n, cell.decibel) == (n, decibel)]
    return _number(ratio({name: sum(values[name] for values in own) for name in ("squares", "here")}), 2)


def _pair(values: Values) -> str:
    return f"{_number(values['recall'], 2)} / {_number(values['precision'], 2)}"


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _listed(answers: Sequence[str], most: int = 12) -> str:
    shown = "; ".join(answers[:most])
    return shown + (f"; … {len(answers)} in all" if len(answers) > most else "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
