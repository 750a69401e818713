"""The planted series of the study."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.planted import PlantedCycles

if TYPE_CHECKING:
    from collections.abc import Mapping

SIGMA = 0.5

TWENTY = PlantedCycles("twenty", "One cycle of 20 bars", (20.0,), (1.0,))
UNEVEN = PlantedCycles("uneven", "One cycle of 23.7 bars", (23.7,), (1.0,))
NOISY = PlantedCycles(
    "noisy", f"One cycle of 23.7 bars in noise of standard deviation {SIGMA:g}", (23.7,), (1.0,), SIGMA
)

TASKS: Mapping[str, PlantedCycles] = MappingProxyType({task.name: task for task in (TWENTY, UNEVEN, NOISY)})
"""Every task, by its name. A period of 20 divides the 200 bars that training sees, one of 23.7 does not."""
