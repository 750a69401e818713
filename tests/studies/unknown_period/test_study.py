from dataclasses import replace

import numpy as np
import pytest

from fints.studies import Bench, Findings
from fints.studies.ledger import settings_key
from fints.studies.planted import PlantedCycles
from fints.studies.trial import Trial
from fints.studies.unknown_period import UnknownPeriod
from fints.studies.unknown_period.arms import TOLD
from fints.studies.unknown_period.study import SCOPES, Scope
from fints.studies.unknown_period.tasks import TASKS
from fints.studies.unknown_period.tellings import DETECTED, KNOWN, TELLINGS, WRONG, detected_period
from fints.studies.unknown_period.week import CYCLE, NONE, ROPE, WeekArm, WeekTrial

FEW = (KNOWN, DETECTED, WRONG[0], WRONG[-1])
REAL = (*(WeekArm(CYCLE, telling) for telling in FEW), WeekArm(ROPE), WeekArm(NONE))


@pytest.fixture
def how(small):
    """Long enough for the cycles to be detected."""
    return replace(small, trained=100, total=110)


@pytest.fixture
def study(how, brief_week, volume):
    return UnknownPeriod(how, brief_week, {"quick": Scope(("twenty", "noisy"), FEW, REAL, seeds=2)})


@pytest.fixture
def runs(monkeypatch):
    """Units that were run; nothing is trained, and results come from the settings alone."""
    done = []

    def noise(unit, n):
        return 0.1 * np.random.default_rng(int(settings_key(unit.settings()), 16)).standard_normal(n)

    def planted(self):
        done.append(self)
        how, (cycle,) = self.protocol, self.plan
        off = self.task.clean(how.total) + noise(self, how.total)
        per_unit = cycle.period * (86_400 if cycle.clock == "calendar" else 1)
        inside, beyond = off[how.input_size : how.trained].tolist(), off[how.trained :].tolist()
        return {"beyond": beyond, "inside": inside, "learned": {"offset": [1 / per_unit]}}

    def real(self):
        done.append(self)
        return {"squared": (noise(self, self.how.n_windows) ** 2).tolist()}

    monkeypatch.setattr(Trial, "run", planted)
    monkeypatch.setattr(WeekTrial, "run", real)
    return done


class Killed(BaseException):
    """What no handler of errors catches."""


def test_it_answers_with_verdicts_tables_and_charts_and_logs_every_arm(study, bench, recorder, runs):
    findings = study.run(bench)
    assert isinstance(findings, Findings)
    assert [c.title for c in findings.chapters][-2:] == ["The week of real volume", "How it was done"]
    for chapter in findings.chapters[:2]:
        errors, against = chapter.tables
        assert list(errors.frame["T told"].str.split(",").str[0]) == [telling.name for telling in FEW]
        assert set(TOLD) <= set(errors.frame.columns)
        assert len(against.frame) == len(FEW) - 1
        assert len(chapter.charts) == 2
    assert "nan" not in " ".join(findings.verdicts)
    assert {"cycle, known", "cycle, −10 %", "t_rope, detected", "rope, known"} <= set(recorder.children)
    curves = recorder.children["cycle, known"].curves
    assert sorted(curves["by_horizon/noisy.rmse"]) == list(range(1, study.protocol.beyond + 1))


def test_what_is_detected_is_told_as_it_is_and_comes_from_the_trained_bars(study, bench, runs, monkeypatch):
    def altered(self, n, seed):
        y = observed(self, n, seed)
        y[study.protocol.trained :] += 1e3
        return y

    observed = PlantedCycles.observed
    monkeypatch.setattr(PlantedCycles, "observed", altered)
    study.run(bench)
    planted = [unit for unit in runs if isinstance(unit, Trial) and unit.task.sigma]
    truth = TASKS["noisy"].periods[0]
    meant = {telling.period(truth, 0.0) for telling in FEW if not telling.detected}
    for seed in range(2):
        found = {cycle.period for unit in planted if unit.seed == seed for cycle in unit.plan} - meant
        assert found == {DETECTED.period(truth, detected_period(TASKS["noisy"].panel(study.protocol.trained, seed)))}


def test_a_study_that_was_killed_goes_on_where_it_was(study, bench, runs):
    def stop(done, total):
        if done == 5:
            raise Killed

    with pytest.raises(Killed):
        study.run(Bench(bench.folder, "quick", 1, bench.tracker, stop))
    assert len(runs) == 5
    totals = set()
    findings = study.run(Bench(bench.folder, "quick", 1, bench.tracker, lambda done, total: totals.add(total)))
    (total,) = totals
    assert len(runs) == total
    fresh = study.run(bench)
    assert len(runs) == total
    assert fresh.verdicts == findings.verdicts


def test_a_period_that_is_detected_exactly_is_not_tried_twice(study, bench, runs):
    study.run(bench)
    clean = [unit for unit in runs if isinstance(unit, Trial) and not unit.task.sigma]
    noisy = [unit for unit in runs if isinstance(unit, Trial) and unit.task.sigma]
    assert len(clean) == 2 * (1 + 3 + 3 + 2 + 2)
    assert len(noisy) == 2 * (1 + 4 + 4 + 3 + 3)


def test_it_runs_through_with_networks_that_are_trained(how, brief_week, volume, bench):
    few = (KNOWN, WRONG[-1])
    real = (WeekArm(CYCLE), WeekArm(CYCLE, DETECTED), WeekArm(CYCLE, WRONG[-1]), WeekArm(ROPE), WeekArm(NONE))
    study = UnknownPeriod(how, brief_week, {"quick": Scope(("twenty",), (*few, DETECTED), real, seeds=1)})
    findings = study.run(bench)
    assert findings.passed
    (errors, _) = findings.chapters[0].tables
    assert float(errors.frame["cycle"].iloc[0]) > 0
    assert "nan" not in " ".join(findings.verdicts)


def test_the_full_budget_does_all_that_the_quick_one_does_and_enough_seeds():
    quick, full = SCOPES["quick"], SCOPES["full"]
    assert set(quick.tasks) < set(full.tasks)
    assert set(quick.arms) < set(full.arms)
    assert set(quick.week) < set(full.week)
    assert full.tellings == TELLINGS
    assert full.seeds >= 5
