"""Tables are the same however they are made, and made once, when a layer asks."""

import math

import torch

from fints.encodings.rotation import BLOCK, Rotation, rotation_table


def turns(rows):
    return torch.linspace(-3e5, 3e5, rows * 7, dtype=torch.float64).view(rows, 7)


def test_a_table_made_in_blocks_is_bitwise_that_made_at_once():
    phases = turns(BLOCK // 7 + 100)
    at_once = torch.cat([rotation_table(row[None]) for row in phases.split(1000)[0]])
    assert torch.equal(rotation_table(phases)[:1000], at_once)
    last = rotation_table(phases[-100:])
    assert torch.equal(rotation_table(phases)[-100:], last)


def test_a_strided_table_is_that_of_its_numbers():
    phases = turns(BLOCK // 7 + 100)
    assert torch.equal(rotation_table(phases.T), rotation_table(phases).T)


def test_a_table_in_blocks_is_off_by_less_than_a_millionth_of_a_radian():
    phases = turns(BLOCK // 7 + 100)
    exact = torch.remainder(phases, 1) * 2 * math.pi
    table = rotation_table(phases).to(torch.complex128)
    assert float((table * torch.polar(torch.ones_like(exact), -exact)).angle().abs().max()) < 1e-6


def test_tables_are_made_once_and_only_if_a_layer_asks():
    made = []

    def make(name):
        made.append(name)
        return torch.ones(1, 1, 3, 2, dtype=torch.complex64)

    rotation = Rotation(lambda: make("q"), lambda: make("k"))
    assert made == []
    x = torch.ones(1, 2, 3, 4)
    for _ in range(2):
        rotation.rotate(x, x)
    assert made == ["q", "k"]
    alike = Rotation(lambda: make("both"))
    alike.rotate(x, x)
    assert made == ["q", "k", "both"]
    assert alike.k_table is alike.q_table
