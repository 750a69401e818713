"""Bands that hold: quantiles from past errors, corrected for what they missed, and kept right as errors come in."""

from fints.conformal.adaptive import AdaptiveBands
from fints.conformal.bands import Bands, calibrate
from fints.conformal.residuals import ResidualQuantiles
from fints.conformal.walk import Walked, walk

__all__ = ["AdaptiveBands", "Bands", "ResidualQuantiles", "Walked", "calibrate", "walk"]
