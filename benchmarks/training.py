"""What lightning costs: the nightly model trained by `fints.transformer.training.train` and by a bare loop.

Both take the same batches, optimiser, schedule, clipping, weight average and validation. Run ``make bench``; the result
is written to ``benchmarks/results/<date>-training.md``.
"""

from __future__ import annotations

import datetime
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import fints
from fints.series.windows import Tape, feature_columns
from fints.transformer.training import Split, TrainingTask, WindowDataset, batches, train

ROUNDS = 3
RESULTS = Path(__file__).parent / "results"


def bare_loop(model: fints.CycleTransformer, tape: Tape, columns: tuple[int, int]) -> float:
    """Train without lightning; return the seconds."""
    config, design = model.design.training, model.design
    network = design.network_for(*columns)
    began = time.perf_counter()
    split = Split.by_time(tape, design.input_size, design.h, config.validation_share)
    task = TrainingTask(network, config)
    chosen = task.configure_optimizers()
    optimizer, schedule = chosen["optimizer"], chosen["lr_scheduler"]["scheduler"]
    average = AveragedModel(task, multi_avg_fn=get_ema_multi_avg_fn(config.average))
    data = WindowDataset(tape, batches(split.train, config, np.random.default_rng(0)), design.input_size, design.h)
    looks = np.array_split(
        split.validation[: config.validation_windows], config.validation_windows // config.batch_size
    )
    validation = WindowDataset(tape, looks, design.input_size, design.h)
    for step, batch in enumerate(data):
        loss = task.training_step(batch, step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(task.parameters(), config.clip)
        optimizer.step()
        schedule.step()
        average.update_parameters(task)
        if (step + 1) % config.validate_every == 0:
            average.eval()
            with torch.inference_mode():
                for inputs, _ in validation:
                    average.module.network(inputs)
    return time.perf_counter() - began


def with_lightning(model: fints.CycleTransformer, tape: Tape, columns: tuple[int, int]) -> float:
    """Train as the product does; return the seconds."""
    design = model.design
    network = design.network_for(*columns)
    began = time.perf_counter()
    train(network, tape, design.training, window=(design.input_size, design.h), seed=0)
    return time.perf_counter() - began


def main() -> None:
    """Measure in turns, print, write."""
    panel = fints.make_panel(fints.sample_bars(), "log_volume")
    past, known = feature_columns(panel)
    tape = Tape.from_panel(panel, past, known)
    model = fints.CycleTransformer(h=20, input_size=252)
    # Without early stopping both take the same number of steps.
    model = model.with_settings(training=model.design.training.model_copy(update={"patience": 1000}))
    rounds = [
        (bare_loop(model, tape, (len(past), len(known))), with_lightning(model, tape, (len(past), len(known))))
        for _ in range(ROUNDS)
    ]
    ratio = statistics.median(ours / bare for bare, ours in rounds)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    text = (
        f"# Training, {today}\n\nThe nightly model on the sample, {model.design.training.max_steps} steps, "
        f"{torch.get_num_threads()} threads, {ROUNDS} rounds in turns.\n\n"
        f"lightning / bare loop: **{ratio:.2f}**\n"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-training.md").write_text(text, encoding="utf-8")
    print(text, rounds)


if __name__ == "__main__":
    main()
