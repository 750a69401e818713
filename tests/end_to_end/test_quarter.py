"""A quarter of nights on five exchanges, from a server that speaks as Yahoo does; run by ``make soak``.

Nothing of a night is replaced but its clock and the address of the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pytest
import yaml

from fints.bars.store import BarStore
from fints.sessions import get_calendar
from tests.bars.sources.wired import wired
from tests.end_to_end.conftest import BRIEF
from tests.end_to_end.listings import Listing, Vendor

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]

H: Final = 5
INPUT: Final = 40
SETTLE: Final = pd.Timedelta(minutes=15)
DAY: Final = pd.Timedelta(days=1)

SYMBOLS: Final = (
    Listing("AAA", "XNYS"),
    Listing("BBB", "XNYS"),
    Listing("SPLT", "XNYS", split=("2025-11-10", 4.0), dividend=("2025-10-13", 0.9)),
    Listing("DIVD", "XNYS", dividend=("2025-10-20", 0.8)),
    Listing("OLDN", "XNYS", until="2025-11-14", gone="2025-11-17"),
    Listing("GONE", "XNYS", until="2025-11-21", gone="2025-11-26"),
    Listing("GLTC", "XNYS", glitch="2025-10-29"),
    Listing("PREL", "XNYS", preliminary=True),
    Listing("VOD.L", "XLON"),
    Listing("LATE.L", "XLON", late=("2025-10-22", "2025-10-24")),
    Listing("DIVD.L", "XLON", dividend=("2025-12-04", 2.5)),
    Listing("ULVR.L", "XLON"),
    Listing("7203.T", "XTKS"),
    Listing("6758.T", "XTKS", split=("2025-10-01", 5.0)),
    Listing("9984.T", "XTKS"),
    Listing("8306.T", "XTKS", preliminary=True),
    Listing("0700.HK", "XHKG"),
    Listing("0005.HK", "XHKG", dividend=("2025-11-06", 0.4)),
    Listing("9988.HK", "XHKG"),
    Listing("BTC-USD", "24/7"),
)
RENAMED: Final = Listing("NEWN", "XNYS", bars_of="OLDN", known_from="2025-11-17")

FAULTS: Final = {
    "2025-10-14": {"7203.T": "server error"},
    "2025-10-30": {"*": "server error"},
    "2025-11-12": {"0700.HK": "rate limit"},
    "2025-12-03": {"AAA": "half an answer"},
    "2025-12-10": {"BTC-USD": "null"},
    "2025-12-17": {listing.symbol: "bad gateway" for listing in SYMBOLS if listing.mic == "XTKS"},
}
"""What the server answers on a night instead, by symbol."""

OFF: Final = {"2025-11-05", "2025-11-06"}
"""Nights on which the machine was off."""

NOTICED: Final = pd.Timestamp("2025-11-19")
"""From this night the settings name the renamed symbol, and its former name as an alias."""

_WEEKEND: Final = 5  # Saturday, counted from Monday
NIGHTS: Final = [
    day for day in pd.date_range("2025-10-06", "2025-12-31", freq="D", unit="ns") if day.day_of_week < _WEEKEND
]


def instant(day: pd.Timestamp) -> pd.Timestamp:
    """When the scheduler starts the night of a day: after New York's close, summer and winter."""
    return day.tz_localize("UTC") + pd.Timedelta(hours=22, minutes=30)


def configured(folder: Path, day: pd.Timestamp) -> Path:
    """Write the settings that the operator has on a day."""
    renamed = day >= NOTICED
    symbols = [listing.symbol for listing in SYMBOLS if not (renamed and listing.symbol == "OLDN")]
    settings = {
        "dataset": "quarter",
        "source": {"kind": "yahoo", "workers": 2, "attempts": 2, "wait": 0, "budget": 1, "cache": str(folder / "yf")},
        "symbols": [*symbols, *(["NEWN"] if renamed else [])],
        "aliases": {"OLDN": "NEWN"} if renamed else {},
        "targets": ["log_volume"],
        "h": H,
        "periods": {"detect": False, "priors": [5]},
        "holdout": {"n_windows": 2},
        "tracking": {"enabled": False},
        "alerts": {
            name: {"enabled": False} for name in ("coverage", "error", "bias", "absent", "missed")
        },  # forecasts of four steps of training keep no promise
    }
    file = folder / "quarter.yaml"
    file.write_text(yaml.safe_dump(settings))
    return file


def expected(day: pd.Timestamp) -> int:
    """Return the documented exit code of a night.

    1 where nothing at all has come; 3 where a symbol is not delivered: a fault, or a name that is gone and not yet
    taken out.
    """
    faults = FAULTS.get(f"{day:%Y-%m-%d}", {})
    if faults:
        return 1 if "*" in faults else 3
    renamed = pd.Timestamp("2025-11-17") <= day < NOTICED
    # it is asked for on five nights before it counts as inactive
    gone = day in [night for night in NIGHTS if night >= pd.Timestamp("2025-11-26")][:5]
    return 3 if renamed or gone else 0


@pytest.fixture(scope="module")
def quarter(tmp_path_factory):
    """Run the quarter once; return the home, what each night said by day, and the vendor at its end."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield run(tmp_path_factory.mktemp("quarter"), monkeypatch)


def run(folder, monkeypatch):
    import json
    import sys

    from pipelines import clock
    from pipelines.cli import main

    home = folder / "home"
    monkeypatch.setenv("FINTS_HOME", str(home))
    vendor = Vendor((*SYMBOLS, RENAMED), instant(NIGHTS[0]))
    monkeypatch.setattr(clock, "now", lambda: vendor.now)
    told = {}
    brief = [f"--set={s}" for s in BRIEF]

    def night(*arguments):
        file = folder / "night.json"
        file.unlink(missing_ok=True)
        monkeypatch.setattr(sys, "argv", ["fints", "nightly", *brief, *arguments, "--json", str(file)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code or 0, json.loads(file.read_text()) if file.exists() else {}

    with wired(monkeypatch) as server:
        server.answers.update(vendor.answers())
        for day in NIGHTS:
            if f"{day:%Y-%m-%d}" in OFF:
                continue
            vendor.now, vendor.faults = instant(day), FAULTS.get(f"{day:%Y-%m-%d}", {})
            told[day] = night("--config", str(configured(folder, day)))
        replays = {
            at: night("--config", str(configured(folder, day)), "--as-of", at, "--known-at", known)
            for day, at, known in _some_nights(told)
        }
    return home, told, vendor, replays


def _some_nights(told):
    """Return day, as-of and instant of some nights: one early, one caught up, one before and one after the split."""
    chosen = map(pd.Timestamp, ["2025-10-07", "2025-10-27", "2025-11-07", "2025-11-12", "2025-12-30"])
    nights = {day: told[day][1]["nights"] for day in chosen}
    return [(day, own[0]["night"], own[0]["made_at"]) for day, own in nights.items()]


def test_every_night_ends_with_the_documented_exit_code(quarter):
    _, told, _, _ = quarter
    assert len(told) == len(NIGHTS) - len(OFF) == 61
    assert {day: code for day, (code, _) in told.items() if code != expected(day)} == {}


def test_nights_on_which_the_machine_was_off_and_weekends_are_caught_up(quarter):
    _, told, _, _ = quarter
    made_up = {
        pd.Timestamp(night["stamp"]).normalize()
        for _, said in told.values()
        for night in said.get("nights", [])
        if night["state"] == "done"
    }
    assert made_up >= {pd.Timestamp(day) for day in OFF}
    saturdays = set(pd.date_range(NIGHTS[0], NIGHTS[-1], freq="W-SAT", unit="ns"))
    assert made_up >= saturdays


def test_of_the_earlier_nights_those_end_with_3_that_lack_a_symbol_which_was_not_delivered(quarter):
    """The weekend before GONE counts as inactive; that of OLDN's end had its bars, and late bars fill the others."""
    _, told, _, _ = quarter
    assert lacking({day: said.get("nights", []) for day, (_, said) in told.items()}) == {
        ("2025-12-01", "2025-11-30T00:15:00+00:00"): (3, ["GONE"]),
        ("2025-12-01", "2025-12-01T00:15:00+00:00"): (3, ["GONE"]),
    }


def lacking(nights):
    """Return code and undelivered symbols of the earlier nights of each day that do not end with 0."""
    return {
        (f"{day:%Y-%m-%d}", night["night"]): (night["exit_code"], sorted(night["failed"]))
        for day, made in nights.items()
        for night in made[:-1]
        if night["exit_code"] or night["failed"]
    }


def test_the_store_ends_at_what_is_true(quarter):
    home, *_ = quarter
    store = BarStore(home / "store")
    assert store.verify() == []
    for listing in (*SYMBOLS, RENAMED):
        at, calendar = _asked_last(listing), get_calendar(listing.mic)
        true = listing.told(at)
        closes = calendar.schedule(true["session"].iloc[0], true["session"].iloc[-1])["close"]
        true = true[(pd.DatetimeIndex(closes) + SETTLE <= at).tolist()].reset_index(drop=True)
        held = store.read(listing.symbol)
        assert held["session"].tolist() == true["session"].tolist(), listing.symbol
        columns = ["open", "high", "low", "close", "volume"]
        pd.testing.assert_frame_equal(
            held[[*columns, "adj_close"]],
            true.rename(columns={"adjclose": "adj_close"})[[*columns, "adj_close"]],
            check_dtype=False,
            check_exact=True,
            obj=listing.symbol,
        )


def _asked_last(listing):
    """Return when a symbol was asked for last: while it was known, and on a night with a session of it that was new."""
    nights = [instant(day) for day in NIGHTS if listing.known(instant(day))]
    calendar = get_calendar(listing.mic)
    last = [calendar.last_closed_session(night, SETTLE) for night in nights]
    return nights[last.index(last[-1])]


def test_every_symbol_with_bars_has_a_forecast_in_every_night_and_none_on_a_closure(quarter):
    home, told, _, _ = quarter
    store = BarStore(home / "store")
    rows = store.read_forecasts()
    by_symbol = {listing.symbol: listing for listing in (*SYMBOLS, RENAMED)}
    nights = [night for _, said in told.values() for night in said.get("nights", []) if night["state"] == "done"]
    assert len(nights) > len(told)
    assert pd.Timestamp("2025-10-30") in {pd.Timestamp(night["stamp"]) for night in nights}  # made once bars came
    for night in nights:
        made = rows[rows["as_of"] == pd.Timestamp(night["stamp"])]
        known_at = pd.Timestamp(night["known_at"])
        assert set(made["unique_id"]) == _due(by_symbol, night), night["night"]
        for symbol, ahead in made.groupby("unique_id"):
            # one after the other from the first on, which lies in the past for a symbol that is not delivered any more
            calendar = get_calendar(by_symbol[symbol].mic).as_known(known_at)
            assert list(ahead["ds"]) == list(calendar.next_sessions(ahead["ds"].min() - DAY, H)), (
                night["night"],
                symbol,
            )


def _due(by_symbol, night):
    """Return the symbols whose forecasts of a night do not lie wholly in the past."""
    at, made_at = pd.Timestamp(night["night"]), pd.Timestamp(night["made_at"])
    renamed = made_at.tz_localize(None).normalize() >= NOTICED
    due = {listing.symbol for listing in SYMBOLS if listing.until is None}
    due |= {"NEWN"} if renamed else {"OLDN"}
    calendar = get_calendar("XNYS")
    for symbol in ("GONE", *(["OLDN"] if not renamed else [])):
        until = pd.Timestamp(by_symbol[symbol].until)
        last = max(calendar.last_closed_session(at, SETTLE), until)
        over = len(calendar.sessions(until, last)) - 1
        due = due | {symbol} if over < H else due - {symbol}
    return due


def test_past_nights_replay_bit_for_bit(quarter):
    *_, replays = quarter
    assert len(replays) == 5
    assert {at: said for at, (code, said) in replays.items() if code != 0} == {}
