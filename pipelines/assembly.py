"""The forecaster that a night ships, put together from its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.combination import Combination, Combined, ConformalForecaster
from pipelines.excerpt import Excerpt
from pipelines.members import fit_members, members
from pipelines.pantry import Pantry

if TYPE_CHECKING:
    import pandas as pd

    from fints.forecast import Forecaster
    from fints.settings import NightlySettings
    from pipelines.blend import Blend
    from pipelines.learning import Lesson
    from pipelines.shelf import Shelved


def assemble(
    shelved: Shelved, learnt: Lesson, panel: pd.DataFrame, settings: NightlySettings
) -> tuple[ConformalForecaster, Blend]:
    """Fit the baselines and join them to the transformer, with weights and bands.

    Everything is a function of the rows and the settings: whichever night before it was run, a night makes the same
    forecast. Bands follow the bars since the models were fitted by what the models say of them from the bars before.

    Parameters
    ----------
    shelved : Shelved
        Transformer, weights, and the bands at the end of the rows learned from.
    learnt : Lesson
    panel : pandas.DataFrame
        All rows up to the as-of. Series that had hardly begun when the models were fitted are learned by the baselines
        from what they had then, or left to the transformer.
    settings : NightlySettings

    Returns
    -------
    forecaster : ConformalForecaster
    blend : Blend
        Without the members that failed.

    Raises
    ------
    ModelError
        If no member is left.
    """
    rows = Excerpt.until(panel, learnt.until)
    wanted = [member for member in members(settings) if member.name in shelved.blend.weights.members]
    pantry = Pantry.beside(shelved.place)
    found = fit_members(wanted, rows, panel["unique_id"].unique(), pantry)
    blend = shelved.blend.without(found.failures)
    fitted: dict[str, Forecaster] = {model.name: model for model in found.models}
    if shelved.model is not None:
        fitted[shelved.model.name] = shelved.model
    parts = tuple(fitted[name] for name in blend.weights.members)
    combined = Combined(parts, blend.weights, failures=blend.dropped, series=found.series)
    combination = pantry.keeping(Combination.around(combined), pantry.mark_of(combined))
    shipped = ConformalForecaster.around(combination, blend.bands, warm_up=settings.input_size + 1)
    shipped.adaptive = settings.bands.adaptive
    return shipped, blend
