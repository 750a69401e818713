"""Comparisons of encodings: arms × tasks × modes × seeds, paired by seed, and what may be said of them."""

from fints.studies.comparison.arm import BARE, HSTU, WHOLE, Arm, Mode
from fints.studies.comparison.contrast import Contrast, Place
from fints.studies.comparison.results import Pair, Results
from fints.studies.comparison.study import Block, Comparison, Scope, Words
from fints.studies.comparison.task import Recipe, Shape, Task
from fints.studies.comparison.trial import ArmTrial
from fints.studies.comparison.wording import sentence

__all__ = [
    "BARE",
    "HSTU",
    "WHOLE",
    "Arm",
    "ArmTrial",
    "Block",
    "Comparison",
    "Contrast",
    "Mode",
    "Pair",
    "Place",
    "Recipe",
    "Results",
    "Scope",
    "Shape",
    "Task",
    "Words",
    "sentence",
]
