"""Position and time encodings behind one interface."""

from fints.encodings.attention import attend, attend_rotated
from fints.encodings.base import Encoding, LayerTerms, NoEncoding, Terms, TimeAxis
from fints.encodings.build import build
from fints.encodings.config import CycleConfig, EncodingConfig, NoneConfig, RopeConfig
from fints.encodings.learned import effective_periods
from fints.encodings.registry import COMBINATIONS, ENCODINGS, encoding_config
from fints.encodings.room import fit_plan

__all__ = [
    "COMBINATIONS",
    "ENCODINGS",
    "CycleConfig",
    "Encoding",
    "EncodingConfig",
    "LayerTerms",
    "NoEncoding",
    "NoneConfig",
    "RopeConfig",
    "Terms",
    "TimeAxis",
    "attend",
    "attend_rotated",
    "build",
    "effective_periods",
    "encoding_config",
    "fit_plan",
]
