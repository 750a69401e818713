"""A unit of work: a transposed key and the standard key of the opposite sign, trained side by side."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings.bank import TimeBank
from fints.encodings.t_rope import TRope
from fints.errors import ConfigError
from fints.studies.comparison import BARE, Arm, ArmTrial, Task
from fints.studies.comparison.mirror import mirrored_losses

if TYPE_CHECKING:
    from fints.encodings import Encoding

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""

DIGITS = 8
"""Significant digits of the losses that are kept for the figure; how far they are apart is found before."""

TRANSPOSED = Arm("transposed", {"kind": "t_rope"})


@dataclass(frozen=True, slots=True)
class SignTrial:
    """T-RoPE on a task, and standard keys of the opposite and of the same coefficients.

    Parameters
    ----------
    task : Task
    seed : int
    """

    task: Task
    seed: int

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {"sign": VERSION, **self._trial().settings()}

    def run(self) -> dict[str, object]:
        """Train the transposed key, and from the same weights a standard key of −α^k, and one of α^k.

        Returns
        -------
        dict
            ``task``, ``seed``; ``first``, ``negated`` and ``kept``, the losses by step of the three; ``apart``, the
            largest relative difference of any step between the first two; ``ordinary``, that between the first and the
            third; ``seconds`` of the processor.
        """
        start = time.process_time()
        trial = self._trial()
        model, seen = trial.model(), self.task.seen(trial.panel()[0])
        net = trial.network
        untouched = np.zeros((net.n_layers, net.n_heads, net.dim // net.n_heads // 2), dtype=bool)
        negated, kept = (
            mirrored_losses(model, seen, untouched, partial(with_standard_key, sign=sign)) for sign in (-1, 1)
        )
        return {
            "task": self.task.name,
            "seed": self.seed,
            "first": _rounded(negated.first),
            "negated": _rounded(negated.second),
            "kept": _rounded(kept.second),
            "apart": negated.apart,
            "ordinary": kept.apart,
            "seconds": round(time.process_time() - start, 2),
        }

    def _trial(self) -> ArmTrial:
        return ArmTrial.of(TRANSPOSED, self.task, BARE, self.seed)


def with_standard_key(encoding: Encoding, sign: int) -> Encoding:
    """Give T-RoPE a standard key whose coefficients start at `sign` times those that its transposed key starts at.

    Parameters
    ----------
    encoding : Encoding
        An untrained T-RoPE with a transposed key and coefficients of its own; it is changed in place.
    sign : {1, -1}

    Raises
    ------
    ConfigError
        If it is anything else.
    """
    if not (isinstance(encoding, TRope) and encoding.config.non_stationary and encoding.key is not encoding.query):
        raise ConfigError(
            "only T-RoPE with a transposed key and separate coefficients can be spelled with a standard one"
        )
    key = encoding.key
    starts = [[sign * alpha for alpha in row] for row in key.starts]
    encoding.key = TimeBank(starts, key.betas, key.epoch, key.unit, learnable=key.offset is not None)
    encoding.config = encoding.config.model_copy(update={"non_stationary": False})
    return encoding


def _rounded(losses: np.ndarray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in losses]
