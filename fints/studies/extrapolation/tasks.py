"""The planted series of the study."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.planted import PlantedCycles

if TYPE_CHECKING:
    from collections.abc import Mapping

_THREE = ((5.0, 20.0, 60.0), (0.5, 0.3, 0.2))

ONE = PlantedCycles("one", "One cycle of 20 bars", (20.0,), (1.0,))
THREE = PlantedCycles("three", "Three cycles of 5, 20 and 60 bars", *_THREE)
NOISY = PlantedCycles("noisy", "Three cycles in noise of standard deviation 0.3", *_THREE, sigma=0.3)
UNEVEN = PlantedCycles("uneven", "One cycle of 23.7 bars", (23.7,), (1.0,))

TASKS: Mapping[str, PlantedCycles] = MappingProxyType({task.name: task for task in (ONE, THREE, NOISY, UNEVEN)})
"""Every task, by its name."""
