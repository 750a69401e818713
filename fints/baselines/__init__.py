"""Simple models that every other model has to beat."""

from fints.baselines.har import HAR
from fints.baselines.naive import Naive, SeasonalNaive

__all__ = ["HAR", "Naive", "SeasonalNaive"]
