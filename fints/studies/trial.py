"""One unit of a study: one encoding trained once on a planted series, and asked about what comes after."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.encodings import effective_periods
from fints.studies.training import train_to_the_end
from fints.transformer import CycleTransformer

if TYPE_CHECKING:
    from fints.encodings import EncodingConfig
    from fints.plan import FrequencyPlan
    from fints.studies.planted import PlantedCycles
    from fints.studies.protocol import Protocol

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
        """Return everything that decides the result; what the plan says is left out where it is the truth."""
        told = [cycle.period for cycle in self.plan]
        wrong = {} if told == sorted(self.task.periods) else {"told": told}
        return {
            **self.protocol.settings(),
            "periods": list(self.task.periods),
            "amplitudes": list(self.task.amplitudes),
            "sigma": self.task.sigma,
            "encoding": self.encoding.model_dump(mode="json"),
            "clocks": [cycle.clock for cycle in self.plan],
            **wrong,
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
            ``learned``, the frequencies that training moved, by name of the parameter, in turns per unit of the clock.
        """
        how = self.protocol
        model = CycleTransformer(how.h, how.input_size, self.encoding, self.plan, random_seed=self.seed).with_settings(
            how.network, how.training
        )
        seen = self.task.panel(how.trained, self.seed)
        start = time.perf_counter()
        loss = train_to_the_end(model, seen)
        seconds = time.perf_counter() - start
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # extrapolating is the point here
            beyond = model.forecast(seen, h=how.beyond)
            inside = model.forecast(seen.head(how.input_size), h=how.trained - how.input_size)
        return {
            "beyond": beyond.at(0.5).round(DIGITS).tolist(),
            "inside": inside.at(0.5).round(DIGITS).tolist(),
            "loss": round(loss, DIGITS),
            "seconds": round(seconds, 2),
            "learned": _learned(model),
        }


def _learned(model: CycleTransformer) -> dict[str, list[float]]:
    """Return frequencies, not periods: of a plane that stands still the period is no number that JSON holds."""
    assert model.fitted is not None
    learned = effective_periods(model.fitted.networks[0].encoding)
    return {name: [1 / period for period in periods] for name, periods in learned.items()}
