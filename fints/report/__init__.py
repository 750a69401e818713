"""What a person reads in the morning: a page and a table."""

from fints.report.html import render_nightly
from fints.report.nightly import NightlyReport, TargetReport
from fints.report.periods import render_periods
from fints.report.terminal import nightly_table, periods_table

__all__ = ["NightlyReport", "TargetReport", "nightly_table", "periods_table", "render_nightly", "render_periods"]
