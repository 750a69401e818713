from pathlib import Path

import pytest
import yaml

from fints.errors import ConfigError
from fints.settings import TuneSettings, read_settings
from fints.settings.tune import BRIEF, FULL_TRIALS

CONFIG = Path(__file__).parents[2] / "configs" / "tune.yaml"
SECRET = "s3cret"


def read(*overrides):
    return read_settings(TuneSettings, None, overrides)


def test_the_commented_defaults_are_the_defaults():
    stated = read_settings(TuneSettings, CONFIG)
    assert stated.model_copy(update={"symbols": None}) == TuneSettings()
    plain = yaml.safe_load(CONFIG.read_text("utf-8"))
    assert set(plain) == set(TuneSettings.model_fields)
    for section in ("space", "folds", "objective", "storage", "periods"):
        assert set(plain[section]) == set(type(getattr(stated, section)).model_fields), section


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("targets=[log_volume, log_range]", "one is tuned at a time, not log_volume, log_range"),
        ("h=10", "trained_h: 20 bars, and only 10 are forecast; raise h or lower it"),
        ("trials=0", "trials: Input should be greater than or equal to 1"),
        ("timeout=0", "timeout: Input should be greater than 0"),
        ("timeout=.inf", "timeout: Input should be a finite number"),
        ("name=../elsewhere", "name: String should match pattern"),
        ("sampler=cmaes", "sampler: Input should be 'auto', 'gp', 'tpe' or 'random'"),
        ("folds.n_fold=3", "unknown key 'folds.n_fold', did you mean 'n_folds'"),
        ("space.cycle=[5 sessions]", "unknown key 'space.cycle', did you mean 'cycles'"),
        ("space.guard=0.5", "space.guard: Input should be less than or equal to 0.35"),
        ("space.training={max_step: [1]}", "max_step"),
        ("objective.score=mae", "objective.score: Input should be 'rmse' or 'crps'"),
        ("storage={heartbeat: 60, grace: 60}", "storage.grace: 60 s are over before the next sign of life"),
        ("periods.cycles=[1]", "is shorter than the 2 that daily bars resolve"),
        ("workers=true", "workers: a number is wanted, not true"),
    ],
)
def test_what_does_not_fit_is_named(override, said):
    with pytest.raises(ConfigError) as error:
        read(override)
    assert said in str(error.value)


@pytest.mark.parametrize("word", ["on", "'on'", "true", "off", "false", "search"])
def test_learning_is_switched_with_the_words_that_yaml_reads_as_truth(word):
    expected = {"true": "on", "false": "off"}.get(word, word.strip("'"))
    assert read(f"space.learn={word}").space.learn == expected


@pytest.mark.parametrize(
    ("override", "decides"),
    [
        ("space.guard=0.2", True),
        ("folds.n_folds=3", True),
        ("sampler=tpe", True),
        ("objective.score=crps", True),
        ("encoding=clock", True),
        ("trials=7", False),
        ("timeout=7", False),
        ("workers=3", False),
        ("name=mine", False),
        ("storage=postgresql://host/trials", False),
        ("warm_start=last-week", False),
        ("tracking.enabled=false", False),
    ],
)
def test_a_study_may_go_on_with_more_trials_elsewhere_and_not_with_another_space(override, decides):
    assert (read(override).digest != TuneSettings().digest) == decides


@pytest.mark.parametrize(
    "url", [f"postgresql://me:{SECRET}@host:5432/trials", f"postgresql://host/trials?user=me&password={SECRET}"]
)
def test_settings_that_are_shown_have_no_password(url, tmp_path):
    settings = read(f"storage={url}")
    assert f"me:{SECRET}@host" in settings.storage.place(tmp_path, "study")
    assert SECRET not in str(settings.model_dump()) + settings.model_dump_json()
    assert settings.model_dump()["storage"]["url"].startswith("postgresql://")
    assert "host" in settings.model_dump()["storage"]["url"]


@pytest.mark.parametrize("rest", ["grace: 1", "graze: 1", "heartbeat: none"])
def test_what_does_not_fit_is_named_without_the_password_beside_it(rest):
    with pytest.raises(ConfigError) as error:
        read(f"storage={{url: 'postgresql://me:{SECRET}@host/trials', {rest}}}")
    assert "storage" in str(error.value)
    assert SECRET not in str(error.value)


def test_trials_are_kept_in_a_journal_unless_said_otherwise(tmp_path):
    assert read().storage.place(tmp_path, "study") == tmp_path / "study.journal"
    assert read("storage=/data/mine.journal").storage.place(tmp_path, "study") == Path("/data/mine.journal")


def test_a_quick_budget_takes_minutes_and_a_full_one_as_long_as_it_takes():
    settings = read("trials=50", "folds.n_folds=8", "training.max_steps=1000", "training.members=3")
    quick = settings.within("quick")
    assert (quick.trials, quick.timeout) == (20, 600)
    assert (quick.folds.n_folds, quick.folds.confirm_folds, quick.folds.block) == (3, 2, 8)
    assert (quick.training.max_steps, quick.training.members) == (100, 1)
    assert read("trials=5", "timeout=60").within("quick").trials == 5
    assert read("timeout=60").within("quick").timeout == 60
    full = read("timeout=60").within("full")
    assert (full.trials, full.timeout) == (FULL_TRIALS, None)
    assert read("trials=500").within("full").trials == 500
    assert read(*BRIEF).within("quick") == read(*BRIEF)
