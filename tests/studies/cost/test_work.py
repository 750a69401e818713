import dataclasses

import pytest
import torch

from fints.encodings.alibi import LinearBias
from fints.encodings.time_bias import TableBias
from fints.studies.cost.loads import CONTROL, ENCODINGS, LOADS, NIGHTLY
from fints.studies.cost.work import MEASURES, works
from fints.transformer import NetworkConfig

TINY = dataclasses.replace(
    NIGHTLY, network=NetworkConfig(dim=32, n_layers=2, n_heads=2, dropout=0.1), input_size=24, h=4, batch=3, rounds=1
)
WITHOUT_ROTATION = {
    "none",
    "absolute_linear",
    "absolute_sinusoidal",
    "absolute_learned",
    "calendar_features",
    "fourier_features",
    "alibi",
    "time_rab",
    "interval_bias",
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_can_be_timed_again_and_again_and_turns_what_it_should(name):
    runs = works(TINY, ENCODINGS[name])
    assert list(runs) == [m for m in MEASURES if name not in WITHOUT_ROTATION or not m.startswith("rotate")]
    for run in runs.values():
        run()
        run()


def test_a_forecast_has_no_graph_and_a_backward_pass_reaches_every_query():
    runs = works(TINY, ENCODINGS["t_rope"])
    assert not runs["forward"]().requires_grad
    q, k, *learned = runs["rotate and back"]()
    assert q.shape == (3, 2, 28, 16)
    assert k.shape == (3, 2, 24, 16)
    assert any(gradient is not None for gradient in learned)
    assert torch.isfinite(q).all()


@pytest.mark.parametrize(("kind", "makes"), [("alibi", False), ("time_rab", True)])
def test_biases_are_made_with_the_tables_but_where_attention_folds_them(kind, makes, monkeypatch):
    made = []
    for bias in (LinearBias, TableBias):
        monkeypatch.setattr(
            bias, "materialise", lambda self, original=bias.materialise: made.append(1) or original(self)
        )
    works(TINY, {"kind": kind})["prepare"]()
    assert bool(made) == makes


def test_every_encoding_is_among_them_and_the_control_is_rope():
    from fints.encodings import ENCODINGS as KINDS

    assert {str(spelled["kind"]) for spelled in ENCODINGS.values()} >= set(KINDS)
    assert ENCODINGS[CONTROL] == {"kind": "rope"}
    assert all(load.name == name for name, load in LOADS.items())
