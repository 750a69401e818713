from types import SimpleNamespace

import pandas as pd
import pytest

from fints.champion import Seat
from fints.errors import ConfigError
from fints.settings import load_settings
from pipelines.home import Home
from pipelines.model_book import ModelBook

NIGHT = pd.Timestamp("2018-11-20 06:00")  # Tokyo's close, in UTC


@pytest.fixture
def promote(tmp_path, monkeypatch):
    """Return a function that promotes a fit of some interval which has learned up to a stamp."""

    def run(interval, until):
        book = ModelBook(load_settings(None, [f"interval={interval}"]), Home(tmp_path), "log_volume")
        version = f"{book.line}/fit"
        monkeypatch.setattr(ModelBook, "rows", lambda _: [SimpleNamespace(version=version)])
        monkeypatch.setattr(ModelBook, "_last_night", lambda _: NIGHT)
        monkeypatch.setattr("pipelines.model_book.seat_of", lambda *_: Seat("Combination", version, until))
        monkeypatch.setattr(ModelBook, "standing", lambda _: None)
        return book.promote("fit", "a try")

    return run


def test_a_fit_of_the_last_bar_where_clocks_are_ahead_of_utc_may_be_promoted(promote):
    assert promote("1h", "2018-11-20T14:00:00").seat.until == "2018-11-20T14:00:00"


@pytest.mark.parametrize(("interval", "until"), [("1h", "2018-11-21T09:00:00"), ("1d", "2018-11-21T00:00:00")])
def test_a_fit_that_knows_a_later_session_may_not(promote, interval, until):
    with pytest.raises(ConfigError, match="has learned from bars up to 2018-11-21, after the last night"):
        promote(interval, until)
