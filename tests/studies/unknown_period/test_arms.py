import pytest
import torch

from fints.encodings import build, effective_periods
from fints.studies.unknown_period.arms import ARMS, CLOCK, CYCLE, LEARNED, ROPE, T_ROPE, Arm, nearest_rope_period
from fints.studies.unknown_period.tasks import NOISY, TWENTY
from fints.studies.unknown_period.tellings import DETECTED, KNOWN, TELLINGS, WRONG

LONG = WRONG[-1]


def built(arm, detected=23.9):
    return build(arm.config, dim=32, n_heads=2, n_layers=2, plan=arm.plan(NOISY, detected))


@pytest.mark.parametrize("arm", ARMS, ids=[f"{arm.encoding}-{arm.telling.name}" for arm in ARMS])
def test_every_arm_can_be_built(arm):
    built(arm)


def test_everything_is_told_to_cycle_what_is_long_to_the_others_and_nothing_to_rope():
    for encoding in (CYCLE, LEARNED):
        assert [arm.telling for arm in ARMS if arm.encoding == encoding] == list(TELLINGS)
    for encoding in (CLOCK, T_ROPE):
        assert [arm.telling for arm in ARMS if arm.encoding == encoding] == [KNOWN, DETECTED, *WRONG[4:]]
    assert [arm for arm in ARMS if arm.encoding == ROPE] == [Arm(ROPE)]


def test_all_planes_turn_with_what_was_told():
    told = Arm(CYCLE, LONG).told(NOISY, 23.9)
    assert told == pytest.approx(1.1 * 23.7)
    assert {round(1 / plane.frequency, 9) for plane in built(Arm(CYCLE, LONG)).planes} == {round(told, 9)}
    planes = [plane for head in built(Arm(CLOCK, LONG)).planes[0] for plane in head]
    assert all((plane.frequency * told) % 1 == pytest.approx(0, abs=1e-9) for plane in planes)


def test_those_that_learn_start_at_what_was_told():
    assert effective_periods(built(Arm(LEARNED, LONG)))["offset"] == pytest.approx([1.1 * 23.7])
    found = effective_periods(built(Arm(T_ROPE, LONG)))
    days = torch.tensor([period for periods in found.values() for period in periods]) / 86_400
    assert days.tolist() == pytest.approx([1.1 * 23.7] * len(days), rel=1e-5)


def test_a_plane_of_rope_has_a_period_of_twenty_by_chance():
    assert nearest_rope_period(20.0, 16) == pytest.approx(19.869, abs=1e-3)
    assert nearest_rope_period(TWENTY.periods[0], 4) == pytest.approx(2 * 3.14159265, rel=1e-6)
