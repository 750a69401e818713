"""When nights are; every instant below was worked out by hand from the hours of the exchanges."""

from itertools import pairwise

import pandas as pd
import pytest

from pipelines.night_calendar import NightCalendar

SETTLE = pd.Timedelta("15min")
WORLD = ("XNYS", "XLON", "XTKS", "XHKG")


def utc(text):
    return pd.Timestamp(text, tz="UTC")


def nights(exchanges, last, tonight, settle=SETTLE):
    """Return date and end of the nights from one to another, both left out."""
    found = NightCalendar.of(exchanges, "1d", settle).between(utc(last), utc(tonight))
    return [(f"{slot.date:%Y-%m-%d}", f"{slot.until:%Y-%m-%d %H:%M}") for slot in found]


@pytest.mark.parametrize(
    ("exchanges", "last", "tonight", "expected"),
    [
        # New York changes its clocks on Sunday 2025-03-09: 16:00 is 21:00 UTC before and 20:00 UTC after
        (
            WORLD,
            "2025-03-06 21:15",
            "2025-03-12 20:15",
            [
                ("2025-03-07", "2025-03-07 21:15"),
                ("2025-03-10", "2025-03-10 20:15"),
                ("2025-03-11", "2025-03-11 20:15"),
            ],
        ),
        # London changes on Sunday 2025-03-30: 16:30 is 16:30 UTC before and 15:30 UTC after
        (
            ("XLON",),
            "2025-03-27 16:45",
            "2025-04-02 15:45",
            [
                ("2025-03-28", "2025-03-28 16:45"),
                ("2025-03-31", "2025-03-31 15:45"),
                ("2025-04-01", "2025-04-01 15:45"),
            ],
        ),
        # Thanksgiving: New York is shut on the 27th, where London closes last, and shuts at 13:00 on the 28th
        (
            WORLD,
            "2025-11-26 21:15",
            "2025-12-01 21:15",
            [("2025-11-27", "2025-11-27 16:45"), ("2025-11-28", "2025-11-28 18:15")],
        ),
        # the half-day of New York ends before a day around the clock does
        (
            (*WORLD, "24/7"),
            "2025-11-27 00:15",
            "2025-11-30 00:15",
            [("2025-11-27", "2025-11-28 00:15"), ("2025-11-28", "2025-11-29 00:15")],
        ),
        # Golden Week of 2025: Tokyo is shut on 04-29 and from 05-03 to 05-06; it closes at 15:30, 06:30 UTC
        (
            ("XTKS",),
            "2025-04-28 06:45",
            "2025-05-08 06:45",
            [
                ("2025-04-30", "2025-04-30 06:45"),
                ("2025-05-01", "2025-05-01 06:45"),
                ("2025-05-02", "2025-05-02 06:45"),
                ("2025-05-07", "2025-05-07 06:45"),
            ],
        ),
        # lunar new year of 2025: Hong Kong closes at 12:00 (04:00 UTC) on the 28th and is shut from 01-29 to 01-31
        (
            ("XHKG",),
            "2025-01-27 08:15",
            "2025-02-04 08:15",
            [("2025-01-28", "2025-01-28 04:15"), ("2025-02-03", "2025-02-03 08:15")],
        ),
        # a closure that was announced ten days before: New York on 2025-01-09
        (("XNYS",), "2025-01-08 21:15", "2025-01-10 21:15", []),
    ],
    ids=[
        "New York's summer",
        "London's summer",
        "Thanksgiving",
        "round the clock",
        "Golden Week",
        "new year",
        "mourning",
    ],
)
def test_a_night_is_over_when_the_last_exchange_of_its_date_is(exchanges, last, tonight, expected):
    assert nights(exchanges, last, tonight) == expected


def test_a_run_between_two_closes_belongs_to_the_night_of_its_date():
    """Tonight at 07:00 UTC, after Tokyo: Monday is between, and neither Friday's nor Tuesday's night is missed."""
    calendar = NightCalendar.of(("XTKS", "XNYS"), "1d", SETTLE)
    friday, tuesday = calendar.as_of(utc("2025-03-07 07:00")), calendar.as_of(utc("2025-03-11 07:00"))
    assert (friday, tuesday) == (utc("2025-03-07 06:45"), utc("2025-03-11 06:45"))
    assert [slot.until for slot in calendar.between(friday, tuesday)] == [utc("2025-03-10 20:15")]
    monday = calendar.as_of(utc("2025-03-10 21:00"))
    assert calendar.between(monday, tuesday) == []
    assert calendar.between(tuesday, monday) == []


@pytest.mark.parametrize(
    ("exchanges", "interval", "now", "as_of"),
    [
        (("XNYS",), "1d", "2025-03-10 20:14:59", "2025-03-07 21:15"),
        (("XNYS",), "1d", "2025-03-10 20:15", "2025-03-10 20:15"),
        (("XNYS",), "1d", "2025-03-11 19:00", "2025-03-10 20:15"),
        ((*WORLD, "24/7"), "1d", "2025-03-10 22:00", "2025-03-10 20:15"),
        ((*WORLD, "24/7"), "1d", "2025-03-11 00:15", "2025-03-11 00:15"),
        ((*WORLD, "24/7"), "1d", "2025-03-11 07:00", "2025-03-11 06:45"),
        (("XNYS",), "1h", "2025-03-10 15:00", "2025-03-10 14:45"),
        (("XNYS",), "1h", "2025-03-10 12:00", "2025-03-07 21:15"),
    ],
)
def test_every_run_between_two_closes_has_the_same_as_of(exchanges, interval, now, as_of):
    assert NightCalendar.of(exchanges, interval, SETTLE).as_of(utc(now)) == utc(as_of)


def test_a_longer_delay_moves_every_night():
    assert nights(("XNYS",), "2025-03-06 22:00", "2025-03-10 21:00", pd.Timedelta("1h")) == [
        ("2025-03-07", "2025-03-07 22:00")
    ]


def test_the_nights_of_a_year_are_its_dates_in_order():
    slots = NightCalendar.of((*WORLD, "24/7"), "1d", SETTLE).between(utc("2024-12-31 00:15"), utc("2026-01-01 00:15"))
    dates = pd.DatetimeIndex([slot.date for slot in slots])
    assert dates.equals(pd.date_range("2024-12-31", "2025-12-30"))
    assert all(before.until == after.after for before, after in pairwise(slots))
