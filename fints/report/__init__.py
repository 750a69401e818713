"""What a person reads: a page and a table in the morning, a page of a study."""

from fints.report.backtest import BacktestReport, ComparedTarget
from fints.report.backtest_html import render_backtest
from fints.report.backtest_markdown import backtest_markdown
from fints.report.html import render_nightly
from fints.report.nightly import NightlyReport, TargetReport
from fints.report.periods import render_periods
from fints.report.study import StudyPage, StudyReport, render_study
from fints.report.study_index import TITLE as INDEX_TITLE
from fints.report.study_index import render_index
from fints.report.terminal import nightly_table, periods_table
from fints.report.tuning import TuningReport
from fints.report.tuning_html import render_tuning
from fints.report.tuning_markdown import tuning_markdown

__all__ = [
    "INDEX_TITLE",
    "BacktestReport",
    "ComparedTarget",
    "NightlyReport",
    "StudyPage",
    "StudyReport",
    "TargetReport",
    "TuningReport",
    "backtest_markdown",
    "nightly_table",
    "periods_table",
    "render_backtest",
    "render_index",
    "render_nightly",
    "render_periods",
    "render_study",
    "render_tuning",
    "tuning_markdown",
]
