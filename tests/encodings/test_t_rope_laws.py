"""T-RoPE's theorems, its formula in rational arithmetic, and its gradients; in float64, at closes of exchanges."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.t_rope import TRope, TRopeConfig
from tests.encodings.conftest import DAY, STRETCHES, window

TURN = 2 * Fraction("3.14159265358979323846264338327950288419716939937510")
DIM, HEADS, LAYERS = 8, 2, 2
CLOSES = sorted({int(second) for name in STRETCHES for second in window(name).seconds[0].tolist()})
SECONDS = st.sampled_from(CLOSES) | st.integers(0, 4_102_444_800)
SHIFTS = st.integers(-400 * DAY, 400 * DAY)
EXACT = {"rtol": 0, "atol": 1e-10}

pytestmark = pytest.mark.usefixtures("float64")


def axis(*seconds):
    return TimeAxis(seconds=torch.tensor([seconds]))


def vectors(seed, n=1):
    x = torch.randn(1, HEADS, n, DIM, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x / x.norm(dim=-1, keepdim=True)


def made(**options):
    return TRope(TRopeConfig(**options), DIM, LAYERS)


def turned(encoding, q_place, k_place, q=None, k=None):
    q, k = vectors(0) if q is None else q, vectors(1) if k is None else k
    return encoding.prepare(axis(q_place), axis(k_place)).layer(1).rotate(q, k)


def score(encoding, q_place, k_place, q=None, k=None):
    q, k = turned(encoding, q_place, k_place, q, k)
    return (q * k).sum(-1)


def set_alpha(bank, alpha):
    """Put one row of α into every layer through the learned offset, which rounds it: 1e-8 rad at most in 2100."""
    with torch.no_grad():
        start, betas = torch.tensor(bank.starts, dtype=torch.float64), torch.tensor(bank.betas, dtype=torch.float64)
        bank.offset.copy_((torch.as_tensor(alpha, dtype=torch.float64) - start) * bank.unit / betas)


def alphas(bank):
    return bank.alpha()[1].detach().tolist()


def angle(alpha, beta, seconds):
    """Return α t / β modulo a turn, in (−π, π], from rational arithmetic."""
    turns = Fraction(alpha) * Fraction(seconds) / Fraction(beta) / TURN
    return float((turns - round(turns)) * TURN)


def angles(encoding, q_place, k_place):
    """Return φ^q and φ^k of every plane."""
    betas = encoding.query.betas
    return (
        [angle(a, b, q_place) for a, b in zip(alphas(encoding.query), betas, strict=True)],
        [angle(a, b, k_place) for a, b in zip(alphas(encoding.key), betas, strict=True)],
    )


@pytest.mark.parametrize("non_stationary", [True, False])
@settings(max_examples=40)
@given(q_place=SECONDS, k_place=SECONDS)
def test_scores_are_those_of_the_naive_formula(non_stationary, q_place, k_place):
    encoding = made(non_stationary=non_stationary)
    q, k = vectors(0), vectors(1)
    expected = torch.zeros(1, HEADS, 1)
    for d, (phi_q, phi_k) in enumerate(zip(*angles(encoding, q_place, k_place), strict=True)):
        # Equation 12, with the sign of its sine term put right.
        phi = phi_q + phi_k if non_stationary else phi_q - phi_k
        q1, q2, k1, k2 = q[..., 2 * d], q[..., 2 * d + 1], k[..., 2 * d], k[..., 2 * d + 1]
        expected += (q1 * k1 + q2 * k2) * math.cos(phi) + (q1 * k2 - q2 * k1) * math.sin(phi)
    assert torch.allclose(score(encoding, q_place, k_place), expected, **EXACT)


@settings(max_examples=40)
@given(q_place=SECONDS, k_place=SECONDS, shift=SHIFTS)
def test_theorem_1_shared_coefficients_and_standard_keys_see_distances_only(q_place, k_place, shift):
    encoding = made(shared=True, non_stationary=False)
    assert torch.allclose(score(encoding, q_place, k_place), score(encoding, q_place + shift, k_place + shift), **EXACT)


@pytest.mark.parametrize(
    "options", [{}, {"shared": True}, {"non_stationary": False}], ids=["full", "shared", "separate standard"]
)
@settings(max_examples=25)
@given(q_place=SECONDS, k_place=SECONDS, shift=st.sampled_from([3600, DAY, 30 * DAY, 365 * DAY]) | SHIFTS)
def test_theorem_2_and_remark_1_some_query_and_key_see_the_date(options, q_place, k_place, shift):
    """Where a plane's turns during the shift are no whole number, the pair that meets head on meets no longer."""
    encoding = made(**options)
    sign = 1 if encoding.config.non_stationary else -1
    rates = [
        (Fraction(a) + sign * Fraction(b)) / Fraction(beta)
        for a, b, beta in zip(alphas(encoding.query), alphas(encoding.key), encoding.query.betas, strict=True)
    ]
    turns = [rate * shift / TURN for rate in rates]
    plane = max(range(len(turns)), key=lambda d: abs(turns[d] - round(turns[d])))
    phi_q, phi_k = angles(encoding, q_place, k_place)
    q = torch.zeros_like(vectors(0))
    q[..., 2 * plane] = 1.0
    k = torch.zeros_like(q)
    met = phi_q[plane] + sign * phi_k[plane]
    k[..., 2 * plane], k[..., 2 * plane + 1] = math.cos(met), math.sin(met)
    assert torch.allclose(score(encoding, q_place, k_place, q, k), torch.ones(()), **EXACT)
    rest = float((turns[plane] - round(turns[plane])) * TURN)
    moved = score(encoding, q_place + shift, k_place + shift, q, k)
    assert torch.allclose(moved, torch.tensor(math.cos(rest)), **EXACT)
    assert abs(rest) < 1e-4 or (moved < 1 - 1e-9).all()


@settings(max_examples=40)
@given(q_place=SECONDS, k_place=SECONDS, shift=SHIFTS, scale=st.floats(0.1, 3))
def test_remark_3_opposite_coefficients_see_distances_only_again(q_place, k_place, shift, scale):
    encoding = made()
    opposite = [scale * a for a in (0.3, -1.2, 0.7, 2.0)]
    set_alpha(encoding.query, opposite)
    set_alpha(encoding.key, [-a for a in opposite])
    assert torch.allclose(
        score(encoding, q_place, k_place), score(encoding, q_place + shift, k_place + shift), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("non_stationary", [True, False])
@settings(max_examples=30)
@given(q_place=SECONDS, k_place=SECONDS, years=st.integers(-30, 30), harmonic=st.integers(1, 4))
def test_corollary_1_a_plane_may_repeat_with_the_target_date(non_stationary, q_place, k_place, years, harmonic):
    period = 365 * DAY
    encoding = made(non_stationary=non_stationary)
    set_alpha(encoding.query, [2 * math.pi * harmonic / period * beta for beta in encoding.query.betas])
    assert torch.allclose(
        score(encoding, q_place, k_place), score(encoding, q_place + years * period, k_place), rtol=0, atol=1e-8
    )


class Prepared(torch.nn.Module):
    """The scores of some queries and keys, as a function of the offsets."""

    def __init__(self, encoding, at, k_at):
        super().__init__()
        self.encoding, self.at, self.k_at = encoding, at, k_at

    def forward(self, q, k):
        q, k = self.encoding.prepare(self.at, self.k_at).layer(1).rotate(q, k)
        return q @ k.mT


@pytest.mark.parametrize("options", [{}, {"non_stationary": False}, {"shared": True}], ids=str)
def test_gradients_of_coefficients_queries_and_keys_are_those_of_finite_differences(options):
    model = Prepared(made(**options), axis(*CLOSES[2:4]), axis(*CLOSES[:3]))
    names = [name for name, _ in model.named_parameters()]

    def scores(q, k, *offsets):
        return torch.func.functional_call(model, dict(zip(names, offsets, strict=True)), (q, k))

    offsets = [p.detach().clone().requires_grad_() for p in model.parameters()]
    q, k = vectors(0, 2).requires_grad_(), vectors(1, 3).requires_grad_()
    assert torch.autograd.gradcheck(scores, (q, k, *offsets))


@pytest.mark.parametrize("non_stationary", [True, False])
def test_gradients_are_those_of_algorithm_3(non_stationary):
    encoding, at = made(non_stationary=non_stationary), axis(*CLOSES[:3])
    k, g = vectors(1, 3).requires_grad_(), vectors(2, 3)
    _, turned_k = encoding.prepare(at, at).layer(0).rotate(vectors(0, 3), k)
    turned_k.backward(g)
    alpha = encoding.key.alpha()[0].detach().tolist()
    sign = -1 if non_stationary else 1
    for d, beta in enumerate(encoding.key.betas):
        phi = torch.tensor([angle(alpha[d], beta, s) for s in CLOSES[:3]])
        c, s = phi.cos(), phi.sin()
        x0, x1, g0, g1 = (x.detach()[..., 2 * d + i] for x in (k, g) for i in (0, 1))
        assert torch.allclose(k.grad[..., 2 * d], g0 * c + sign * g1 * s, **EXACT)
        assert torch.allclose(k.grad[..., 2 * d + 1], -sign * g0 * s + g1 * c, **EXACT)
        phase = g0 * (-x0 * s - sign * x1 * c) + g1 * (-x1 * s + sign * x0 * c)
        expected = float((phase * at.seconds.double() / 1e9).sum())
        assert encoding.key.offset.grad[0, d].item() == pytest.approx(expected, rel=1e-9, abs=1e-10)
