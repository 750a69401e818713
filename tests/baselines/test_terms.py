from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.baselines.history import History
from fints.baselines.terms import CalendarTerms
from fints.errors import ConfigError, SchemaError


def history(panel: pd.DataFrame, name: str) -> History:
    return History.of(panel[panel["unique_id"] == name].reset_index(drop=True))


def test_terms_are_centred_on_the_training_rows(daily: pd.DataFrame) -> None:
    known = history(daily, "A")
    terms = CalendarTerms.of(known, calendar=True)
    x = terms.matrix(known.covariates, known.ds)
    assert x.shape == (len(known.y), 2)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(x[:, 0] - x[0, 0], known.covariates["cal_monday"] - known.covariates["cal_monday"][0])


def test_each_time_of_day_has_a_term_and_one_never_seen_counts_as_average(hourly: pd.DataFrame) -> None:
    known = history(hourly, "H")
    terms = CalendarTerms.of(known, calendar=False)
    assert len(terms.times) == 7
    bars = pd.DatetimeIndex(["2019-01-02 09:30", "2019-01-02 03:00"])
    open_, odd = terms.matrix(pd.DataFrame(index=range(2)), bars)
    assert (open_ + terms.centre).tolist() == [1.0, 0, 0, 0, 0, 0, 0]
    assert odd.tolist() == [0.0] * 7


def test_calendar_terms_that_are_not_there_are_refused(daily: pd.DataFrame) -> None:
    bare = daily[["unique_id", "ds", "y", "exchange", "interval"]]
    with pytest.raises(ConfigError, match=r"A: .*needs known-future covariates"):
        CalendarTerms.of(history(bare, "A"), calendar=True)
    known = history(daily, "A")
    with pytest.raises(SchemaError, match="cal_friday"):
        CalendarTerms.of(known, calendar=True).matrix(known.covariates[["cal_monday"]], known.ds)
