"""Rotations by a bank have the gradient that autograd finds through their tables."""

import pytest
import torch

from fints.encodings.bank import TimeBank, geometric_betas
from fints.encodings.bank_rotation import BankRotation, bank_phases
from fints.encodings.rotation import BLOCK, Rotation

HEADS, PLANES = 2, 4
DAY = 86_400.0


@pytest.fixture
def float64():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def bank(seed):
    g = torch.Generator().manual_seed(seed)
    betas = geometric_betas(1e2, 1e8, PLANES)
    made = TimeBank([torch.randn(PLANES, generator=g).tolist()], betas, 0.0, 1e9, learnable=True)
    with torch.no_grad():
        made.offset.copy_(0.1 * torch.randn(1, PLANES, generator=g))
    return made


def seconds(batch, tokens):
    return 1.5e9 + DAY * torch.arange(batch * tokens, dtype=torch.float64).view(batch, tokens)


def vectors(seed, batch, tokens, dtype=torch.float64):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, tokens, HEADS, 2 * PLANES, generator=g, dtype=dtype)
    # As a projection leaves its heads, and not contiguous.
    return x.transpose(1, 2).requires_grad_()


def gradients(make, banks, places, x, beside=None):
    """Return outputs, then gradients of queries, keys and offsets, of a loss that weights every number differently."""
    phases = [bank_phases(b, p, sign, beside)[0] for b, p, sign in zip(banks, places, (1, -1), strict=True)]
    turned = make(*phases).rotate(*x)
    loss = sum((t * torch.linspace(-1, 2, t.numel(), dtype=t.dtype).view_as(t)).sum() for t in turned)
    return [*turned, *torch.autograd.grad(loss, (*x, *(b.offset for b in banks)))]


def by_autograd(q_phases, k_phases):
    return Rotation(q_phases.table, k_phases.table)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "with the order"])
@pytest.mark.parametrize("rows", [1, 3], ids=["shared places", "own places"])
@pytest.mark.usefixtures("float64")
def test_gradients_are_those_of_autograd(rows, beside):
    banks, places = (bank(0), bank(1)), (seconds(rows, 5), seconds(rows, 7)[:, :5])
    x = vectors(2, 3, 5), vectors(3, 3, 5)
    order = torch.linspace(0, 3, 5 * PLANES).view(1, 5, PLANES) if beside else None
    found = gradients(BankRotation, banks, places, x, order)
    for ours, expected in zip(found, gradients(by_autograd, banks, places, x, order), strict=True):
        assert torch.allclose(ours, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.usefixtures("float64")
def test_samples_that_are_turned_back_in_blocks_lose_nothing():
    tokens = BLOCK // (HEADS * PLANES) + 1
    banks, places = (bank(0), bank(1)), (seconds(3, tokens), seconds(3, tokens))
    x = vectors(2, 3, tokens), vectors(3, 3, tokens)
    for ours, expected in zip(
        gradients(BankRotation, banks, places, x), gradients(by_autograd, banks, places, x), strict=True
    ):
        assert torch.allclose(ours, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("batch", [1, 2], ids=["one sample at many places", "many samples"])
@pytest.mark.usefixtures("float64")
def test_gradients_are_those_of_finite_differences(batch):
    banks = bank(0), bank(1)

    def turned(q, k, *offsets):
        phases = [
            torch.func.functional_call(Phased(b, sign), {"bank.offset": offset}, (seconds(2, 3),))
            for b, sign, offset in zip(banks, (1, -1), offsets, strict=True)
        ]
        return BankRotation(*phases).rotate(q, k)

    offsets = [b.offset.detach().clone().requires_grad_() for b in banks]
    assert torch.autograd.gradcheck(turned, (vectors(2, batch, 3), vectors(3, batch, 3), *offsets))


class Phased(torch.nn.Module):
    """The phases of a bank, as a function of its offset."""

    def __init__(self, bank, sign):
        super().__init__()
        self.bank, self.sign = bank, sign

    def forward(self, places):
        return bank_phases(self.bank, places, self.sign)[0]


def test_half_precision_and_autocast_leave_the_gradient_of_the_offset_in_full_precision():
    banks, places = (bank(0), bank(1)), (seconds(2, 5), seconds(2, 5))
    full = gradients(BankRotation, banks, places, (vectors(2, 2, 5, torch.float32), vectors(3, 2, 5, torch.float32)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = gradients(
            BankRotation, banks, places, (vectors(2, 2, 5, torch.float32), vectors(3, 2, 5, torch.float32))
        )
    assert all(torch.equal(a, b) for a, b in zip(full, cast, strict=True))
    half = [vectors(seed, 2, 5, torch.float32).detach().bfloat16().requires_grad_() for seed in (2, 3)]
    q, k, dq, _, to_q, to_k = gradients(BankRotation, banks, places, half)
    assert (q.dtype, k.dtype, dq.dtype) == (torch.bfloat16,) * 3
    assert (to_q.dtype, to_k.dtype) == (torch.float64,) * 2
    assert torch.allclose(to_q, full[4], rtol=0.05, atol=0.05 * float(full[4].abs().max()))


def test_a_second_derivative_is_refused_rather_than_wrong():
    phases = bank_phases(bank(0), seconds(1, 3))[0]
    x = vectors(0, 1, 3, torch.float32)
    turned, _ = BankRotation(phases, phases).rotate(x, x)
    (first,) = torch.autograd.grad(turned.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
