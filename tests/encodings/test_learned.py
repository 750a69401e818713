"""Learned frequencies of every kind are found, and said as periods."""

import math

import pytest
import torch
from safetensors.torch import load_file, save_file

from fints.encodings import TimeAxis, build, effective_periods
from fints.errors import EncodingError
from fints.plan import Cycle, FrequencyPlan

PLAN = FrequencyPlan.from_periods([5, 20])
DIM, HEADS, LAYERS = 32, 2, 3
LEARNED = [
    {"kind": "cycle", "learn": True},
    {"kind": "rope", "learn": True},
    {"kind": "rfr", "learn": True},
    {"kind": "clock", "learn": True},
    {"kind": "t_rope"},
    {"kind": "to_rope"},
]


def made(config):
    return build(config, dim=DIM, n_heads=HEADS, n_layers=LAYERS, plan=PLAN)


@pytest.mark.parametrize("config", LEARNED, ids=lambda c: c["kind"])
def test_every_learned_frequency_is_found_and_nothing_else(config):
    encoding = made({"kind": "sum", "parts": [config, "time_rab"]})
    found = encoding.frequency_parameters()
    expected = [p for name, p in encoding.named_parameters() if name.endswith("offset")]
    assert expected
    assert set(map(id, found)) == set(map(id, expected))
    assert all(p.dtype == torch.float64 for p in found)


@pytest.mark.parametrize(
    "config", ["none", "cycle", "rope", "clock", "time_rab", {"kind": "t_rope", "learnable": False}]
)
def test_what_learns_no_frequency_has_none(config):
    encoding = made(config)
    assert encoding.frequency_parameters() == []
    assert effective_periods(encoding) == {}


@pytest.mark.parametrize("config", LEARNED, ids=lambda c: c["kind"])
def test_there_is_one_period_for_each_element(config):
    encoding = made({"kind": "sum", "parts": ["alibi", config]})
    periods = effective_periods(encoding)
    sizes = {name: p.numel() for name, p in encoding.named_parameters() if name.endswith("offset")}
    assert {name: len(values) for name, values in periods.items()} == sizes
    assert all(name.startswith("parts.1.") and min(values) > 0 for name, values in periods.items())


@pytest.mark.parametrize(("config", "clock"), [(LEARNED[0], "session"), (LEARNED[1], "index"), (LEARNED[4], "seconds")])
def test_a_period_later_a_plane_stands_as_before(config, clock):
    encoding = made(config)
    with torch.no_grad():
        for parameter in encoding.frequency_parameters():
            parameter.uniform_(0.05, 0.2, generator=torch.Generator().manual_seed(0))
    for name, values in effective_periods(encoding).items():
        key = name.startswith("key")
        for place in range(0, len(values), 7):
            table = [axis_table(encoding, at, key) for at in (0.0, values[place])]
            column = place_of(encoding, config, place)
            assert torch.allclose(table[0][column], table[1][column], atol=1e-5)


def axis_table(encoding, place, key):
    """Tables of one place by layer, head and plane."""
    t = torch.tensor([[place]], dtype=torch.float64)
    at = TimeAxis(index=t, session=t, calendar=t, seconds=t)
    layers = [encoding.prepare(at, at).layer(i) for i in range(LAYERS)]
    tables = [layer.k_table if key else layer.q_table for layer in layers]
    return torch.view_as_real(torch.stack([table.expand(1, HEADS, 1, -1)[0, :, 0] for table in tables]))


def place_of(encoding, config, element):
    """Layer, head and plane that an element of the parameter turns."""
    planes = DIM // HEADS // 2
    match config["kind"]:
        case "cycle":
            return 0, 0, encoding._cycle_of.index(element)
        case "rope":
            return element // (HEADS * planes), element // planes % HEADS, element % planes
        case _:
            return element // planes, 0, element % planes


def test_learned_rope_starts_as_rope():
    t = torch.arange(5, dtype=torch.float64)[None]
    at = TimeAxis(index=t)
    tables = [made(config).prepare(at, at).layer(0).q_table for config in ("rope", LEARNED[1])]
    assert torch.equal(tables[0].expand(1, HEADS, 5, -1), tables[1])
    periods = effective_periods(made(LEARNED[1]))["offset"]
    assert periods[0] == pytest.approx(2 * math.pi)
    assert len(periods) == LAYERS * HEADS * DIM // HEADS // 2


@pytest.mark.parametrize("config", LEARNED, ids=lambda c: c["kind"])
def test_a_state_that_departs_from_another_start_is_refused(config):
    """The same offsets would be other periods."""
    saved = made(config).state_dict()
    other = {**config, "unit": 7.0}
    encoding = build(other, dim=DIM, n_heads=HEADS, n_layers=LAYERS, plan=PLAN)
    with pytest.raises(EncodingError, match=r"departs from another start .* where it has 7; build it with the plan"):
        encoding.load_state_dict(saved)
    made(config).load_state_dict(saved)


@pytest.mark.parametrize(
    ("periods", "says"), [([5, 10], "10 where it has 20"), ([5, 20, 60], "8 numbers, not 6"), ([Cycle(5), 20], None)]
)
def test_a_state_of_another_plan_is_refused(periods, says):
    def cycles(plan):
        return build({"kind": "cycle", "learn": True}, dim=DIM, n_heads=HEADS, n_layers=LAYERS, plan=plan)

    saved = torch.nn.ModuleList([cycles(FrequencyPlan.from_periods(periods))]).state_dict()
    model = torch.nn.ModuleList([cycles(PLAN)])
    if says is None:
        model.load_state_dict(saved)
    else:
        with pytest.raises(EncodingError, match=says):
            model.load_state_dict(saved)


@pytest.mark.parametrize("config", [c for c in LEARNED if c["kind"] in {"rfr", "clock", "t_rope", "to_rope"}], ids=str)
def test_a_state_of_another_draw_is_refused(config):
    one, other = (build(config, dim=DIM, n_heads=HEADS, n_layers=LAYERS, plan=PLAN, seed=seed) for seed in (0, 1))
    with pytest.raises(EncodingError, match="the plan, the seed and the settings"):
        other.load_state_dict(one.state_dict())


@pytest.mark.parametrize("config", LEARNED, ids=lambda c: c["kind"])
def test_a_state_goes_through_a_file_of_tensors_and_one_without_the_start_is_taken(config, tmp_path):
    encoding, fresh, old = made(config), made(config), made(config)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.fill_(0.25)
    save_file(encoding.state_dict(), tmp_path / "weights")
    state = load_file(tmp_path / "weights")
    fresh.load_state_dict(state)
    old.load_state_dict({name: value for name, value in state.items() if not name.endswith("_extra_state")})
    expected = effective_periods(encoding)
    assert effective_periods(fresh) == effective_periods(old) == expected != effective_periods(made(config))
