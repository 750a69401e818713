import pytest

from fints.studies.ledger import settings_key
from fints.studies.valley.arms import ARMS, GRADIENT, KNOWN, RANDOM, STANDS, TUNED, ValleyUnit, descended
from fints.studies.valley.protocol import PERIOD, PRIOR, TASK


def test_every_arm_and_seed_is_a_piece_of_work_of_its_own_wherever_it_lies(brief):
    keys = {settings_key(ValleyUnit(arm, seed, brief, "here").settings()) for arm in ARMS for seed in (0, 1)}
    assert len(keys) == 2 * len(ARMS)
    assert settings_key(ValleyUnit(KNOWN, 0, brief, "there").settings()) in keys


def test_kept_periods_are_kept_and_learned_ones_move(brief, tmp_path):
    known, stands, learned = (ValleyUnit(arm, 0, brief, str(tmp_path)).run() for arm in (KNOWN, STANDS, GRADIENT))
    assert (known["period"], stands["period"]) == (PERIOD, PRIOR)
    assert learned["period"] not in (PERIOD, PRIOR)
    for result in (known, stands, learned):
        assert len(result["signal"]) == len(result["observed"]) == brief.folds.h


def test_errors_are_those_of_the_forecast_against_signal_and_observation(brief, tmp_path, monkeypatch):
    from fints.studies.valley import arms

    works = arms.run_fold

    def perfect(*args):
        run = works(*args)
        run.rows["mean"] = run.rows["y"]
        return run

    monkeypatch.setattr(arms, "run_fold", perfect)
    result = ValleyUnit(KNOWN, 0, brief, str(tmp_path)).run()
    assert result["observed"] == [0.0] * brief.folds.h
    assert sum(result["signal"]) / brief.folds.h == pytest.approx(0.5, rel=0.5)  # the noise


@pytest.mark.parametrize("arm", [TUNED, RANDOM])
def test_a_search_tells_its_trials_and_goes_on_where_it_was_killed(brief, tmp_path, arm):
    unit = ValleyUnit(arm, 0, brief, str(tmp_path))
    first = unit.run()
    assert [each[0] for each in first["trials"]] == [0, 1, 2, 3]
    best = min(first["trials"], key=lambda each: each[4])
    if arm == RANDOM:
        assert first["period"] == pytest.approx(best[3])
        assert all(start == end for _, _, start, end, _ in first["trials"])
    else:
        assert set(first) >= {"gain", "accepted"}
    assert unit.run() == first
    assert len(list(tmp_path.glob("*.journal"))) == 1


def test_plain_descent_finds_the_bottom_of_the_valley_that_it_starts_in_and_of_no_other():
    y = TASK.clean(2000)
    assert descended(y, PERIOD * 1.005) == pytest.approx(PERIOD, rel=1e-5)
    assert descended(y, PERIOD * 0.995) == pytest.approx(PERIOD, rel=1e-5)
    assert abs(descended(y, PRIOR) / PERIOD - 1) > 0.01


def test_the_shorter_the_series_the_wider_the_valley():
    assert descended(TASK.clean(500), PRIOR) == pytest.approx(PERIOD, rel=1e-4)
