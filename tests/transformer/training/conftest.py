import pytest

from fints.series.windows import Tape
from fints.transformer.training import TrainingWindows
from tests.transformer.conftest import small_model


@pytest.fixture(scope="session")
def windows(daily_panel):
    """Windows of two series without covariates."""
    return TrainingWindows(Tape.from_panel(daily_panel, (), ()), 30, 5)


@pytest.fixture
def network():
    return small_model().design.network_for(0, 0)
