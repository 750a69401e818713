"""Position and time encodings behind one interface."""

from __future__ import annotations

from fints.encodings.base import Encoding, LayerTerms, NoEncoding, Terms, TimeAxis
from fints.encodings.build import build
from fints.encodings.config import ENCODINGS, CycleConfig, EncodingConfig, NoneConfig, RopeConfig, encoding_config
from fints.encodings.cycle import cycle_room

__all__ = [
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
    "build",
    "cycle_room",
    "encoding_config",
]
