"""What of a comparison goes to the tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.curves import slug

if TYPE_CHECKING:
    from fints.studies.comparison.results import Results
    from fints.studies.study import StudyTracker


def log(tracker: StudyTracker, results: Results) -> None:
    """Record every contrast, and a run below for every arm. A step of a curve ``by_horizon/…`` is a bar ahead.

    Parameters
    ----------
    tracker : StudyTracker
    results : Results
    """
    tracker.log_params({"budget": results.budget, "seeds": results.seeds, "margin": results.margin})
    tracker.log_metrics({"cost/cpu_seconds": results.seconds, "cost/units": float(_units(results))})
    for contrast in results.contrasts:
        place, times = contrast.place, contrast.times
        key = f"{place.task}/{slug(contrast.first)}_over_{slug(contrast.second)}.{place.mode}.{place.band}"
        figures = {"times": times.mean, "low": times.low, "high": times.high, "p_holm": contrast.p_holm or 0.0}
        tracker.log_metrics({f"{key}.{name}": value for name, value in figures.items() if np.isfinite(value)})
    for arm in results.arms.values():
        cells = [cell for cell in results.units if cell[2] == arm.name]
        kinds = {arm.config(results.tasks[task]).kind for task, _, _ in cells}
        with tracker.child(arm.name, {"fints.encoding": ", ".join(sorted(kinds))}) as run:
            curves: dict[str, dict[int, float]] = {}
            for task, mode, name in cells:
                by_step = np.sqrt(results.squared(name, task, mode).mean(axis=0))
                curves[f"by_horizon/{task}.{mode}.rmse"] = dict(enumerate(by_step.tolist(), start=1))
                for band in ("within", "beyond"):
                    by_seed = results.rmse(name, task, mode, band)
                    curves[f"by_seed/{task}.{mode}.{band}.rmse"] = dict(enumerate(by_seed.tolist()))
            run.log_curves(curves)


def _units(results: Results) -> int:
    return sum(len(units) for units in results.units.values()) + len(results.extra)
