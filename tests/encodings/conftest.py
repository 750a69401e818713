"""Every kind of encoding and some combinations, and places of real bars.

A new kind is covered by the laws as soon as it stands in `ENCODINGS`; one with an option ``learn``, learning too.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import pytest
import torch

from fints.encodings import ENCODINGS, TimeAxis, build
from fints.encodings.kinds import AddedEncoding
from fints.plan import Cycle, FrequencyPlan
from fints.sessions import bar_grid, get_calendar, places

DIM, HEADS, LAYERS = 64, 4, 2
WIDTH = DIM // HEADS
PLAN = FrequencyPlan.from_periods([5, Cycle(7, "calendar", harmonics=(1, 2), strength=3), 62.5])
DAY = 86_400
CLOCKS = ("index", "session", "calendar", "seconds")


def half(*parts, by="feature"):
    return {"kind": "split", "by": by, "parts": [{"share": 0.5, "encoding": part} for part in parts]}


def added_up(*parts):
    return {"kind": "sum", "parts": list(parts)}


LEARNING = [kind for kind, config in ENCODINGS.items() if "learn" in config.model_fields]

CASES: Mapping[str, object] = MappingProxyType(
    {
        **{kind: {"kind": kind} for kind in ENCODINGS},
        **{f"{kind} learned": {"kind": kind, "learn": True} for kind in LEARNING},
        "rope on sessions": {"kind": "rope", "clock": "session"},
        "xpos on sessions": {"kind": "xpos", "clock": "session", "scale": 20},
        "alibi on sessions": {"kind": "alibi", "clock": "session"},
        "cycle on all planes": {"kind": "cycle", "share": 1.0},
        "clock mixture": {"kind": "clock", "mixture": True, "law": "gaussian-sym"},
        "clock of a day in seconds": {"kind": "clock", "period": DAY, "clock": "seconds", "share": 1.0},
        "rfr of a day in seconds": {"kind": "rfr", "clock": "seconds", "kernel": {"kind": "cosine", "period": DAY}},
        "t_rope by distance": {"kind": "t_rope", "shared": True, "non_stationary": False},
        "t_rope from the plan": {"kind": "t_rope", "plan_share": 0.5, "learnable": False, "epoch": 946_684_800},
        "to_rope by planes": {"kind": "to_rope", "fusion": "planes"},
        "to_rope by heads": {"kind": "to_rope", "fusion": "heads"},
        "rote of days": {"kind": "rote", "interval": DAY},
        "time_rab per head": {"kind": "time_rab", "per_head": True},
        "calendar_features projected": {"kind": "calendar_features", "form": "projection"},
        "alibi + rope": added_up("alibi", "rope"),
        "time_rab + t_rope": added_up("time_rab", "t_rope"),
        "absolute_linear + alibi + cycle": added_up("absolute_linear", "alibi", "cycle"),
        "rope | clock": half("rope", {"kind": "clock", "share": 1.0}),
        "(rope | xpos) | cycle": half(half("rope", "xpos"), {"kind": "cycle", "share": 1.0}),
        "rope or clock by head": half("rope", "clock", by="head"),
        "alibi or cycle by head": half("alibi", "cycle", by="head"),
    }
)

# Each stretch holds what breaks a count of bars: what that is stands beside it.
STRETCHES = MappingProxyType(
    {
        "spring in New York": ("XNYS", "2018-03-05", "2018-03-16", "1d"),  # an hour less on 2018-03-11
        "autumn in New York": ("XNYS", "2018-11-15", "2018-12-12", "1d"),  # half-day 11-23, closed 12-05
        "September 2001": ("XNYS", "2001-09-04", "2001-09-20", "1d"),  # closed for four sessions
        "Thanksgiving by the hour": ("XNYS", "2018-11-20", "2018-11-23", "1h"),
        "the clocks go back in New York": ("XNYS", "2018-11-02", "2018-11-06", "1h"),
        "the clocks go back in London": ("XLON", "2026-10-23", "2026-10-26", "1h"),
        "New Year in Hong Kong": ("XHKG", "2024-02-08", "2024-02-15", "1h"),  # lunch breaks, a half-day, a holiday
        "golden week": ("XTKS", "2019-04-24", "2019-05-14", "1d"),  # ten days closed
        "round the clock": ("24/7", "2026-03-28", "2026-03-28", "1h"),
    }
)


@cache
def window(name: str) -> TimeAxis:
    """Return the places of the bars of a stretch."""
    mic, first, last, interval = STRETCHES[name]
    calendar = get_calendar(mic)
    at = places(bar_grid(calendar, first, last, interval), calendar)
    return TimeAxis(**{clock: torch.from_numpy(getattr(at, clock))[None] for clock in CLOCKS})


def moved(at: TimeAxis, **by: float) -> TimeAxis:
    """Move all bars along some clocks."""
    return TimeAxis(**{clock: getattr(at, clock) + by.get(clock, 0) for clock in CLOCKS})


def some(at: TimeAxis, tokens: slice) -> TimeAxis:
    """Take some of the bars."""
    return TimeAxis(**{clock: getattr(at, clock)[:, tokens] for clock in CLOCKS})


def made(case: str, n_layers: int = LAYERS):
    """Build a case; its weights are the same every time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build(CASES[case], dim=DIM, n_heads=HEADS, n_layers=n_layers, plan=PLAN)


def trained(case: str):
    """Build a case whose every parameter has moved away from its start."""
    encoding = made(case)
    g = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=g))
    return encoding


@cache
def attends(case: str) -> bool:
    """Tell whether attention sees the places at all."""
    return case != "none" and not isinstance(made(case), AddedEncoding)


ATTENDING = [case for case in CASES if attends(case)]


def unit_vectors(seed: int, tokens: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Draw vectors of length 1, shape (1, H, tokens, D)."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(1, HEADS, tokens, WIDTH, generator=g, dtype=torch.float64)
    return (x / x.norm(dim=-1, keepdim=True)).to(dtype)


def logits(encoding, q_at: TimeAxis, k_at: TimeAxis, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Score queries against keys in the last layer, bias included; shape (1, H, Tq, Tk)."""
    layer = encoding.prepare(q_at, k_at).layer(LAYERS - 1)
    q, k = layer.rotate(q, k)
    scores = q @ k.mT
    return scores if layer.bias is None else scores + layer.bias


@pytest.fixture(scope="module")
def float64():
    """Let float64 be torch's default: tables and weights are exact to 1e-16 then."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
