"""Find the cycles of a panel's series, on the session clock and on the calendar's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError, SeriesError
from fints.periods.batches import batches
from fints.periods.families import families
from fints.periods.harmonics import present_harmonics
from fints.periods.peeling import peel
from fints.periods.result import Line, Periods
from fints.periods.robust import CLIPPED
from fints.periods.search import TIE, Search
from fints.periods.significance import false_discovery
from fints.periods.spectrum import DESCRIPTIONS
from fints.periods.stability import is_stable
from fints.series import SeriesProblem, validate_panel

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.periods.batches import Batch
    from fints.periods.families import Family
    from fints.periods.peeling import Peeled
    from fints.periods.samples import Samples
    from fints.periods.search import Clocks, Estimator

    FloatArray = NDArray[np.float64]


def detect_periods(  # noqa: PLR0913 — each is a choice of its own, and all have a default
    panel: pd.DataFrame,
    *,
    clock: Clocks = "both",
    alpha: float = 0.05,
    max_lines: int = 12,
    min_cycles: float = 3.0,
    longest: float | None = None,
    effects: bool = True,
    method: str = "fft",
    estimator: Estimator = "linear",
    n_jobs: int = 1,
) -> Periods:
    """Find the significant cycles of every series of a panel.

    Per series: the spectrum of its noise, the highest peak over it on either clock, its search-wide p. A significant
    peak is fitted on the clock where it explains more, together with the lines before it, and taken out of the series;
    the search goes on in what is left.

    Parameters
    ----------
    panel : pandas.DataFrame
        ``unique_id, ds, y`` or more; a bare frame is taken as daily XNYS. Nothing outside it is read.
    clock : {"both", "session", "calendar"}
        Where lines are looked for. On the calendar clock periods of less than two days are left to the session clock.
    alpha : float
        A line is kept if noise would show one as strong anywhere in the band with at most this probability.
    max_lines : int
        Most lines per series, harmonics included.
    min_cycles : float
        Periods longer than the series' length over this are not searched.
    longest : float, optional
        Longest period wanted, in sessions. A series too short to show it is searched for what it can show, and listed
        among the problems.
    effects : bool
        Whether one-off effects of the calendar (:data:`fints.periods.effects.ONE_OFF`) are taken out first.
    method : str
        How the periodogram that the null level is fitted to is computed.
    estimator : {"linear", "robust"}
        Whether each value counts by its square, or surprising ones by less, as suits noise with heavy tails.
    n_jobs : int
        Processes to search series in, as joblib counts them: -1 is one on every core. The result does not depend on it.

    Returns
    -------
    Periods
        The lines, harmonics grouped under their fundamentals, the spectra, and the series that could not be searched.

    Raises
    ------
    SeriesError
        If no series can be searched.
    ConfigError, UnknownNameError
        If an argument is out of range.
    """
    search = Search(alpha, max_lines, min_cycles, clock, method, longest, estimator)
    if not n_jobs:
        raise ConfigError("n_jobs is 0; give a number of processes, or -1 for one on every core")
    found = _searched(batches(validate_panel(panel), effects=effects), search, n_jobs)
    lines = [line for one in found.values() for line in one.lines]
    searched = {uid: one.peeled for uid, one in found.items() if one.peeled is not None}
    problems = [problem for one in found.values() for problem in one.problems]
    if not searched:
        raise SeriesError("no series can be searched for periods: " + "; ".join(map(str, problems)))
    smallest = [peeled.p_value for peeled in searched.values()]
    q_values = false_discovery([line.p_value for line in lines], smallest)
    judged = tuple(replace(line, q_value=float(q)) for line, q in zip(lines, q_values, strict=True))
    return Periods(judged, searched, tuple(problems))


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a series holds, or why it could not be searched."""

    peeled: Peeled | None
    lines: list[Line]
    problems: list[SeriesProblem]


def _searched(parts: list[Batch], search: Search, n_jobs: int) -> dict[str, _Found]:
    """Search all series, in so many processes, and list them by name."""
    from joblib import Parallel, delayed

    # a second process is worth its start for a second batch only
    jobs = n_jobs if len(parts) > 1 else 1
    with Parallel(n_jobs=jobs, batch_size=1, pre_dispatch="2*n_jobs") as pool:
        found = dict(pair for batch in pool(delayed(_search)(part, search) for part in parts) for pair in batch)
    return dict(sorted(found.items()))


def _search(batch: Batch, search: Search) -> list[tuple[str, _Found]]:
    from threadpoolctl import threadpool_limits

    # sums of floats depend on how many threads share them
    with threadpool_limits(1):
        return [(uid, _found(uid, given, search)) for uid, given in batch.series()]


def _found(uid: str, given: tuple[Samples, FloatArray] | SeriesError, search: Search) -> _Found:
    if isinstance(given, SeriesError):
        return _Found(None, [], [SeriesProblem(uid, str(given).removeprefix(f"{uid}: "))])
    samples, beside = given
    peeled, frame = peel(samples, search, beside)
    lines = [_line(peeled, family, present_harmonics(peeled, family, frame)) for family in families(peeled)]
    return _Found(peeled, lines, _too_short(samples, search))


def _too_short(samples: Samples, search: Search) -> list[SeriesProblem]:
    duration = samples.duration("session")
    if search.longest is None or duration >= search.min_cycles * search.longest:
        return []
    reason = (
        f"a period of {search.longest:g} sessions is undetectable at this length: {search.min_cycles:g} cycles take "
        f"{search.min_cycles * search.longest:.0f} sessions, and there are {duration:.0f}"
    )
    return [SeriesProblem(samples.unique_id, reason, left_out=False)]


def _line(peeled: Peeled, family: Family, harmonics: tuple[int, ...]) -> Line:
    samples, fit, noise = peeled.samples, peeled.fit, peeled.background
    strongest = max(family.members.values(), key=lambda row: peeled.peaks[row].ratio)
    peak = peeled.peaks[strongest]
    other = family.frequency / samples.rate if family.clock == "calendar" else family.frequency * samples.rate
    fastest = 0.5 / samples.step if family.clock == "calendar" else 0.5
    return Line(
        unique_id=samples.unique_id,
        period=1 / family.frequency,
        clock=family.clock,
        harmonics=harmonics,
        strength=peak.ratio,
        amplitude=float(fit.amplitude[family.head]) if family.alone is None else family.alone.amplitude,
        phase=fit.phase(family.head, samples) if family.alone is None else family.alone.phase,
        period_se=family.error / family.frequency**2,
        p_value=peak.p_value,
        q_value=1.0,
        stable=family.burst is None and is_stable(samples, fit, strongest, noise),
        method=_describe(peeled),
        other_period=1 / other if other <= fastest else np.nan,
        also_on=("calendar" if family.clock == "session" else "session") if _tied(peeled, family) else "",
        note=_note(peeled, family),
    )


def _tied(peeled: Peeled, family: Family) -> bool:
    if family.alone is not None:
        return family.alone.lead < TIE
    return all(peeled.peaks[row].tied for row in family.members.values())


def _note(peeled: Peeled, family: Family) -> str:
    """Say what the line's sidebands mean, and where it lives."""
    words = []
    if family.sidebands:
        rate = peeled.samples.rate
        periods = sorted(1 / peeled.fit.tones[row].on(family.clock, rate) for row in family.sidebands)
        unit = "sessions" if family.clock == "session" else "days"
        listed = ", ".join(f"{period:.3g}" for period in periods)
        words.append(f"its size changes with the season: sidebands at {listed} {unit}")
    if family.burst is not None:
        first, last = (peeled.samples.date(row) for row in (family.burst.first, family.burst.last))
        words.append(f"only about {first} to {last}, with an amplitude of {family.burst.amplitude:.3g}")
    return "; ".join(words)


def _describe(peeled: Peeled) -> str:
    both = len(peeled.clocks) > 1
    words = (
        DESCRIPTIONS[peeled.search.method],
        peeled.background.describe(),
        "generalised least squares on both clocks" if both else "generalised least squares",
        f"innovations beyond {CLIPPED:g} standard deviations clipped" if peeled.search.estimator == "robust" else "",
        peeled.samples.describe(),
    )
    return "; ".join(part for part in words if part)
