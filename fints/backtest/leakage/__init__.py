"""Proof that no forecast knows its future: change everything after a cutoff, and nothing up to it may move."""

from fints.backtest.leakage.check import Recipe, check_leakage
from fints.backtest.leakage.report import Leak, LeakageReport
from fints.backtest.leakage.stages import STAGES

__all__ = ["STAGES", "Leak", "LeakageReport", "Recipe", "check_leakage"]
