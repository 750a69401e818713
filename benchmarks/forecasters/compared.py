"""Encodings under one budget, seed by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.forecasters.jobs import ALONE, HELPED, Budget
from benchmarks.forecasters.scores import BANDS, Spread, band_scores, compare, daily_scores
from benchmarks.forecasters.tables import markdown, spreads

if TYPE_CHECKING:
    from benchmarks.forecasters.results import Frames, Results

STANDARD = "rope"
HOW = {ALONE: "without the linear start and the calendar", HELPED: "with the linear start and the calendar"}


def intro(budget: Budget) -> str:
    """Say what is the same for all."""
    changed = ", ".join(f"`{name}` {value}" for name, value in budget.encoding_training.items()) or "nothing changed"
    return (
        "## Encodings under one budget\n\n"
        f"Log volume; the defaults with {changed}, the same for all. Seeds are paired: a seed has the same first "
        f"weights, batches and dropout with every encoding. Differences are of the RMSE to that of `{STANDARD}` in "
        "percent, with the 95 % t interval over seeds; *t* is over windows. `none` has no place of a bar at all but "
        "what the calendar says, if it has that."
    )


def daily(results: Results, how: str) -> str:
    """Compare on the daily protocol."""
    found = results.encodings("daily", how)
    if not found:
        return ""
    scored = {name: spreads(frames, daily_scores) for name, frames in found.items()}
    rows = []
    for name, values in scored.items():
        difference = "" if name == STANDARD else _said(_paired(values["RMSE"], scored[STANDARD]["RMSE"]))
        rows.append((f"`{name}`", values["RMSE"].said(), values["CRPS"].said(), difference, _t(found, name)))
    head = ("encoding", "RMSE", "CRPS", f"% over `{STANDARD}`", "t, p")
    return _section("Daily", how, found, markdown(head, rows), [_sentence(scored, "RMSE", "")])


def hourly(results: Results, how: str) -> str:
    """Compare on the hourly protocol, within the trained horizon and beyond it."""
    found = results.encodings("hourly", how)
    if not found:
        return ""
    scored = {name: spreads(frames, band_scores) for name, frames in found.items()}
    rows = [(f"`{name}`", *(v.said() for v in values.values()), _t(found, name)) for name, values in scored.items()]
    head = ("encoding", *BANDS, "t, p of all bars")
    sentences = [_sentence(scored, band, f"Bars {band}: ") for band in BANDS]
    return _section("Hourly", how, found, markdown(head, rows), sentences)


def _section(title: str, how: str, found: dict[str, Frames], table: str, sentences: list[str]) -> str:
    count = len(found[STANDARD])
    seeds = f"{count} seed{'s' if count > 1 else ''}"
    return f"### {title}, {HOW[how]}, {seeds}\n\n{table}\n\n" + "\n".join(sentences)


def _paired(values: Spread, standard: Spread) -> Spread:
    pairs = zip(values.values, standard.values, strict=True)
    return Spread(tuple(100 * (one / other - 1) for one, other in pairs))


def _said(spread: Spread) -> str:
    return f"{spread.mean:+.2f}" + (f" ± {spread.half:.2f}" if len(spread.values) > 1 else "")


def _t(found: dict[str, Frames], name: str) -> str:
    if name == STANDARD:
        return ""
    test = compare(found[name], found[STANDARD])
    return f"{test.statistic:+.2f}, {test.p_value:.3f}"


def _sentence(scored: dict[str, dict[str, Spread]], measure: str, lead: str) -> str:
    """Say which encodings differ from the standard by more than the seeds' chance."""
    differences = {
        name: _paired(values[measure], scored[STANDARD][measure]) for name, values in scored.items() if name != STANDARD
    }
    if any(len(difference.values) == 1 for difference in differences.values()):
        return f"{lead}One seed tells nothing apart."
    better = _list({n: d for n, d in differences.items() if d.mean + d.half < 0})
    worse = _list({n: d for n, d in differences.items() if d.mean - d.half > 0})
    alike = ", ".join(f"`{n}`" for n, d in differences.items() if abs(d.mean) <= d.half)
    parts = [
        f"better than `{STANDARD}`, seed by seed: {better}" if better else f"no encoding is better than `{STANDARD}`",
        f"worse: {worse}" if worse else "none is worse",
    ]
    if alike:
        parts.append(f"not to be told from it: {alike}")
    text = "; ".join(parts) + "."
    return lead + (text if lead else text[0].upper() + text[1:])


def _list(differences: dict[str, Spread]) -> str:
    ordered = sorted(differences.items(), key=lambda item: item[1].mean)
    return ", ".join(f"`{name}` ({difference.mean:+.1f} %)" for name, difference in ordered)
