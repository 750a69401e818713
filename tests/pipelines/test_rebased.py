"""Which basis the forecasts that a night left are shown on, and what is said where nobody knows."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fints.forecast import QUANTILE_COLUMNS
from fints.series import make_panel
from fints.settings import load_settings
from pipelines.home import Home
from pipelines.publish import Night
from pipelines.rebased import Rebased, rebased
from pipelines.verification_book import PromiseBook
from tests.verification.conftest import bars_of, count, forecasts_of, promise_of

AS_OF = "2018-11-20"
PRICES = ["open", "high", "low", "close", "adj_close"]
SETTINGS = load_settings(None, ["dataset=made"])


def bars(*names):
    rng = np.random.default_rng(1)
    return bars_of({name: np.exp(rng.normal(15, 0.2, count())) for name in names})


def divided(rows, name, ratio=4):
    """Restate one symbol for new shares."""
    own = rows["symbol"] == name
    prices = {column: rows[column].where(~own, rows[column] / ratio) for column in PRICES}
    return rows.assign(volume=rows["volume"].where(~own, rows["volume"] * ratio), **prices)


def in_pence(rows, name):
    own = rows["symbol"] == name
    return rows.assign(**{column: rows[column].where(~own, rows[column] * 100) for column in PRICES})


def known(rows, target):
    return make_panel(rows[rows["session"] <= AS_OF], target, features=False, companions=False)


def left_of(then, now, target):
    """Return a night that left forecasts made from bars as they were, beside those of now; and its promise."""
    kept = forecasts_of(sorted(set(then["symbol"])), AS_OF, 7.0, target=target)
    own = SimpleNamespace(target=target, panel=known(now, target))
    as_of = SimpleNamespace(stamp=pd.Timestamp(AS_OF))
    night = SimpleNamespace(targets=[own], left=kept, as_of=as_of, data_version=2)
    return night, promise_of(kept, known(then, target))


@pytest.mark.parametrize(
    ("target", "restate", "times"),
    [
        ("log_volume", divided, 4),
        ("log_close", divided, 1 / 4),
        ("log_dollar_volume", divided, 1),
        ("log_range", divided, 1),
        ("log_return", divided, 1),
        ("log_volume", in_pence, 1),
        ("log_close", in_pence, 100),
        ("log_dollar_volume", in_pence, 100),
    ],
)
def test_forecasts_are_shown_on_the_basis_of_the_bars_now(target, restate, times):
    then = bars("AAA", "BBB")
    night, promise = left_of(then, restate(then, "AAA"), target)
    found = Rebased.of(night, [promise])
    shown = found.shown(target, night.left).set_index("unique_id")
    levels = ["mean", *QUANTILE_COLUMNS]
    before = night.left.set_index("unique_id")[levels]
    assert (shown[levels] - before).loc["AAA"].to_numpy() == pytest.approx(np.log(times), abs=1e-3)
    pd.testing.assert_frame_equal(shown.loc[["BBB"], levels], before.loc[["BBB"]])
    assert (set(found.moved.get(target, {})), bool(found.sentences())) == (
        ({"AAA"}, True) if times != 1 else (set(), False)
    )


def test_where_no_promise_is_on_record_the_page_says_that_the_basis_is_unknown():
    then = bars("AAA")
    night, _ = left_of(then, divided(then, "AAA"), "log_volume")
    found = Rebased.of(night, [])
    pd.testing.assert_frame_equal(found.shown("log_volume", night.left), night.left)
    (said,) = found.sentences()
    assert said.startswith("On which shares the kept forecasts of AAA were made is not on record")
    assert "not on record" in found.of_series("log_volume")["AAA"]
    assert found.to_json() == {"log_volume": {"AAA": None}}
    night.data_version = 1  # the bars that they were made from
    assert Rebased.of(night, []) == Rebased()


def test_targets_that_no_basis_moves_need_no_promise():
    then = bars("AAA")
    night, _ = left_of(then, divided(then, "AAA"), "log_range")
    assert Rebased.of(night, []) == Rebased()


def test_a_correction_of_one_bar_moves_no_forecast():
    then = bars("AAA")
    corrected = then.assign(volume=then["volume"].where(then["session"] != pd.Timestamp(AS_OF), 7))
    night, promise = left_of(then, corrected, "log_volume")
    assert Rebased.of(night, [promise]) == Rebased()


def test_a_series_without_history_is_not_shown_and_is_named():
    then = bars("AAA", "BBB")
    night, promise = left_of(then, then[then["symbol"] == "BBB"], "log_volume")
    other, _ = left_of(then, then, "log_range")
    night.targets, night.left = [*night.targets, *other.targets], pd.concat([night.left, other.left])
    found = Rebased.of(night, [promise])
    assert set(found.shown("log_range", other.left)["unique_id"]) == {"AAA", "BBB"}
    assert set(found.shown("log_volume", night.left)["unique_id"]) == {"BBB"}
    assert found.sentences()[0].startswith("Of AAA no history is at hand now")


def test_promises_that_cannot_be_read_leave_the_basis_unknown_and_the_night_whole(tmp_path):
    then = bars("AAA")
    made, promise = left_of(then, divided(then, "AAA"), "log_volume")
    empty = pd.DataFrame()
    night = Night(SETTINGS, made.as_of, tuple(made.targets), 2, empty, empty, promise.made_at, left=made.left)
    book = PromiseBook.under(Home(tmp_path), SETTINGS)
    book.keep(pd.Timestamp(AS_OF), [promise])
    assert rebased(night, Home(tmp_path)).rebased.moved["log_volume"]["AAA"] == pytest.approx(np.log(4), abs=1e-3)
    (file,) = book.folder.iterdir()
    file.write_text("{")
    assert np.isnan(rebased(night, Home(tmp_path)).rebased.moved["log_volume"]["AAA"])
    whole = replace(night, left=None)
    assert rebased(whole, Home(tmp_path)) is whole
