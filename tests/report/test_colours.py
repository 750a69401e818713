from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.baselines.registry import BASELINES
from fints.encodings import ENCODINGS, encoding_config
from fints.report.colours import BASELINE_COLOURS, ENCODING_COLOURS, colour, colours, looks

VISIONS = {
    "any": np.eye(3),
    # Machado, Oliveira & Fernandes (2009), severity 1, on linear light
    "red-blind": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "green-blind": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


def light(code: str) -> np.ndarray:
    value = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(code: str) -> float:
    return float(light(code) @ [0.2126, 0.7152, 0.0722])


def oklab(of: np.ndarray) -> np.ndarray:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    opponent = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return opponent @ np.cbrt(cones @ np.clip(of, 0, 1))


def test_every_encoding_and_every_baseline_has_a_colour() -> None:
    assert set(ENCODING_COLOURS) == set(ENCODINGS)
    assert set(BASELINE_COLOURS) == {config.kind for config in BASELINES.values()}


@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_encodings_stay_apart_for_every_reader(vision: str) -> None:
    seen = {kind: oklab(VISIONS[vision] @ light(code)) for kind, code in ENCODING_COLOURS.items()}
    apart = {pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]])) for pair in combinations(seen, 2)}
    assert min(apart.values()) >= 0.08, min(apart, key=lambda pair: apart[pair])


@pytest.mark.parametrize("code", [*ENCODING_COLOURS.values(), *BASELINE_COLOURS.values()])
def test_every_colour_stands_out_on_white(code: str) -> None:
    assert 1.05 / (luminance(code) + 0.05) >= 3.0


@given(st.lists(st.sampled_from([*ENCODING_COLOURS, *BASELINE_COLOURS]), min_size=1, max_size=8))
def test_no_two_models_share_a_colour_and_the_first_of_a_kind_keeps_its_own(kinds: list[str]) -> None:
    models = {f"{i} {kind}": kind for i, kind in enumerate(kinds)}
    found = colours(models)
    if max(map(kinds.count, kinds)) <= 3:
        assert len(set(found.values())) == len(kinds)
    for kind in set(kinds):
        assert found[f"{kinds.index(kind)} {kind}"] == colour(kind)


def test_a_combination_mixes_the_light_of_its_parts_by_their_shares() -> None:
    mixed = encoding_config(
        {"kind": "split", "parts": [{"share": 0.25, "encoding": "rope"}, {"share": 0.75, "encoding": "clock"}]}
    )
    expected = 0.25 * light(colour("rope")) + 0.75 * light(colour("clock"))
    np.testing.assert_allclose(light(colour(mixed)), expected, atol=0.005)
    summed = encoding_config({"kind": "sum", "parts": ["alibi", "rope"]})
    expected = 0.5 * light(colour("alibi")) + 0.5 * light(colour("rope"))
    np.testing.assert_allclose(light(colour(summed)), expected, atol=0.005)


def test_encodings_are_whole_lines_and_baselines_dashed_each_in_its_own_way() -> None:
    found = looks({"cycle": "cycle", "rope": "rope", "rope, learned": "rope", "HAR": "har", "Naive": "naive"})
    assert found["cycle"].dash == found["rope"].dash == ""
    dashed = [found[name].dash for name in ("rope, learned", "HAR", "Naive")]
    assert all(dashed)
    assert len(set(dashed)) == 3
    assert len({look.colour for look in found.values()}) == 5


def test_what_is_no_encoding_and_no_baseline_has_a_colour_too() -> None:
    assert colour("prophet") not in {*ENCODING_COLOURS.values(), *BASELINE_COLOURS.values()}
