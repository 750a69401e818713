from fints.studies import Findings
from fints.studies.valley import Valley
from fints.studies.valley.arms import ARMS, TUNED


def test_the_study_runs_reports_and_does_nothing_twice(brief, bench, recorder, monkeypatch):
    study = Valley(brief, {"quick": 1, "full": 5})
    found = study.run(bench)
    assert isinstance(found, Findings)
    assert len(found.verdicts) == 6
    assert not found.passed  # three steps of training find no period
    assert set(recorder.children) == set(ARMS)
    assert f"{TUNED}.extrapolation_rmse" in recorder.curves
    lines = (bench.folder / "arms.jsonl").read_text().splitlines()
    assert len(lines) == len(ARMS)
    assert study.run(bench).verdicts == found.verdicts
    assert (bench.folder / "arms.jsonl").read_text().splitlines() == lines
