"""The cycle-aware transformer."""

from fints.transformer.config import NetworkConfig, TrainingConfig
from fints.transformer.forecaster import CycleTransformer

__all__ = ["CycleTransformer", "NetworkConfig", "TrainingConfig"]
