"""Position and time encodings behind one interface."""

from fints.encodings.attention import attend
from fints.encodings.base import Encoding, LayerTerms, NoEncoding, Terms, TimeAxis
from fints.encodings.build import build
from fints.encodings.config import CycleConfig, EncodingConfig, NoneConfig, RopeConfig
from fints.encodings.cycle import cycle_room
from fints.encodings.registry import COMBINATIONS, ENCODINGS, encoding_config

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
    "build",
    "cycle_room",
    "encoding_config",
]
