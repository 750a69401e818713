import pytest

from fints.encodings import build
from fints.encodings.registry import ENCODINGS
from fints.studies.extrapolation.arms import ARMS, CLOCK, CYCLE, CYCLE_HALF
from fints.studies.extrapolation.tasks import ONE, TASKS, THREE

PAIRS = [(arm, task) for arm in ARMS.values() for task in TASKS.values() if arm.suits(task)]


def test_every_encoding_of_the_registry_takes_part():
    assert {arm.config(THREE).kind for arm in ARMS.values()} >= set(ENCODINGS)


@pytest.mark.parametrize(("arm", "task"), PAIRS, ids=[f"{arm.name}-{task.name}" for arm, task in PAIRS])
def test_every_arm_can_be_built_for_every_task_it_suits(arm, task):
    build(arm.config(task), dim=32, n_heads=2, n_layers=2, plan=task.plan(arm.clock))


def test_an_arm_for_several_periods_sits_out_a_task_with_one():
    assert {a.name for a in ARMS.values() if a.suits(THREE)} - {a.name for a in ARMS.values() if a.suits(ONE)} == {
        "clock by period on all planes",
        "clock by period on half the planes",
    }


@pytest.mark.parametrize("name", [CYCLE, CLOCK])
def test_on_all_planes_no_plane_keeps_the_rope_schedule(name):
    arm = ARMS[name]
    built = build(arm.config(ONE), dim=32, n_heads=2, n_layers=1, plan=ONE.plan())
    planes = built.planes if name == CYCLE else [plane for head in built.planes[0] for plane in head]
    assert {plane.clock for plane in planes} == {"session"}
    assert all((plane.frequency * 20.0) % 1 == pytest.approx(0, abs=1e-12) for plane in planes)


def test_half_the_planes_are_half():
    built = build(ARMS[CYCLE_HALF].config(THREE), dim=32, n_heads=2, n_layers=1, plan=THREE.plan())
    assert [plane.clock for plane in built.planes] == ["index"] * 4 + ["session"] * 4
