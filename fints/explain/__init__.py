"""Which cycle moved a forecast, and what each cycle is worth to a fitted model."""

from fints.explain.attention import Attention, PhaseProfile, Profile
from fints.explain.cost import Cost, ablate
from fints.explain.decomposition import Decomposition, Term
from fints.explain.explanation import Explanation, explain
from fints.explain.gain import Gain, Part
from fints.explain.groups import Group
from fints.explain.measured import Measured
from fints.explain.sentences import cycle_sentences, gain_sentences, sentences

__all__ = [
    "Attention",
    "Cost",
    "Decomposition",
    "Explanation",
    "Gain",
    "Group",
    "Measured",
    "Part",
    "PhaseProfile",
    "Profile",
    "Term",
    "ablate",
    "cycle_sentences",
    "explain",
    "gain_sentences",
    "sentences",
]
