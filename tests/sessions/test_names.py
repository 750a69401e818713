"""Names of exchanges: every alias leads to one canonical calendar."""

import pandas_market_calendars as pmc
import pytest

from fints.errors import UnknownNameError
from fints.sessions import get_calendar
from fints.sessions.names import canonical_name, known_names


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("XNYS", "XNYS"),
        ("nasdaq", "XNYS"),
        ("ARCX", "XNYS"),
        ("xnas", "XNYS"),
        ("AMEX", "XNYS"),
        ("LSE", "XLON"),
        ("jpx", "XTKS"),
        ("TSE", "XTKS"),
        ("HKEX", "XHKG"),
        ("xetra", "XETR"),
        ("24/7", "24/7"),
        ("crypto", "24/7"),
        ("forex", "FX"),
    ],
)
def test_common_names_in_any_case_lead_to_the_canonical_exchange(name, canonical):
    assert canonical_name(name) == canonical
    assert get_calendar(name).mic == canonical


def test_one_market_has_one_calendar_under_all_its_names():
    assert get_calendar("NYSE") is get_calendar(" xnas ")


def test_every_name_that_the_package_offers_is_accepted():
    refused = [name for name in pmc.get_calendar_names() if canonical_name(name) not in known_names().values()]
    assert refused == []


def test_an_unknown_exchange_is_refused_with_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"unknown exchange 'XNSY'.*Did you mean 'XN"):
        get_calendar("XNSY")
