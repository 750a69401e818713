"""Walk-forward comparison of forecasters, and whether its outcome means anything."""

from fints.backtest.folds import Folds, make_folds
from fints.backtest.result import CrossValidation
from fints.backtest.significance import DieboldMariano, diebold_mariano
from fints.backtest.walk_forward import WalkForward, cross_validation

__all__ = [
    "CrossValidation",
    "DieboldMariano",
    "Folds",
    "WalkForward",
    "cross_validation",
    "diebold_mariano",
    "make_folds",
]
