import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.series import validate_panel
from fints.series.asof import AsOf, known_instants
from fints.series.windows import Tape

EXCHANGES = {"LON": "XLON", "NYC": "XNYS", "TOK": "XTKS"}


@pytest.fixture(scope="module")
def world():
    """A fortnight of three exchanges, each value the day of the month."""
    parts = []
    for name, exchange in EXCHANGES.items():
        days = pd.bdate_range("2016-06-06", "2016-06-17")  # noqa: TID251 - no exchange was closed then
        parts.append(pd.DataFrame({"unique_id": name, "ds": days, "y": days.day.astype(float), "exchange": exchange}))
    panel = validate_panel(pd.concat(parts, ignore_index=True).assign(interval="1d"))
    return Tape.from_panel(panel, (), ())


def tape_of(ends):
    """A tape of series with given ends of bars."""
    ends = [np.sort(np.array(own, dtype=np.float64)) for own in ends]
    rows = sum(map(len, ends))
    return Tape(
        unique_ids=tuple(map(str, range(len(ends)))),
        bounds=np.cumsum([0, *map(len, ends)]),
        ds=np.zeros(rows, "datetime64[ns]"),
        values=np.zeros((rows, 1)),
        calendar=np.zeros((rows, 0)),
        clocks={"seconds": np.concatenate(ends)},
    )


@settings(max_examples=50)
@given(
    ends=st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=8, unique=True), min_size=1, max_size=4),
    instants=st.lists(st.integers(-60, 60), min_size=1, max_size=6),
)
def test_it_finds_what_a_plain_search_finds(ends, instants):
    tape, asked = tape_of(ends), np.array(instants, dtype=np.float64)
    found = AsOf(tape).rows(np.arange(len(ends))[:, None], asked)
    for number, first in enumerate(tape.bounds[:-1]):
        own = tape.clocks["seconds"][first : tape.bounds[number + 1]]
        for column, instant in enumerate(asked):
            ended = np.flatnonzero(own <= instant)
            assert found[number, column] == (first + ended[-1] if len(ended) else -1)


def test_the_instant_decides_and_not_the_date(world):
    """At London's close Tokyo's day is over and New York's is not."""
    rows, asof = dict(zip(world.unique_ids, world.bounds, strict=False)), AsOf(world)
    for day in range(1, 10):
        for asking, known in {"LON": (0, -1, 0), "NYC": (0, 0, 0), "TOK": (-1, -1, 0)}.items():
            instant = world.clocks["seconds"][rows[asking] + day]
            found = asof.rows(np.arange(3), instant) - world.bounds[:-1]
            assert found.tolist() == [day + late for late in known]


def test_a_forecast_is_made_when_the_last_bar_ends_or_when_it_is_said_to_be(world):
    exchanges = list(EXCHANGES.values())
    ends = [pd.Timestamp(f"2016-06-17 {at}", tz="UTC") for at in ("15:30", "20:00", "06:00")]
    assert known_instants(world, exchanges).tolist() == [end.timestamp() for end in ends]
    assert known_instants(world, exchanges, "2016-06-17").tolist() == [end.timestamp() for end in ends]
    midnights = ["2016-06-15 23:00", "2016-06-16 04:00", "2016-06-15 15:00"]
    expected = [pd.Timestamp(at, tz="UTC").timestamp() for at in midnights]
    assert known_instants(world, exchanges, "2016-06-15").tolist() == expected
    noon = pd.Timestamp("2016-06-16 12:00", tz="UTC")
    assert known_instants(world, exchanges, noon).tolist() == [noon.timestamp()] * 3
