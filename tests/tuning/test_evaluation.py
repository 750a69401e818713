import pytest

from fints.tuning import evaluation
from fints.tuning.evaluation import run_fold
from tests.tuning.conftest import tiny_tuner


@pytest.fixture
def seeds(monkeypatch):
    """Seeds of the models that are fitted, in order."""
    found = []

    class Noted(evaluation.Job):
        def run(self, panel):
            found.append(self.entrant.model.design.random_seed)
            return super().run(panel)

    monkeypatch.setattr(evaluation, "Job", Noted)
    return found


def test_every_fold_has_a_network_of_its_own_and_all_candidates_the_same_ones(seeds):
    """What one network makes of chance would otherwise favour the same candidate in every fold."""
    tuner = tiny_tuner()
    stages, untuned = tuner.stages, tuner.space.untuned
    for windows in tuner.folds.inner_blocks()[:2]:
        for candidate in (untuned, untuned):
            run_fold(candidate, tuner.base, stages.search, stages.inner, windows)
    assert seeds[0] == seeds[1] == tuner.base.design.random_seed
    assert seeds[2] == seeds[3] != seeds[0]
