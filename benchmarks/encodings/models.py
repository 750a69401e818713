"""Encodings at work: a bias in attention, and a whole training step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

import fints
from benchmarks.encodings.shapes import Shape
from benchmarks.encodings.timing import Race, race
from fints.encodings import attend
from fints.encodings.base import LayerTerms
from fints.series.windows import Tape, feature_columns
from fints.transformer.training import Split, TrainingTask, WindowDataset, batches

if TYPE_CHECKING:
    from benchmarks.encodings.timing import Run
    from fints.encodings import Encoding

BIAS = Shape(8, 8, 512, 64)
STEPS = ("rope", "none", "xpos", "cycle", "rfr", "clock", "t_rope", "to_rope", "rote", "alibi", "time_rab")


def bias_race() -> Race:
    """Time causal attention, forward and backward, with no bias, ALiBi folded and dense, and Time-RAB."""
    q, k, v = (BIAS.random().requires_grad_() for _ in range(3))
    dy, at = BIAS.random(), BIAS.shared()

    def attention(encoding: Encoding | None, *, dense: bool) -> Run:
        def run() -> object:
            layer = LayerTerms() if encoding is None else encoding.prepare(at, at).layer(0)
            # Rows of a bias are not folded, whatever they are rows of.
            y = attend(q, k, v, LayerTerms.bias_of(layer, slice(None)) if dense else layer, is_causal=True)
            return torch.autograd.grad(y, (q, k, v), dy)

        return run

    alibi, rab = BIAS.build("alibi"), BIAS.build("time_rab")
    runs = {"no bias": attention(None, dense=False), "ALiBi, folded": attention(alibi, dense=False)}
    runs |= {"ALiBi, dense": attention(alibi, dense=True), "Time-RAB": attention(rab, dense=False)}
    return race(runs, rounds=9)


def step_race(rounds: int = 21) -> Race:
    """Time a training step of the nightly model on the sample, by encoding."""
    panel = fints.make_panel(fints.sample_bars(), "log_volume")
    past, known = feature_columns(panel)
    tape = Tape.from_panel(panel, past, known)
    runs: dict[str, Run] = {}
    for kind in STEPS:
        design = fints.CycleTransformer(h=20, input_size=252, encoding=kind).design
        split = Split.by_time(tape, design.input_size, design.h, design.training.validation_share)
        order = batches(split.train, design.training, np.random.default_rng(0))
        batch = WindowDataset(tape, order, design.input_size, design.h)[0]
        task = TrainingTask(design.network_for(len(past), len(known)), design.training)
        runs[kind] = _step(task, batch)
    return race(runs, rounds)


def _step(task: TrainingTask, batch: tuple[object, torch.Tensor]) -> Run:
    optimizer = task.configure_optimizers()["optimizer"]

    def run() -> None:
        loss = task.training_step(batch, 0)  # type: ignore[arg-type]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(task.parameters(), task.config.clip)
        optimizer.step()

    return run
