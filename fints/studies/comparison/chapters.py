"""The parts of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison.figures import by_horizon, forests
from fints.studies.comparison.power import POWER
from fints.studies.comparison.tables import contrast_table, error_table
from fints.studies.comparison.wording import percent
from fints.studies.findings import Chapter

if TYPE_CHECKING:
    from fints.studies.comparison.results import Results
    from fints.studies.comparison.study import Comparison
    from fints.studies.comparison.task import Task
    from fints.studies.findings import Chart

BIG = 120
"""Seconds from which on times are written in minutes."""


def chapters(study: Comparison, results: Results, elapsed: float, workers: int) -> list[Chapter]:
    """Return the parts of the report of a comparison.

    Parameters
    ----------
    study : Comparison
    results : Results
    elapsed : float
        Seconds by the clock on the wall.
    workers : int
        Processes of the last run.
    """
    words = study.words
    return [
        Chapter("Why it matters", words.why),
        Chapter("Design", f"{words.design.strip()}\n\n{_tasks(results)}\n\n{_statistics(results)}"),
        _results(study, results),
        *study.chapters(results),
        Chapter("What fints does because of this", words.consequences),
        Chapter("Limits", words.limits),
        Chapter("Data, command and time", _repeat(study, results, elapsed, workers)),
    ]


def _results(study: Comparison, results: Results) -> Chapter:
    text = (
        "How many times the error of the second arm the first one has: below 1 the first is better. The error is the "
        "root mean square over origins and bars of a horizon's part."
    )
    charts: list[Chart] = [*forests(results, study.forest), *by_horizon(results, study.drawn)]
    return Chapter("Results", text, [contrast_table(results), error_table(results)], charts)


def _tasks(results: Results) -> str:
    lines = []
    for task in results.tasks.values():
        shape, training, net = task.shape, task.recipe.training, task.recipe.network
        lines.append(
            f"- **{task.title}** (`{task.name}`): training sees {shape.trained} bars per series, in windows of "
            f"{shape.input_size} bars of context and {shape.h} of horizon; {shape.horizon} bars are forecast from "
            f"origins {shape.stride} apart after them. {net.n_layers} layers of {net.dim} channels and "
            f"{net.n_heads} heads, {training.max_steps} steps of {training.batch_size} windows at a peak rate of "
            f"{training.learning_rate:g}."
        )
    modes = "\n".join(f"- *{mode.name}*: {mode.title}." for mode in results.modes.values())
    return "\n".join(lines) + "\n\nBeside the encoding, the network is\n\n" + modes


def _statistics(results: Results) -> str:
    return f"""\
Arms are compared seed by seed: a seed decides the data (but for real bars), the first weights, the order of the windows
and what an encoding draws. A ratio is the geometric mean over seeds, with Student's 95 % interval of its logarithm; the
interval from resampled seeds stands beside it, and is too narrow for few of them. p is that of the paired t-test,
corrected after Holm for all {len(results.contrasts)} comparisons of this page. d_z is the mean log-ratio over its
standard deviation. "Equal within {percent(results.margin)}" means that the whole Student interval lies within that
margin; "not distinguishable" that neither a difference nor equality could be shown. The last columns say how many seeds
a single paired t-test would need to find {percent(results.smallest)}, or the observed difference, with a probability of
{percent(POWER)}; a dash stands for no number below 100,000."""


def _repeat(study: Comparison, results: Results, elapsed: float, workers: int) -> str:
    data = "\n".join(f"- {task.title}: {_version(task)}" for task in results.tasks.values())
    count = sum(len(units) for units in results.units.values()) + len(results.extra)
    return f"""\
`fints study {study.name} --budget {results.budget}` makes this page; what is finished is kept, so a run that was
stopped goes on. {count} units took {_time(results.seconds)} of processor time, one thread each, and {_time(elapsed)} by
the clock over all runs so far, the last with {workers} processes, on a machine that may have done other things beside.

{data}"""


def _version(task: Task) -> str:
    return f"{task.source.version}; content of seed 0 `{task.draw(0).digest}`"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= BIG else f"{seconds:.0f} seconds"
