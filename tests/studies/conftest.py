from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from fints.studies import Bench
from fints.studies.protocol import Protocol
from fints.transformer import NetworkConfig, TrainingConfig

SMALL = Protocol(
    trained=30,
    total=44,
    input_size=12,
    h=4,
    network=NetworkConfig(
        dim=24, n_layers=2, n_heads=2, dropout=0.0, covariates=False, companions=False, linear_skip=False
    ),
    training=TrainingConfig(max_steps=3, batch_size=4, learning_rate=4e-3),
)


@pytest.fixture
def small():
    """A protocol that takes a moment."""
    return SMALL


@dataclass
class Recorder:
    """A tracker that remembers."""

    params: dict = field(default_factory=dict)
    curves: dict = field(default_factory=dict)
    children: dict = field(default_factory=dict)

    def log_params(self, params):
        self.params |= params

    def log_metrics(self, metrics, step=0):
        self.log_curves({key: {step: value} for key, value in metrics.items()})

    def log_curves(self, curves):
        for key, curve in curves.items():
            self.curves.setdefault(key, {}).update(curve)

    @contextmanager
    def child(self, name, tags):
        self.children[name] = Recorder()
        yield self.children[name]


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def bench(tmp_path, recorder):
    return Bench(tmp_path, "quick", 1, recorder, lambda done, total: None)
