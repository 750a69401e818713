"""One job in a process of its own, so that what it takes can be told: ``python -m benchmarks.forecasters.worker``."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.forecasters.jobs import COMBINATION, INFERENCE, OURS, PANEL, PEERS, Job
from benchmarks.forecasters.store import Cost, Store, code_digest

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.forecasters.protocol import Trial

STATUS = Path("/proc/self/status")
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run_apart(job: Job, store: Store, folder: Path) -> bool:
    """Run a job in a fresh process with one thread; return whether it came to its end."""
    command = [sys.executable, "-m", "benchmarks.forecasters.worker", str(store.folder), str(folder)]
    done = subprocess.run([*command, json.dumps(asdict(job))], env={**os.environ, **THREADS}, check=False)
    return done.returncode == 0


def trial_of(job: Job, store: Store, folder: Path) -> Trial:
    """Read the panel and cut the windows."""
    from benchmarks.forecasters import protocol

    if job.trial == "hourly":
        panel = store.panel("hourly", lambda: protocol.hourly_panel(folder))
        return protocol.hourly_trial(folder, panel, job.shift)
    panel = store.panel(f"daily-{job.target}", lambda: protocol.daily_panel(folder, job.target))
    return protocol.daily_trial(folder, panel, job.shift)


def _forecasts(job: Job, store: Store, folder: Path) -> pd.DataFrame:
    if job.trial == INFERENCE:
        from benchmarks.forecasters.inference import seconds

        return seconds(job)
    trial = trial_of(job, store, folder)
    if job.model == PANEL:
        return trial.panel.head(0)
    if job.model in PEERS and job.model != "LightGBM":
        from benchmarks.forecasters.neural import forecasts

        return forecasts(job, trial)
    if job.model == "LightGBM":
        from benchmarks.forecasters.trees import forecasts as of_trees

        return of_trees(job, trial)
    if job.model == COMBINATION:
        from benchmarks.forecasters.combining import judge_combination

        return judge_combination(job, trial)
    from benchmarks.forecasters.judging import judge

    return judge(job, trial)


def _highest() -> float:
    """Highest resident memory of this program in MiB.

    The kernel's mark for the program is preferred: `getrusage` counts that of the process which started it as well.
    """
    if STATUS.exists():
        line = next(line for line in STATUS.read_text("ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 1024


def main() -> None:
    """Run, measure, keep."""
    warnings.simplefilter("ignore")
    store, folder, job = Store(Path(sys.argv[1])), Path(sys.argv[2]), Job(**json.loads(sys.argv[3]))
    if job.model in (OURS, COMBINATION, *PEERS):
        import torch

        torch.set_num_threads(1)
    began, code = time.perf_counter(), code_digest()
    frame = _forecasts(job, store, folder)
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    store.keep(job, frame, Cost(used.ru_utime + used.ru_stime, _highest(), wall, code))


if __name__ == "__main__":
    main()
