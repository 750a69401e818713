"""One unit of the study: one encoding trained once on one task, and asked about what comes after."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.studies.extrapolation.training import train_to_the_end
from fints.transformer import CycleTransformer

if TYPE_CHECKING:
    from fints.encodings import EncodingConfig
    from fints.plan import FrequencyPlan
    from fints.studies.extrapolation.protocol import Protocol
    from fints.studies.planted import PlantedCycles

DIGITS = 7
"""Decimals of the forecasts that are kept; float32 carries no more."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An encoding, trained once on a task.

    Parameters
    ----------
    task : PlantedCycles
    encoding : EncodingConfig
    plan : FrequencyPlan
    seed : int
        Of the first weights, of the order of the windows, of the encodings that draw, and of the noise.
    protocol : Protocol
    """

    task: PlantedCycles
    encoding: EncodingConfig
    plan: FrequencyPlan
    seed: int
    protocol: Protocol

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {
            **self.protocol.settings(),
            "periods": list(self.task.periods),
            "amplitudes": list(self.task.amplitudes),
            "sigma": self.task.sigma,
            "encoding": self.encoding.model_dump(mode="json", exclude_defaults=True),
            "clocks": [cycle.clock for cycle in self.plan],
            "seed": self.seed,
        }

    def run(self) -> dict[str, object]:
        """Train inside the first `Protocol.trained` bars and forecast the others.

        Returns
        -------
        dict
            ``beyond``, the medians of the bars after them, and ``inside``: those asked of the first context for all
            bars that follow it and that training saw. ``inside`` reaches twice as far ahead as training did, without
            a look at what is extrapolated: it is what settings were chosen by. ``loss`` and ``seconds`` of training.
        """
        how = self.protocol
        model = CycleTransformer(how.h, how.input_size, self.encoding, self.plan, random_seed=self.seed).with_settings(
            how.network, how.training
        )
        seen = self.task.panel(how.trained, self.seed)
        start = time.perf_counter()
        loss = train_to_the_end(model, seen)
        seconds = time.perf_counter() - start
        beyond = model.forecast(seen, h=how.beyond)
        inside = model.forecast(seen.head(how.input_size), h=how.trained - how.input_size)
        return {
            "beyond": beyond.at(0.5).round(DIGITS).tolist(),
            "inside": inside.at(0.5).round(DIGITS).tolist(),
            "loss": round(loss, DIGITS),
            "seconds": round(seconds, 2),
        }
