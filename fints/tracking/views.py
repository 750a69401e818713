"""Saved views of MLflow: which runs, columns and charts a person sees on opening a link.

Their form was read off MLflow 3.17 and is documented nowhere: an experiment's tag ``mlflow.sharedViewState.<key>``
holds ``{"name", "createdAt", "updatedAt", "state"}``, the state being JSON, deflated and in base 64.
"""

from __future__ import annotations

import base64
import json
import time
import zlib
from dataclasses import dataclass
from typing import Literal

_KNOWN = ((3, 17), (4, 0))
"""Versions of MLflow, from the first one up to but without the second, that read this form."""

_HEIGHT = 420
"""Of a chart in pixels: with MLflow's 360, a legend of more than four runs is cut off."""

_SMOOTHNESS = 80
"""Of 100."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart over all runs of a view.

    Parameters
    ----------
    metric : str
        Also its title: MLflow shows no other one.
    kind : {"LINE", "BAR"}
        A curve by step for each run, or a bar.
    smoothed : bool
        Whether curves are drawn smoothed: of many noisy points little else is seen. MLflow has a slider for it.
    """

    metric: str
    kind: Literal["LINE", "BAR"] = "LINE"
    smoothed: bool = False


@dataclass(frozen=True, slots=True)
class ChartSection:
    """Charts under one heading.

    Parameters
    ----------
    name : str
        Under what stands before the ``/`` of metrics, MLflow puts charts of all those that have none elsewhere.
    charts : tuple of Chart
    columns : int
        Charts side by side.
    unfolded : bool
    """

    name: str
    charts: tuple[Chart, ...] = ()
    columns: int = 3
    unfolded: bool = True


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of some runs of an experiment.

    Parameters
    ----------
    key : str
        In its address.
    name : str
        In the list of views.
    search : str
        Which runs, in MLflow's search language.
    order_by : str
        Metric; the lowest first.
    columns : tuple of str
        Metrics shown in the table.
    sections : tuple of ChartSection
    """

    key: str
    name: str
    search: str
    order_by: str
    columns: tuple[str, ...]
    sections: tuple[ChartSection, ...]

    @property
    def tag(self) -> str:
        """Tag of the experiment that holds it."""
        return f"mlflow.sharedViewState.{self.key}"

    def encoded(self, now: float | None = None) -> str:
        """Return the value of the tag.

        Parameters
        ----------
        now : float, optional
            Seconds since 1970.
        """
        made = int(1000 * (time.time() if now is None else now))
        state = base64.b64encode(zlib.compress(json.dumps(self.state()).encode(), 9)).decode()
        return json.dumps({"name": self.name, "createdAt": made, "updatedAt": made, "state": f"deflate;{state}"})

    def state(self) -> dict[str, object]:
        """Return the state of MLflow's page, everything that it does not set itself."""
        names = [f"{self.key}-{place}" for place in range(len(self.sections))]
        return {
            "searchFilter": self.search,
            "orderByKey": _column("metrics", self.order_by),
            "orderByAsc": True,
            "startTime": "ALL",
            "lifecycleFilter": "Active",
            "datasetsFilter": [],
            "modelVersionFilter": "All Runs",
            "selectedColumns": [_column("metrics", name) for name in self.columns],
            "columnOrder": [_column("metrics", name) for name in self.columns],
            "columnWidths": {},
            "runsExpanded": {},
            "runsPinned": [],
            "runsHidden": [],
            "runsVisibilityMap": {},
            "runsHiddenMode": "SHOW_ALL",
            "compareRunCharts": [
                _chart(chart, f"{name}-{place}", name)
                for name, section in zip(names, self.sections, strict=True)
                for place, chart in enumerate(section.charts)
            ],
            "compareRunSections": [_section(section, name) for name, section in zip(names, self.sections, strict=True)],
            "isAccordionReordered": True,
            "viewMaximized": False,
            "runListHidden": False,
            "useGroupedValuesInCharts": True,
            "hideEmptyCharts": True,
            "groupBy": None,
            "groupsExpanded": {},
            "autoRefreshEnabled": False,
            "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
        }


def supported() -> bool:
    """Whether the installed MLflow reads views of this form, as far as we know."""
    import mlflow

    first, beyond = _KNOWN
    return first <= tuple(int(number) for number in mlflow.__version__.split(".")[:2]) < beyond


def _column(kind: str, name: str) -> str:
    return f"{kind}.`{name}`"


def _chart(chart: Chart, uuid: str, section: str) -> dict[str, object]:
    common = {
        "uuid": uuid,
        "type": chart.kind,
        "metricSectionId": section,
        "deleted": False,
        "isGenerated": False,
        "displayName": chart.metric,
        "runsCountToCompare": 100,
        "metricKey": chart.metric,
        "selectedMetricKeys": [chart.metric],
    }
    if chart.kind == "BAR":
        return common
    return common | {
        "lineSmoothness": _SMOOTHNESS if chart.smoothed else 0,
        "scaleType": "linear",
        "xAxisScaleType": "linear",
        "xAxisKey": "step",
        "range": {},
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "ignoreOutliers": False,
        "useGlobalXaxisKey": True,
        "useGlobalLineSmoothing": not chart.smoothed,
        "selectedXAxisMetricKey": "",
    }


def _section(section: ChartSection, uuid: str) -> dict[str, object]:
    return {
        "uuid": uuid,
        "name": section.name,
        "display": section.unfolded,
        "columns": section.columns,
        "cardHeight": _HEIGHT,
        "isReordered": True,
        "deleted": False,
        "isGenerated": False,
    }
