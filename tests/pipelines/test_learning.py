import pandas as pd
import pytest

from fints.sessions import get_calendar, session_ordinals
from fints.settings import load_settings
from pipelines.learning import lesson
from tests.pipelines.conftest import panel

SETTINGS = load_settings(None, ["retrain_every=7", "input_size=20", "h=5"])


@pytest.fixture(scope="module")
def history():
    return panel(A=("XNYS", "2018-01-02", "2018-12-31"), TOKYO=("XTKS", "2018-01-04", "2018-12-28"))


def cut(history, last):
    return history[history["ds"] <= last].reset_index(drop=True)


def test_the_nights_between_two_retrainings_learn_from_the_same_rows(history):
    calendar = get_calendar("XNYS")
    by_age = {}
    for night in calendar.sessions("2018-11-01", "2018-12-31"):
        learnt = lesson(cut(history, night), SETTINGS)
        age = int(session_ordinals(calendar, pd.DatetimeIndex([night]))[0]) % 7
        assert learnt.until <= night
        assert len(calendar.sessions(learnt.until, night)) - 1 <= age
        by_age.setdefault(int(session_ordinals(calendar, pd.DatetimeIndex([night]))[0]) // 7, set()).add(learnt.key)
    assert all(len(keys) == 1 for keys in by_age.values())
    assert len(set().union(*by_age.values())) == len(by_age) > 5


def test_a_restated_or_a_missing_series_is_another_lesson(history):
    key, until = lesson(history, SETTINGS).key, lesson(history, SETTINGS).until
    restated = history.assign(y=history["y"].where(history.index != 3, 0.5))
    assert lesson(restated, SETTINGS).key != key
    assert lesson(history[history["unique_id"] == "A"].reset_index(drop=True), SETTINGS).key != key
    assert lesson(history.assign(cal_x=1.0), SETTINGS).key != key
    assert until < history["ds"].max()
    assert lesson(history.assign(y=history["y"].where(history["ds"] <= until, 9.0)), SETTINGS).key == key


def test_a_series_that_has_only_just_begun_is_learnt_as_it_is():
    young = panel(A=("XNYS", "2018-11-26", "2018-12-31"))
    settings = SETTINGS.model_copy(update={"retrain_every": 100})
    assert lesson(young, settings).until == pd.Timestamp("2018-12-31")


def test_retraining_every_session_takes_every_row(history):
    settings = SETTINGS.model_copy(update={"retrain_every": 1})
    assert lesson(history, settings).panel.equals(history)
