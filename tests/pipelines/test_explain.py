"""What is said of the model that is explained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from fints.combination import Weights
from pipelines.blend import Blend
from pipelines.explain import part_in


def blend(*members: str) -> Blend:
    from fints.settings import BandSettings

    return Blend.untaught(members, BandSettings(), pd.Timestamp("2018-12-31"))


def test_the_part_of_a_model_in_an_average_is_its_weight_at_each_distance() -> None:
    weights = Weights(("Cycle", "HAR"), (5,), np.array([[0.25, 0.75], [0.6, 0.4]]))
    assert part_in(replace(blend("Cycle", "HAR"), weights=weights), "Cycle") == (
        "The night ships Combination, an average with HAR: the weight of this model is 25 % for bars 1 to 5 and 60 % "
        "from bar 6 on."
    )


def test_a_model_that_is_shipped_alone_is_said_to_be() -> None:
    assert part_in(blend("Cycle"), "Cycle") == "The night ships this model alone (Cycle)."


def test_where_another_one_is_shipped_alone_the_model_has_no_part() -> None:
    assert part_in(blend("HAR"), "Cycle") == "The night ships HAR, in which this model has no part."
