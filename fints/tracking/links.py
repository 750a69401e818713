"""Addresses of pages in MLflow."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from fints.tracking.server import HOST

_RUNS = "workflowType=machine_learning"
"""Without it, MLflow opens in its other mode, which is about language models and shows no metrics."""


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses on one server; without one, they are relative, as descriptions of runs need them.

    Parameters
    ----------
    base : str
    """

    base: str = ""

    @classmethod
    def on(cls, port: int) -> Links:
        """Addresses on the server of this machine."""
        return cls(f"http://{HOST}:{port}/")

    def runs(self, experiment_id: str) -> str:
        """Return the runs of an experiment, as a table."""
        return f"{self.base}#/experiments/{experiment_id}/runs?{_RUNS}"

    def view(self, experiment_id: str, key: str, *, chart: bool = True) -> str:
        """Return a saved view: its curves, or its table."""
        mode = "&compareRunsMode=CHART" if chart else ""
        return f"{self.runs(experiment_id)}&viewStateShareKey={quote(key)}{mode}"

    def curves(self, experiment_id: str, search: str) -> str:
        """Return the curves of the runs that a search finds, laid out as MLflow does it by itself."""
        return f"{self.runs(experiment_id)}&searchFilter={quote(search)}&compareRunsMode=CHART"

    def run(self, experiment_id: str, run_id: str) -> str:
        """Return the page of a run, its description on top."""
        return f"{self.base}#/experiments/{experiment_id}/runs/{run_id}?{_RUNS}"

    def artifact(self, experiment_id: str, run_id: str, file: str) -> str:
        """Return an artifact of a run, shown in its page."""
        return f"{self.base}#/experiments/{experiment_id}/runs/{run_id}/artifacts/{quote(file)}?{_RUNS}"
