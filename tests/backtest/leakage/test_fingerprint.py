from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import torch

from fints.backtest.leakage.fingerprint import fingerprint
from fints.backtest.leakage.stages import stage_of_column, stage_of_state


@dataclass(frozen=True, slots=True)
class Held:
    weights: np.ndarray
    name: str = "x"


class Loop:
    def __init__(self) -> None:
        self.itself, self.value = self, 1.0


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        (Held(np.zeros(3)), Held(np.array([0.0, -0.0, 0.0])), "weights"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, np.nextafter(2.0, 3.0)]}, "[a][1]"),
        (pd.DataFrame({"y": [1.0, 2.0]}), pd.DataFrame({"y": [1.0, 3.0]}), "[y]"),
        (torch.nn.Linear(2, 1), torch.nn.Linear(2, 1), "weight"),
        ({"t": torch.ones(2, dtype=torch.bfloat16)}, {"t": torch.zeros(2, dtype=torch.bfloat16)}, "[t]"),
    ],
    ids=["array", "number", "frame", "module", "bfloat16"],
)
def test_a_single_bit_shows_where_it_lies(one: object, other: object, place: str) -> None:
    before, after = fingerprint(one), fingerprint(other)
    assert before[place] != after[place]
    assert fingerprint(one) == before


def test_what_refers_to_itself_is_read_once_and_functions_are_passed_over() -> None:
    assert list(fingerprint(Loop())) == ["value"]
    assert fingerprint({"f": len, "g": lambda: 1}) == {}


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        ("design.plan.cycles[0].period", "plan"),
        ("_fits[^GSPC].bands.offsets", "conformal"),
        ("_fits[plan].coefficients", "weights"),
        ("fitted.start.coefficients", "start"),
        ("fitted.networks[0].encoding.scale", "weights"),
        ("scaler[A]", "scaler"),
        ("model.target_scaler.mean_", "scaler"),
        ("until", "state"),
    ],
)
def test_the_first_word_that_names_a_stage_decides(path: str, stage: str) -> None:
    assert stage_of_state(path) == stage


def test_columns_name_their_stage() -> None:
    assert [stage_of_column(c) for c in ("y", "ds", "past_x", "cal_x")] == ["target", "target", "companion", "calendar"]
