"""A unit of work: an encoding and plain RoPE, timed in turns in one process."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass

import torch

from fints.encodings import encoding_config
from fints.studies.cost.loads import ENCODINGS, LOADS, ROPE
from fints.studies.cost.turns import take_turns
from fints.studies.cost.work import works

VERSION = 1
"""Raise it when a change of the code changes what is timed: what was kept from before is then done again."""


@dataclass(frozen=True, slots=True)
class CostTrial:
    """One repeat of an encoding over plain RoPE.

    Parameters
    ----------
    load : str
        A name of `LOADS`.
    encoding : str
        A name of `ENCODINGS`.
    repeat : int
        Each is timed at another time.
    """

    load: str
    encoding: str
    repeat: int

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result, the kind of machine among it."""
        config = encoding_config(ENCODINGS[self.encoding])
        return {
            "cost": VERSION,
            "name": self.encoding,
            "encoding": config.model_dump(mode="json"),
            **LOADS[self.load].settings(),
            "repeat": self.repeat,
            "machine": [platform.machine(), os.cpu_count(), torch.__version__],
        }

    def run(self) -> dict[str, object]:
        """Time everything.

        Returns
        -------
        dict
            By measure (see `MEASURES`) ``cpu`` and ``wall``, medians over rounds of the encoding's time over RoPE's,
            and ``rope``, RoPE's median processor time in seconds; ``seconds`` of the processor for all of it.
        """
        start, load = time.process_time(), LOADS[self.load]
        runs, beside = works(load, ENCODINGS[self.encoding]), works(load, {"kind": ROPE})
        found = {measure: take_turns(run, beside[measure], load.rounds) for measure, run in runs.items()}
        return {
            "cpu": {name: turns.ratio("cpu") for name, turns in found.items()},
            "wall": {name: turns.ratio("wall") for name, turns in found.items()},
            "rope": {name: sorted(turns.cpu[:, 1].tolist())[load.rounds // 2] for name, turns in found.items()},
            "seconds": round(time.process_time() - start, 2),
        }
