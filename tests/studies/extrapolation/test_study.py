import pytest

from fints.studies import Bench, Findings
from fints.studies.extrapolation import Extrapolation
from fints.studies.extrapolation.arms import CLOCK, CYCLE, NONE
from fints.studies.extrapolation.study import LEDGER, SCOPES, Scope
from fints.studies.trial import Trial

ARMS = (NONE, CYCLE, CLOCK)
UNITS = 2 * 3 * 2


@pytest.fixture
def study(small):
    return Extrapolation(small, {"quick": Scope(("one", "noisy"), ARMS, seeds=2)})


@pytest.fixture
def runs(monkeypatch):
    done = []
    run = Trial.run
    monkeypatch.setattr(Trial, "run", lambda self: (done.append(self), run(self))[1])
    return done


class Killed(BaseException):
    """What no handler of errors catches."""


def lines(findings):
    return [line for c in findings.chapters for chart in c.charts for line in chart.lines]


def test_it_answers_with_verdicts_tables_and_charts_and_logs_every_encoding(study, bench, recorder):
    findings = study.run(bench)
    assert isinstance(findings, Findings)
    assert not findings.passed
    assert [c.title for c in findings.chapters][-1] == "How it was done"
    for chapter in findings.chapters[:-1]:
        assert len(chapter.tables[0].frame) == len(ARMS)
        assert len(chapter.charts) == 2
        assert "\n- " in chapter.text
    assert set(recorder.children) == set(ARMS)
    curves = recorder.children[CYCLE].curves
    assert sorted(curves["by_horizon/noisy.rmse"]) == list(range(1, study.protocol.beyond + 1))
    assert set(recorder.params) >= {"network.dim", "training.max_steps", "trained"}


def test_a_study_that_was_killed_goes_on_where_it_was(study, bench, runs):
    def stop(done, total):
        if done == 7:
            raise Killed

    with pytest.raises(Killed):
        study.run(Bench(bench.folder, "quick", 1, bench.tracker, stop))
    first = len(runs)
    assert first == 7
    progress = []
    findings = study.run(Bench(bench.folder, "quick", 1, bench.tracker, lambda *at: progress.append(at)))
    assert len(runs) == UNITS
    assert progress == [(done, UNITS) for done in range(7, UNITS + 1)]
    assert len({trial.seed for trial in runs}) == 2
    fresh = study.run(Bench(bench.folder, "quick", 1, bench.tracker, lambda *_: None))
    assert len(runs) == UNITS
    assert fresh.verdicts == findings.verdicts
    for one, other in zip(lines(fresh), lines(findings), strict=True):
        assert (one.y == other.y).all()


def test_changed_settings_are_new_work_and_the_old_results_stay(study, small, bench, runs):
    study.run(bench)
    before = (bench.folder / LEDGER).read_bytes()
    changed = Extrapolation(small, {"quick": Scope(("one", "noisy"), ARMS, seeds=3)})
    changed.run(bench)
    assert len(runs) == UNITS + 6
    assert (bench.folder / LEDGER).read_bytes().startswith(before)


@pytest.mark.soak
def test_the_result_does_not_depend_on_the_number_of_workers(small, bench, tmp_path):
    study = Extrapolation(small, {"quick": Scope(("one",), (CYCLE, CLOCK), seeds=1)})
    (tmp_path / "two").mkdir()
    alone = study.run(bench)
    together = study.run(Bench(tmp_path / "two", "quick", 2, bench.tracker, bench.progress))
    for one, other in zip(lines(alone), lines(together), strict=True):
        assert one.name == other.name
        assert (one.y == other.y).all()


def test_the_full_budget_does_all_that_the_quick_one_does_and_enough_seeds():
    quick, full = SCOPES["quick"], SCOPES["full"]
    assert set(quick.tasks) < set(full.tasks)
    assert set(quick.arms) < set(full.arms)
    assert full.seeds >= 5
