import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import ENCODINGS, build, encoding_config, fit_plan
from fints.errors import EncodingError
from fints.plan import Cycle, FrequencyPlan

YEAR = Cycle(91.3, "calendar", harmonics=(1, 2, 3, 6, 12), strength=44, origin="detected")
PLAN = FrequencyPlan.from_periods(
    [Cycle(7.0, "calendar", harmonics=(1, 2, 3), strength=427), YEAR, Cycle(60), Cycle(252)]
)
HEADS, WIDTH = 2, 16


def lines(encoding, head_dim=WIDTH):
    return len(fit_plan(PLAN, encoding_config(encoding), head_dim).lines)


@pytest.mark.parametrize("kind", sorted(set(ENCODINGS) - {"cycle"}))
def test_an_encoding_without_a_plane_for_each_line_keeps_the_whole_plan(kind):
    assert fit_plan(PLAN, encoding_config(kind), 4) is PLAN


@settings(max_examples=30)
@given(head_dim=st.sampled_from([8, 12, 16, 24, 64]), share=st.floats(0.3, 1))
def test_what_fits_is_built_without_a_word_about_the_rest(head_dim, share):
    for encoding in (
        {"kind": "cycle", "share": share},
        {"kind": "t_rope", "plan_share": share},
        {"kind": "sum", "parts": ["alibi", {"kind": "cycle", "share": share}]},
        {"kind": "sum", "parts": ["fourier_features", {"kind": "cycle", "share": share}]},
        {"kind": "split", "parts": [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": "cycle"}]},
        {
            "kind": "split",
            "by": "head",
            "parts": [{"share": 0.5, "encoding": "clock"}, {"share": 0.5, "encoding": "cycle"}],
        },
    ):
        plan = fit_plan(PLAN, encoding_config(encoding), head_dim)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            build(encoding, dim=HEADS * head_dim, n_heads=HEADS, n_layers=1, plan=plan)
        if plan is not PLAN:
            with pytest.warns(UserWarning, match="leaves out"):
                build(encoding, dim=HEADS * head_dim, n_heads=HEADS, n_layers=1, plan=PLAN)


def test_a_part_of_a_split_has_its_own_planes():
    halves = [{"share": 0.5, "encoding": "rope"}, {"share": 0.5, "encoding": {"kind": "cycle", "share": 1}}]
    assert lines({"kind": "split", "parts": halves}) == 4
    assert lines({"kind": "split", "by": "head", "parts": halves}) == 8


def test_the_part_with_the_fewest_planes_decides():
    parts = [
        {"share": 0.75, "encoding": {"kind": "cycle", "share": 1}},
        {"share": 0.25, "encoding": {"kind": "cycle", "share": 1}},
    ]
    assert lines({"kind": "split", "parts": parts}) == 2


def test_shares_that_do_not_sum_to_one_are_refused():
    config = encoding_config({"kind": "split", "parts": [{"share": 0.5, "encoding": "cycle"}]})
    with pytest.raises(EncodingError, match="sum to 1"):
        fit_plan(PLAN, config, WIDTH)
