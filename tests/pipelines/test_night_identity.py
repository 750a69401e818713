import pandas as pd
import pytest

from fints.settings import load_settings
from pipelines.asof import AsOf
from pipelines.night_identity import Identity

NIGHT = AsOf(pd.Timestamp("2018-11-30"), pd.Timestamp("2018-11-30 21:15", tz="UTC"))
SYMBOLS = ("^GSPC", "^IXIC")


def identity(*overrides, symbols=SYMBOLS, as_of=NIGHT, exchanges=("XNYS",)):
    return Identity.of(load_settings(None, overrides), symbols, exchanges, as_of)


@pytest.mark.parametrize(
    "override",
    ["h=5", "random_seed=1", "retrain_every=5", "bands.rate=0.03", "workers.threads=2", "combination.enabled=false"],
)
def test_what_decides_on_forecasts_makes_another_night(override):
    assert identity(override).config != identity().config


@pytest.mark.parametrize(
    "override", ["tracking.enabled=false", "catch_up.most=3", "alerts.nights=50", "workers.count=2", "refetch=9"]
)
def test_what_does_not_makes_the_same_night(override):
    assert identity(override) == identity()


def test_other_symbols_are_another_night_and_their_order_is_not():
    assert identity(symbols=("^GSPC",)) != identity() == identity(symbols=SYMBOLS[::-1])


def test_a_closure_that_is_announced_makes_another_night_and_a_day_without_news_does_not():
    """The closure of 2018-12-05 was announced on Saturday 2018-12-01."""
    friday, saturday, sunday = (
        AsOf(NIGHT.stamp, pd.Timestamp(f"2018-{day} 23:00", tz="UTC")) for day in ("11-30", "12-01", "12-02")
    )
    assert identity(as_of=friday) == identity()
    assert identity(as_of=saturday) == identity(as_of=sunday) != identity()


def test_the_configuration_is_the_same_on_every_night():
    later = AsOf(pd.Timestamp("2018-12-14"), pd.Timestamp("2018-12-14 21:15", tz="UTC"))
    assert identity(as_of=later).config == identity().config
    assert identity(as_of=later).calendar != identity().calendar
