"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.wording import needed, p_value, percent, ruled, times
from fints.studies.cost.loads import CONTROL, LOADS
from fints.studies.cost.results import MARGIN

if TYPE_CHECKING:
    from fints.studies.comparison import Contrast
    from fints.studies.cost.results import Timings
    from fints.studies.cost.work import Measure

REPORTED = (0.036, 0.115)
"""Shares of the training throughput that T-RoPE's authors report to lose."""

RESCALED = 1.1
"""A wall ratio this far from that of the processor tells of a machine that was busy unevenly."""

DEFAULT = "cycle"
"""The product's default encoding."""


def verdict(timings: Timings) -> list[str]:
    """Say what a training step costs, then what its parts do."""
    said = [_default(timings), *(_steps(load, timings) for load in timings.loads)]
    said += [_throughput(load, timings) for load in timings.loads if timings.has(load, "t_rope", "step")]
    said += [_rotation(load, timings) for load in timings.loads]
    said += [_control(timings), _tally(timings)]
    return said


def _default(timings: Timings) -> str:
    parts = []
    for load in timings.loads:
        for measure in ("forward", "forward and back", "step"):
            found = timings.contrasts.get((load, DEFAULT, measure))
            if found is not None:
                parts.append(f"{measure} {times(found)} ({load}; {ruled(found)})")
    if not parts:
        return f"The default encoding, {DEFAULT}, was not timed."
    return (
        f"The default encoding, {DEFAULT}, takes, of the processor time of plain RoPE, "
        f"{', '.join(parts)}; {timings.repeats} repeats."
    )


def _steps(load: str, timings: Timings) -> str:
    steps = {name: timings.contrast(load, name, "step") for name in timings.names(load) if name != CONTROL}
    order = sorted(steps, key=lambda name: float(steps[name].logs.mean()))
    dearer = [name for name in order if steps[name].ruling == "higher" and not steps[name].equal]
    equal = [name for name in order if steps[name].equal]
    said = (
        f"A training step of {LOADS[load].title} takes from {times(steps[order[0]])} ({order[0]}) to "
        f"{times(steps[order[-1]])} ({order[-1]}) RoPE's time; {len(equal)} of {len(order)} encodings are within "
        f"{percent(MARGIN)} of it"
    )
    if dearer:
        said += ", dearer are " + ", ".join(f"{name} ({steps[name].times.mean:.2f})" for name in dearer)
    return f"{said}."


def _throughput(load: str, timings: Timings) -> str:
    step = timings.contrast(load, "t_rope", "step")
    ratio = step.times
    lost, low, high = (1 - 1 / value for value in (ratio.mean, ratio.low, ratio.high))
    said = (
        f"T-RoPE changes the training throughput of {LOADS[load].title} by {_signed(-lost)} "
        f"({_signed(-high)} to {_signed(-low)})"
    )
    if ratio.n == 1:
        return f"{said}; one repeat cannot tell whether that is the reported {_range()}."
    if low > REPORTED[1]:
        return f"{said}: more than the reported {_range()}."
    if high < REPORTED[0]:
        return f"{said}: less than the reported {_range()}."
    if REPORTED[0] <= low and high <= REPORTED[1]:
        return f"{said}: within the reported {_range()}."
    return (
        f"{said}, whose interval reaches over an end of the reported {_range()}; repeats needed for a power of 80 %: "
        f"{needed(step)}."
    )


def _rotation(load: str, timings: Timings) -> str:
    turning = [name for name in timings.names(load) if timings.has(load, name, "rotate") and name != CONTROL]
    if not turning:
        return f"No rotation was timed at the load {load}."
    parts = []
    for measure, words in (("rotate", "Turning queries and keys"), ("prepare", "making the tables of a batch")):
        found = {name: timings.contrast(load, name, measure) for name in turning}  # type: ignore[arg-type]
        order = sorted(found, key=lambda name: float(found[name].logs.mean()))
        parts.append(
            f"{words} takes from {times(found[order[0]])} ({order[0]}) to {times(found[order[-1]])} ({order[-1]}) that "
            f"of RoPE, which takes {timings.rope(load, measure):.2g} ms"  # type: ignore[arg-type]
        )
    whole = timings.rope(load, "step")
    return f"{'; '.join(parts)}; a whole step of {LOADS[load].title} takes {whole:.0f} ms."


def _control(timings: Timings) -> str:
    controls = [c for (_, name, _), c in timings.contrasts.items() if name == CONTROL]
    walls = [
        abs(float(np.log(timings.wall(load, name, measure).mean / contrast.times.mean)))
        for (load, name, measure), contrast in timings.contrasts.items()
    ]
    apart = float(np.exp(np.median(walls)))
    said = "Plain RoPE against itself was not timed"
    if controls:
        worst = max(controls, key=lambda contrast: abs(float(contrast.logs.mean())))
        equal = sum(contrast.equal for contrast in controls)
        said = (
            f"Plain RoPE against itself is equal within {percent(MARGIN)} in {equal} of {len(controls)} timings; the "
            f"furthest is {worst.place.mode} of {worst.place.task} at {times(worst)} (Holm p = {p_value(worst)})"
        )
    agree = "agree" if apart < RESCALED else "do not agree, so the machine was busy: the ratios are the processor's"
    return f"{said}; ratios by the clock on the wall are {apart:.3f} times those in the median, so both {agree}."


def _tally(timings: Timings) -> str:
    every = list(timings.contrasts.values())
    counts = {kind: sum(c.ruling == kind for c in every) for kind in ("lower", "higher", "equal", "undecided")}
    said = (
        f"Of {len(every)} ratios over {timings.repeats} repeats {counts['higher']} are above 1 and {counts['lower']} "
        f"below after Holm's correction, {counts['equal']} are equal within {percent(MARGIN)}, and "
        f"{counts['undecided']} cannot be told"
    )
    undecided = [c for c in every if c.ruling == "undecided" and c.seeds > 1]
    if undecided:
        widest = max(undecided, key=lambda contrast: contrast.needs(contrast.smallest) or 0)
        said += (
            f"; the widest, {_named(widest)} at {times(widest)}, would need, in repeats, {needed(widest)} before "
            "correction"
        )
    if timings.budget == "quick" and undecided:
        said += ". The quick budget cannot tell these; run the full one"
    return f"{said}."


def _named(contrast: Contrast) -> str:
    return f"{contrast.first}, {contrast.place.mode} of {contrast.place.task}"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %".replace("-", "−")


def _range() -> str:
    return f"−{100 * REPORTED[0]:g} % to −{100 * REPORTED[1]:g} %"


def measures(timings: Timings, load: str) -> list[Measure]:
    """Return what was timed at a load, in order."""
    return list(dict.fromkeys(measure for of, _, measure in timings.contrasts if of == load))
