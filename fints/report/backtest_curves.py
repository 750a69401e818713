"""Which of many error curves are drawn, and how many points of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

FAR = 1.6
"""Single steps with errors so many times the mean of the model that is drawn highest are cut off."""

REACH, CLOSE = 3.0, 0.05
"""A model so many times further from the best than half of the models are is left out of a chart, which says so; not
one within that share of the best."""

MOST_DISTANCES = 25
"""Points of an error curve: with more, a few dozen windows draw nothing but their noise."""


def within_reach(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Leave out models so far above the best that they would flatten the others; say which."""
    kept = reached(frame)
    beyond = [str(name) for name in frame["model"].unique() if name not in kept]
    return frame[frame["model"].isin(kept)], beyond


def reached(frame: pd.DataFrame) -> list[str]:
    """Return the models that are not left out of a chart."""
    mean = frame.groupby("model")["RMSE"].mean().dropna()
    least = float(mean.min())
    far = max(REACH * (float(mean.median()) - least), CLOSE * least)
    return [str(name) for name in mean.index[mean <= least + far]]


def joined_steps(steps: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Take so many neighbouring steps together that a curve has few enough points; return how many as well."""
    width = int(np.ceil(steps["step"].max() / MOST_DISTANCES))
    if width == 1:
        return steps, width
    several = ["model", (steps["step"] - 1) // width]
    joined = steps.assign(RMSE=steps["RMSE"] ** 2).groupby(several)[["step", "RMSE"]].mean()
    return joined.droplevel(1).reset_index().assign(RMSE=lambda frame: frame["RMSE"] ** 0.5), width


def taken_together(together: int, word: str) -> str:
    """Say in a caption how many steps a point stands for, if it is not one."""
    return f", {together} {word}s taken together" if together > 1 else ""


def ceiling(frame: pd.DataFrame, column: str = "RMSE") -> float:
    """Return the height of a chart: single steps may reach beyond it, no model as a whole."""
    return FAR * float(frame.groupby("model")[column].mean().abs().max())
