"""Walk-forward comparison of forecasters, and whether its outcome means anything."""

from fints.backtest.comparison import Comparison
from fints.backtest.execution import Execution
from fints.backtest.extrapolation import Extrapolation
from fints.backtest.folds import Folds, make_folds
from fints.backtest.job_store import JobStore
from fints.backtest.jobs import Entrant
from fints.backtest.leakage import LeakageReport, Recipe, check_leakage
from fints.backtest.result import CrossValidation
from fints.backtest.significance import DieboldMariano, diebold_mariano
from fints.backtest.walk_forward import WalkForward, cross_validation
from fints.backtest.workers import Workers

__all__ = [
    "Comparison",
    "CrossValidation",
    "DieboldMariano",
    "Entrant",
    "Execution",
    "Extrapolation",
    "Folds",
    "JobStore",
    "LeakageReport",
    "Recipe",
    "WalkForward",
    "Workers",
    "check_leakage",
    "cross_validation",
    "diebold_mariano",
    "make_folds",
]
