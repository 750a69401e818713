"""Forecasters made of forecasters: several averaged by what each is worth, one with bands that hold."""

from fints.combination.calibrated import ConformalForecaster
from fints.combination.combination import Combination
from fints.combination.combined import Combined
from fints.combination.judged import judged
from fints.combination.learning import Learned, alike, learn
from fints.combination.scored import Scored
from fints.combination.tail import Tail
from fints.combination.weights import Weights

__all__ = [
    "Combination",
    "Combined",
    "ConformalForecaster",
    "Learned",
    "Scored",
    "Tail",
    "Weights",
    "alike",
    "judged",
    "learn",
]
