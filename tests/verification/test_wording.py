"""How a night says how good earlier forecasts were, and that an alert stands no more."""

import numpy as np
import pandas as pd
import pytest

from fints.verification import Alert, Scorecard, TargetVerification, Verification, resolved_in_words
from tests.verification.conftest import bars_of, count, forecasts_of
from tests.verification.test_outcomes import judged

NIGHTS = pd.DatetimeIndex(["2018-11-19", "2018-11-20", "2018-11-21"])

KEYS = {
    "coverage: log_volume, 2-5 ahead, 80 % band": "log_volume, 2-5 ahead, 80 % band",
    "error: log_volume, 1 ahead": "log_volume, 1 ahead: the error",
    "bias: log_volume, 1 ahead, above": "so far above the forecasts",
    "absent: ^GSPC": "^GSPC has a forecast again",
    "missed: since 2018-12-24": "after those missed since 2018-12-24",
    "failed: looking back": "looking back is possible again",
    "book: log_volume": "the decisions about the model of log_volume can be read again",
    "fit: log_volume": "log_volume is forecast by the model in use again",
    "promises: unreadable": "no earlier night is left whose promises cannot be read",
}
"""A key of every rule, and what is to be said where it is resolved."""


@pytest.mark.parametrize("key", KEYS)
def test_it_is_said_what_holds_again_and_not_the_key(key):
    said = resolved_in_words(key)
    assert said.startswith("resolved: ")
    assert KEYS[key] in said
    assert key not in said
    assert said.count(": ") <= 2
    assert f"{said[:1].upper()}{said[1:]}." in Verification(pd.Timestamp("2018-12-31"), resolved=(key,)).sentences


def test_every_rule_of_the_alerts_has_its_words():
    rules = Alert.__doc__.split("subject : str")[0]
    assert {key.partition(":")[0] for key in KEYS} == {word for word in rules.split("``") if word.isidentifier()}


def test_an_alert_that_nobody_knows_is_named_as_it_is():
    assert resolved_in_words("strange: thing") == "resolved: the alert strange: thing stands no more"


def looked_back(made):
    """Sum up three nights, made at these instants."""
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    rows = [forecasts_of(["AAA"], night, np.log(1000), made_at=at) for night, at in zip(NIGHTS, made, strict=True)]
    found = pd.concat([judged(bars, own) for own in rows], ignore_index=True)
    return TargetVerification.of(Scorecard("log_volume", found))


IN_TIME = ("2018-11-19T22:00Z", "2018-11-20T22:00Z", "2018-11-21T22:00Z")
CAUGHT_UP = "2018-11-26T22:00Z"
"""Four sessions after the first night, three after the second, two after the third."""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (IN_TIME, "last 3 nights with live forecasts:"),
        ((CAUGHT_UP, *IN_TIME[1:]), "last 3 nights with live forecasts (1 of them was made late; only"),
        ((CAUGHT_UP, CAUGHT_UP, IN_TIME[2]), "last 3 nights with live forecasts (2 of them were made late; only"),
        ((CAUGHT_UP,) * 3, "last 3 nights with live forecasts (all were made late; only"),
    ],
)
def test_a_night_made_when_the_session_after_it_was_over_is_not_counted_as_one_in_time(made, said):
    """The alert for missed sessions names it; its later bars are forecast live all the same."""
    found = looked_back(made)
    assert f"log_volume, {said}" in found.sentences[1]
    assert found.table["n_late"].max() == sum(at == CAUGHT_UP for at in made)


def test_a_cancelled_session_makes_no_night_one_in_time():
    """The session of 2018-12-05 was cancelled: the first after the night of the 4th is that of the 6th."""
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    for made, late in (("2018-12-05T22:00Z", 0), ("2018-12-06T22:00Z", 1)):
        rows = forecasts_of(["AAA"], "2018-12-04", np.log(1000), made_at=made)
        rows["ds"] = rows["ds"].shift(fill_value=pd.Timestamp("2018-12-05"))
        assert len(Scorecard("log_volume", judged(bars, rows)).late) == late
