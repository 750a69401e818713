"""What a fit of the nightly model is made of, and what memory thousands of series take.

Run ``make bench``; the result is written to ``benchmarks/results/<date>-training.md``. Times are processor time of one
thread, medians of many; memory is that of the process beyond the tape.
"""

from __future__ import annotations

import datetime
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import fints
from fints.forecast import QUANTILES
from fints.series.windows import CLOCKS, Tape, feature_columns
from fints.transformer.losses import pinball_loss
from fints.transformer.training import Learner, Optimiser, Split, TrainingWindows, batches, train

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results"
REPEATS = 40
SERIES, ROWS = 5000, 500


def median_ms(run: Callable[[], object]) -> float:
    """Median of the processor time of a call, after a first one."""
    run()
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return 1000 * statistics.median(times)


def parts(model: fints.CycleTransformer, windows: TrainingWindows, columns: tuple[int, int]) -> list[str]:
    """One row per part of a step, and of a look."""
    config = model.design.training
    split = Split.by_time(windows, config.validation_share)
    origins = batches(split.train, config, np.random.default_rng(0))[0]
    batch, network = windows.batch(origins), model.design.network_for(*columns).train()
    probabilities, optimiser = torch.tensor(QUANTILES), Optimiser(network, config)
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(config.average))
    # So many steps are timed that the schedule of a short training would have run out.
    learner = Learner(model.design.network_for(*columns), config.model_copy(update={"max_steps": 10_000}))

    def forward() -> torch.Tensor:
        return pinball_loss(network(batch.inputs), batch.target, probabilities)

    def backward() -> None:
        network.zero_grad()
        forward().backward()

    times = {
        "cut a batch": median_ms(lambda: windows.batch(origins)),
        "forward and loss": median_ms(forward),
        "forward, loss and backward": median_ms(backward),
        "clip": median_ms(lambda: torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip)),
        "optimiser": median_ms(optimiser.step),
        "average": median_ms(lambda: average.update_parameters(network)),
        "a whole step, batch cut": median_ms(lambda: learner.step(batch)),
        "a look at one batch": median_ms(lambda: learner.validate(batch)),
    }
    return ["| part | ms |", "| --- | --- |", *(f"| {name} | {ms:.2f} |" for name, ms in times.items())]


def resident() -> tuple[float, float]:
    """Memory of this process in MiB: now, and at its highest since the last reset."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines())
    now, most = (float(lines[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    return now, most


def many_series(model: fints.CycleTransformer) -> str:
    """Train briefly on thousands of series."""
    rng, rows = np.random.default_rng(0), SERIES * ROWS
    days = np.datetime64("2015-01-02", "ns") + np.arange(ROWS) * np.timedelta64(1, "D")
    tape = Tape(
        unique_ids=tuple(f"S{i:05d}" for i in range(SERIES)),
        bounds=np.arange(SERIES + 1) * ROWS,
        ds=np.tile(days, SERIES),
        values=rng.standard_normal((rows, 3)),
        calendar=rng.standard_normal((rows, 3)),
        clocks={name: np.tile(np.arange(ROWS, dtype=float), SERIES) for name in CLOCKS},
    )
    windows = TrainingWindows(tape, model.design.input_size, model.h)
    network = model.design.network_for(2, 3)
    arrays = [tape.ds, tape.values, tape.calendar, *tape.clocks.values()]
    held = sum(array.nbytes for array in arrays) / 2**20
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # begins VmHWM again
    before, _ = resident()
    began = time.perf_counter()
    train(network, windows, model.design.training.model_copy(update={"max_steps": 20}), seed=0)
    seconds = time.perf_counter() - began
    count, width = len(windows.origins()), (windows.input_size + windows.h) * 8 * 6
    return (
        f"{SERIES} series of {ROWS} rows, {count} windows: the tape holds {held:.0f} MiB, 20 steps take "
        f"{resident()[1] - before:.0f} MiB beside it and {seconds:.1f} s. The windows in full would take "
        f"{count * width / 2**30:.0f} GiB."
    )


def main() -> None:
    """Measure, print, write."""
    torch.set_num_threads(1)
    panel = fints.make_panel(fints.sample_bars(), "log_volume")
    past, known = feature_columns(panel)
    model = fints.CycleTransformer(h=20, input_size=252)
    windows = TrainingWindows(Tape.from_panel(panel, past, known), model.design.input_size, model.h)
    table = parts(model, windows, (len(past), len(known)))
    network = model.design.network_for(len(past), len(known))
    began = time.process_time()
    record = train(network, windows, model.design.training, seed=0)
    fit = time.process_time() - began
    today = datetime.datetime.now(tz=datetime.UTC).date()
    text = "\n".join(
        [
            f"# Training, {today}\n",
            f"The nightly model on the sample: {record.steps} steps, {len(record.validation)} looks, {fit:.1f} s.\n",
            *table,
            "",
            many_series(model),
            "",
        ]
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-training.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
