import pytest

from fints.studies.cost.turns import take_turns


class Machine:
    """Two clocks that work moves; others on the machine move the wall alone."""

    def __init__(self):
        self.cpu = self.wall = 0.0
        self.done = []

    def work(self, name, seconds, busy=0.0):
        def run():
            self.done.append(name)
            self.cpu += seconds
            self.wall += seconds * (1 + busy)

        return run

    @property
    def clocks(self):
        return (lambda: self.cpu, lambda: self.wall)


def test_the_ratio_is_that_of_the_work():
    machine = Machine()
    turns = take_turns(machine.work("a", 0.06), machine.work("b", 0.02), 4, machine.clocks)
    assert turns.ratio() == pytest.approx(3.0)
    assert turns.ratio("wall") == pytest.approx(3.0)


def test_what_others_take_of_the_machine_is_in_the_wall_alone():
    machine = Machine()
    turns = take_turns(machine.work("a", 0.02, busy=1.0), machine.work("b", 0.02), 4, machine.clocks)
    assert turns.ratio() == pytest.approx(1.0)
    assert turns.ratio("wall") == pytest.approx(2.0)


def test_who_begins_alternates():
    machine = Machine()
    take_turns(machine.work("a", 1.0), machine.work("b", 1.0), 4, machine.clocks)
    assert "".join(machine.done[-8:]) == "abbaabba"


def test_what_is_short_is_repeated_until_a_turn_can_be_measured():
    machine = Machine()
    turns = take_turns(machine.work("a", 1e-4), machine.work("b", 2e-4), 1, machine.clocks)
    assert len(machine.done) >= 2 * 50
    assert turns.cpu[0] == pytest.approx([1e-4, 2e-4])


def test_one_slow_round_does_not_move_the_ratio():
    machine, slow = Machine(), iter([1, 1, 1, 50, 1, 1, 1])

    def first():
        machine.work("a", 0.02 * next(slow))()

    turns = take_turns(first, machine.work("b", 0.02), 5, machine.clocks)
    assert turns.cpu.max() > 0.5
    assert turns.ratio() == pytest.approx(1.0)
