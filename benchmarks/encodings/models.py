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
from fints.transformer.training import Batch, Learner, Split, TrainingWindows, batches

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
        windows = TrainingWindows(tape, design.input_size, design.h)
        split = Split.by_time(windows, design.training.validation_share)
        order = batches(split.train, design.training, np.random.default_rng(0))
        # So many steps are timed that a schedule over fewer would have run out.
        training = design.training.model_copy(update={"max_steps": 10_000})
        learner = Learner(design.network_for(len(past), len(known)), training)
        runs[kind] = _step(learner, windows.batch(order[0]))
    return race(runs, rounds)


def _step(learner: Learner, batch: Batch) -> Run:
    def run() -> None:
        learner.step(batch)

    return run
