"""T-RoPE: its switches, starts and precision; its theorems stand in `test_t_rope_laws`."""

import copy
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import TimeAxis
from fints.encodings.bank import TimeBank, geometric_betas
from fints.encodings.bank_rotation import bank_phases
from fints.encodings.t_rope import TRope, TRopeConfig
from fints.errors import EncodingError
from fints.plan import Cycle, FrequencyPlan

DAY = 86_400
TURN = 2 * Fraction("3.14159265358979323846264338327950288419716939937510")
# Closes of New York on both sides of changes of daylight saving time; any second from 1970 to 2100.
CLOSES = [1_173_474_000, 1_173_729_600, 1_194_033_600, 1_194_296_400, 1_520_629_200, 1_520_884_800]
SECONDS = st.sampled_from(CLOSES) | st.integers(0, 4_102_444_800)
DIM, HEADS, LAYERS = 8, 2, 2


def axis(*places):
    return TimeAxis(seconds=torch.tensor([places]))


def vectors(seed, n=1, dim=DIM):
    return torch.randn(1, HEADS, n, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def made(**options):
    return TRope(TRopeConfig(**options), DIM, LAYERS)


def score(encoding, q_place, k_place):
    q, k = encoding.prepare(axis(q_place), axis(k_place)).layer(1).rotate(vectors(0), vectors(1))
    return (q * k).sum(-1)


def set_alpha(bank, alpha):
    """Put one row of α into every layer through the learned offset."""
    with torch.no_grad():
        start, betas = torch.tensor(bank.starts, dtype=torch.float64), torch.tensor(bank.betas, dtype=torch.float64)
        bank.offset.copy_((torch.as_tensor(alpha, dtype=torch.float64) - start) * bank.unit / betas)


def exact_angle(alpha, beta, seconds):
    """Return α t / β modulo a turn, in (−π, π], from rational arithmetic."""
    turns = Fraction(float(alpha)) * Fraction(seconds) / Fraction(float(beta)) / TURN
    return float((turns - round(turns)) * TURN)


@pytest.mark.parametrize("epoch", [0, 946_684_800])
def test_the_epoch_changes_nothing_at_itself(epoch):
    q, k = made(epoch=epoch).prepare(axis(epoch), axis(epoch)).layer(0).rotate(vectors(0), vectors(1))
    assert torch.equal(q, vectors(0))
    assert torch.equal(k, vectors(1))


@pytest.mark.parametrize("cast", [None, torch.bfloat16, torch.float16, torch.float32])
@settings(max_examples=30, deadline=None)
@given(seconds=SECONDS, rate=st.floats(-1, 1))
def test_angles_are_exact_at_any_date_whatever_the_module_is_cast_to(cast, seconds, rate):
    betas = (100.0, 12_345.678, 1e8)
    bank = TimeBank([[rate * b for b in betas]], betas, 0.0, 1e9, learnable=True)
    torch.nn.init.normal_(bank.offset, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        bank.offset.clamp_(-1, 1)
    bank = bank if cast is None else torch.nn.Sequential(bank).to(cast)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        turns = bank_phases(bank, torch.tensor([[float(seconds)]], dtype=torch.float64))[0].turns()[0, 0]
    for found, alpha, beta in zip(turns.detach(), bank.alpha()[0].detach(), betas, strict=True):
        error = 2 * math.pi * float(found) - exact_angle(alpha, beta, seconds)
        assert abs(math.remainder(error, 2 * math.pi)) <= 1e-9


@settings(max_examples=30, deadline=None)
@given(seconds=SECONDS)
def test_the_tables_of_a_cast_module_are_exact_to_a_microradian(seconds):
    encoding = made().bfloat16()
    at = axis(seconds)
    for layer in range(LAYERS):
        rotation = encoding.prepare(at, at).layer(layer)
        for table, bank, sign in ((rotation.q_table, encoding.query, 1), (rotation.k_table, encoding.key, -1)):
            for found, alpha, beta in zip(table.flatten(), bank.alpha()[layer], bank.betas, strict=True):
                angle = sign * exact_angle(alpha.detach(), beta, seconds)
                assert abs(complex(found.detach()) - complex(math.cos(angle), math.sin(angle))) <= 1e-6


@pytest.mark.parametrize("options", [{}, {"shared": True}, {"shared": True, "non_stationary": False}])
def test_one_axis_for_queries_and_keys_is_as_good_as_two(options):
    encoding, at = made(**options), axis(*CLOSES)
    one, two = encoding.prepare(at, at).layer(1), encoding.prepare(at, axis(*CLOSES)).layer(1)
    assert torch.equal(one.q_table, two.q_table)
    assert torch.equal(one.k_table, two.k_table)


def test_every_plane_learns_at_the_same_pace():
    encoding = TRope(TRopeConfig(), 64, 1)
    turns = bank_phases(encoding.query, torch.tensor([[1.5e9]], dtype=torch.float64))[0].turns()
    (turns.sum() * 2 * math.pi).backward()
    assert torch.allclose(encoding.query.offset.grad, torch.full((1, 32), 1.5, dtype=torch.float64))


def test_the_switches_change_what_they_say():
    assert made().shifted_query
    assert not made(shifted_query=False).shifted_query
    assert not list(made(learnable=False).parameters())
    assert len(list(made().parameters())) == 2
    assert len(list(made(shared=True).parameters())) == 1
    assert set(made(multiscale=False).query.betas) == {1e5}
    assert made().query.betas == pytest.approx([1e2, 1e4, 1e6, 1e8])
    assert geometric_betas(7.0, 9.0, 1) == (7.0,)
    assert made().query.starts == made().query.starts != TRope(TRopeConfig(), DIM, LAYERS, seed=1).query.starts
    assert made(seed_base=1).query.starts[0] == made(seed_base=0).query.starts[1]
    assert max(abs(a) for a in made(sigma=0).query.starts[0]) == 0


def test_separate_coefficients_of_a_standard_key_can_say_what_the_transposed_key_says():
    transposed, standard = made(), made(non_stationary=False)
    alpha = transposed.key.alpha()[1].detach()
    set_alpha(standard.key, -alpha)
    set_alpha(standard.query, transposed.query.alpha()[1].detach())
    assert torch.allclose(score(transposed, *CLOSES[:2]), score(standard, *CLOSES[:2]), atol=1e-5)


def test_chosen_planes_start_at_the_periods_of_the_plan():
    plan = FrequencyPlan.from_periods([Cycle(7, "calendar"), Cycle(252)])
    encoding = TRope(TRopeConfig(plan_share=0.5), DIM, LAYERS, plan)
    for periods in encoding.periods():
        for row in periods.tolist():
            days = [period / DAY for period in row]
            assert any(d == pytest.approx(7) for d in days)
            assert any(d == pytest.approx(365.25) for d in days)
    free = [j for j, a in enumerate(encoding.query.starts[0]) if a == made().query.starts[0][j]]
    assert len(free) == 2


def test_copies_state_and_the_meta_device_keep_the_coefficients():
    encoding = made()
    for bank in (encoding.query, encoding.key):
        torch.nn.init.normal_(bank.offset, generator=torch.Generator().manual_seed(3))
    at = axis(*CLOSES)
    table = encoding.prepare(at, at).layer(1).q_table.detach()
    with torch.device("meta"):
        empty = made()
    empty = empty.to_empty(device="cpu")
    fresh = made().half()
    for other in (empty, fresh):
        other.load_state_dict(encoding.state_dict())
    for other in (copy.deepcopy(encoding), copy.deepcopy(encoding).bfloat16(), empty, fresh):
        assert torch.equal(other.prepare(at, at).layer(1).q_table, table)
    empty.query.reset_parameters()
    assert empty.query.alpha().tolist() == [list(row) for row in made().query.starts]


def test_inference_leaves_nothing_that_training_trips_over():
    encoding = made()
    at = axis(*CLOSES[:3])
    with torch.inference_mode():
        encoding.prepare(at, at)
    for _ in range(2):
        q, k = encoding.prepare(at, at).layer(0).rotate(vectors(0, 3), vectors(1, 3))
        (q * k).sum().backward()
    assert torch.isfinite(encoding.query.offset.grad).all()
    assert encoding.query.offset.grad.abs().sum() > 0


def test_a_bfloat16_model_trains_beside_float64_coefficients():
    linear, encoding = torch.nn.Linear(DIM, DIM), made()
    model = torch.nn.ModuleList([linear, encoding]).bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = vectors(0, 3).bfloat16()
    at = axis(*CLOSES[:3])
    q, k = encoding.prepare(at, at).layer(0).rotate(linear(x), linear(x))
    (q * k).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    assert encoding.query.offset.dtype == torch.float64
    assert encoding.query.offset[0].abs().sum() > 0


@pytest.mark.parametrize(
    ("options", "dim", "says"),
    [
        ({}, 7, "even head width"),
        ({"plan_share": 0.5}, 8, "pass plan="),
    ],
)
def test_what_cannot_be_built_is_refused(options, dim, says):
    with pytest.raises(EncodingError, match=says):
        TRope(TRopeConfig(**options), dim, 1)


def test_a_bank_that_runs_backwards_is_refused():
    with pytest.raises(EncodingError, match="from beta_min to beta_max"):
        TRopeConfig(beta_min=10, beta_max=1)


def test_a_missing_seconds_clock_is_named():
    at = TimeAxis(index=torch.arange(3)[None])
    with pytest.raises(EncodingError, match="reads the seconds clock"):
        made().prepare(at, at)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, 1e9),
        ({"shared": True}, 1e9),
        ({"non_stationary": False}, 1e9),
        ({"shared": True, "non_stationary": False}, 1e7),
        ({"shared": True, "non_stationary": False, "unit": 5.0}, 5.0),
    ],
)
def test_periods_move_faster_where_scores_depend_on_distances_alone(options, seconds):
    encoding = TRope(TRopeConfig(**options), 8, 1)
    assert (encoding.query.unit, encoding.key.unit) == (seconds, seconds)
