"""From settings to a search, and from what it found to settings of a night."""

import io
import logging
from dataclasses import replace

import pandas as pd
import pytest
import yaml
from rich.console import Console

from fints.errors import SeriesError
from fints.settings import NightlySettings, TuneSettings, load_settings, read_settings
from fints.tuning import StudyStore
from pipelines.asof import AsOf
from pipelines.fitted import PanelFacts
from pipelines.home import Home
from pipelines.progress import Stage
from pipelines.tune import Tuning
from pipelines.tune_prepared import searchable, study_name, study_store
from pipelines.tune_report import best_settings, best_yaml, plain_tuning
from pipelines.tune_runs import allowed, curves_of, params_of
from pipelines.tune_watch import Shown, told_by
from tests.pipelines.conftest import panel
from tests.report.test_tuning import HOSTILE, result

AS_OF = AsOf(pd.Timestamp("2018-12-31"), pd.Timestamp("2018-12-31"))
FACTS = PanelFacts(100, 2, "abc")


def settings(*overrides):
    return read_settings(TuneSettings, None, overrides)


def done(tmp_path, *overrides, accepted=True):
    store = StudyStore("mine", tmp_path / "mine.journal")
    return Tuning(settings(*overrides), AS_OF, 3, FACTS, result(accepted=accepted), store)


def test_confirmed_cycles_become_the_plan_of_a_night(tmp_path):
    found = done(tmp_path, 'symbols=["^GSPC"]', "encoding=clock", "network.dim=32", "trained_h=10", "random_seed=5")
    path = tmp_path / "best.yaml"
    path.write_text(best_yaml(found), encoding="utf-8")
    night = load_settings(path)
    assert night.periods.stated_plan() == found.result.tuned.plan
    assert {cycle.origin for cycle in night.periods.stated_plan()} == {"tuned"}
    assert (night.h, night.network.dim, night.random_seed, night.symbols) == (10, 32, 5, ("^GSPC",))
    assert night.targets == ("log_volume",)
    head = path.read_text("utf-8").splitlines()[0]
    assert head == f"# {found.result.confirmation.sentence}"


def test_without_a_gain_the_plan_is_found_each_night_as_before(tmp_path):
    night = best_settings(done(tmp_path, "periods.alpha=0.01", accepted=False))
    assert night.periods.detect
    assert night.periods.cycles is None
    assert night.periods.alpha == 0.01


def test_settings_that_were_searched_are_in_the_outcome(tmp_path):
    found = done(tmp_path, "training.max_steps=60")
    better = replace(found.result.tuned, training={"learning_rate": 0.003}, network={"dropout": 0.2})
    night = best_settings(replace(found, result=replace(found.result, chosen=better)))
    assert (night.training.learning_rate, night.training.max_steps, night.network.dropout) == (0.003, 60, 0.2)


def test_the_settings_say_only_what_was_said(tmp_path):
    plain = yaml.safe_load(best_yaml(done(tmp_path, accepted=False)))
    assert set(plain) == {
        "dataset",
        "targets",
        "h",
        "input_size",
        "periods",
        "encoding",
        "network",
        "training",
        "random_seed",
    }
    assert NightlySettings.model_validate(plain) == best_settings(done(tmp_path, accepted=False))


def test_the_password_is_in_nothing_that_is_kept(tmp_path):
    found = done(tmp_path, "storage=postgresql://me:s3cret@host/trials")
    store = StudyStore("mine", found.settings.storage.place(tmp_path, "mine"))
    found = replace(found, store=store)
    assert "s3cret" not in f"{plain_tuning(found)} {best_yaml(found)}"
    assert plain_tuning(found)["storage"] == "postgresql+psycopg://me:***@host/trials"


def test_another_search_has_another_name_and_the_same_one_goes_on():
    name = study_name(settings("trials=3"), AS_OF, FACTS)
    assert name == study_name(settings("trials=9", "workers=2"), AS_OF, FACTS)
    assert name.startswith("sample-log_volume-2018-12-31-")
    others = [
        study_name(settings("space.guard=0.1"), AS_OF, FACTS),
        study_name(settings(), AS_OF, replace(FACTS, digest="def")),
        study_name(settings("targets=log_range"), AS_OF, FACTS),
    ]
    assert len({name, *others}) == 4


SHORT = (
    "h=5",
    "trained_h=5",
    "input_size=40",
    "folds={n_folds: 2, block: 2, step_size: 5, confirm_folds: 2, confirm_windows: 4, test_windows: 3}",
)


def test_a_series_that_begins_after_the_first_fold_is_left_out_by_name():
    whole = panel(old=("XNYS", "2016-01-04", "2018-12-31"), new=("XNYS", "2018-10-01", "2018-12-31"))
    kept, folds, problems = searchable(whole, settings(*SHORT))
    assert set(kept["unique_id"]) == {"old"}
    (problem,) = problems
    assert problem.unique_id == "new"
    assert "first fold" in problem.reason
    assert folds.stages(kept).first["ds"].max() < kept["ds"].max()


def test_where_no_series_is_long_enough_all_are_named():
    whole = panel(a=("XNYS", "2018-12-01", "2018-12-31"), bb=("XNYS", "2018-11-01", "2018-12-31"))
    with pytest.raises(SeriesError, match="a: too short") as error:
        searchable(whole, settings(*SHORT))
    assert "bb: " in str(error.value)


def test_the_time_left_is_that_of_the_trials_and_never_more_than_is_allowed(monkeypatch):
    clock, lines = [0.0], io.StringIO()
    monkeypatch.setattr("pipelines.tune_watch.monotonic", lambda: clock[0])
    monkeypatch.setattr("pipelines.progress.monotonic", lambda: clock[0])
    shown = Shown(Stage(None, None, Console(file=lines, width=200), "search", 0.0), timeout=1000.0, began=0.0)
    shown.progress(4, 20, None)  # of an earlier run
    clock[0] = 60.0
    shown.progress(6, 20, 0.5)
    assert "search: 6 of 20, lowest error 0.5, about 7 min left" in lines.getvalue()
    clock[0] = 990.0
    shown.progress(10, 20, 0.4)
    assert "10 of 20, lowest error 0.4, about 10 s left" in lines.getvalue()


def test_warnings_of_the_library_are_collected_and_its_chatter_is_not():
    log = logging.getLogger("fints.tuning.journal")
    with told_by("fints.tuning") as told:
        log.warning("%s was moved", "it")
        log.info("something else")
    log.warning("later")
    assert told == ["it was moved"]


def test_names_are_such_as_mlflow_takes():
    one = result().summaries[3]
    names = [*params_of(one), *curves_of(one)]
    assert all(
        set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. :/") for name in names
    )
    assert {"delta.20 sessions", "theta/20 sessions", "period_end/7 days", "headline/error"} <= set(names)
    assert len(set(names)) == len(names)
    assert "<" not in allowed(HOSTILE)


def test_a_failed_trial_has_no_figures():
    failed = next(one for one in result().summaries if one.state == "failed")
    assert set(curves_of(failed)) == {"headline/folds"}


def test_studies_lie_under_the_home(tmp_path):
    store = study_store(settings(), Home(tmp_path), "mine")
    assert store.location == str(tmp_path / "tuning" / "mine.journal")
    assert (store.heartbeat, store.grace) == (60, 180)
