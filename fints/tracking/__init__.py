"""Runs in MLflow: the only package that imports it, and only when a run is logged."""

from fints.tracking.contents import Dataset, flat
from fints.tracking.database import Database
from fints.tracking.links import Links
from fints.tracking.relocation import Relocation, relocate
from fints.tracking.run import Run
from fints.tracking.schema import require_schema
from fints.tracking.server import answers, require_free, server_command, server_environment
from fints.tracking.tracking import CLIENT, Tracking
from fints.tracking.views import Chart, ChartSection, SavedView

__all__ = [
    "CLIENT",
    "Chart",
    "ChartSection",
    "Database",
    "Dataset",
    "Links",
    "Relocation",
    "Run",
    "SavedView",
    "Tracking",
    "answers",
    "flat",
    "relocate",
    "require_free",
    "require_schema",
    "server_command",
    "server_environment",
]
