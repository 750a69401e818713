"""A calendar that is over takes down no other exchange; where calendars end depends on the libraries installed."""

import numpy as np
import pandas as pd
import pytest

from fints.bars.store import BarStore
from fints.errors import CalendarError
from fints.sessions import get_calendar
from fints.settings import load_settings
from pipelines import clock
from pipelines.datable import undatable
from pipelines.gathered import gather
from pipelines.home import Home
from pipelines.options import screen
from pipelines.progress import Stages

OVER = "XSAU"  # its holidays by the moon are listed for some years
END = get_calendar(OVER).last_day


@pytest.fixture
def market(tmp_path, monkeypatch):
    """Write bars of two exchanges, set the clock behind the end of one, and return the settings."""
    now = (END + pd.Timedelta(days=6, hours=23)).tz_localize("UTC")
    monkeypatch.setattr(clock, "now", lambda: now)
    sources = []
    for exchange, symbol in ((OVER, "RIYADH"), ("XNYS", "US")):
        calendar = get_calendar(exchange)
        days = calendar.sessions(END - pd.Timedelta(days=40), min(now.tz_localize(None).normalize(), calendar.last_day))
        level = 100 + np.arange(len(days), dtype=np.float64)
        bars = pd.DataFrame({"date": days, "open": level, "high": level + 1, "low": level - 1, "close": level})
        (tmp_path / symbol).mkdir()
        bars.assign(volume=1000).to_csv(tmp_path / symbol / f"{symbol}.csv", index=False)
        place = f"path: {tmp_path / symbol}, quiet: 0, exchange: {exchange}, name: {symbol.lower()}"
        sources.append(f"{{kind: folder, {place}}}")
    stated = f"source={{kind: chain, sources: [{', '.join(sources)}]}}"
    return lambda *symbols: load_settings(None, [stated, f"symbols=[{', '.join(symbols)}]"])


def test_symbols_of_a_calendar_that_is_over_fail_and_the_others_are_read(market, tmp_path):
    home, stages = Home(tmp_path / "home"), Stages(screen(stderr=True), None)
    for _ in range(2):  # a first time, when nothing is stored, and the next
        gathered = gather(market("RIYADH", "US"), home, stages)
        assert gathered.bars["symbol"].unique().tolist() == ["US"]
        assert gathered.reading.symbols == ("US",)
        assert set(gathered.report.failed) == {"RIYADH"}
        assert f"to {END:%Y-%m-%d}" in gathered.report.failed["RIYADH"]
    assert BarStore(home.store).symbols() == ["RIYADH", "US"]


def test_where_all_calendars_are_over_that_is_said(market, tmp_path):
    with pytest.raises(CalendarError, match=OVER):
        gather(market("RIYADH"), Home(tmp_path / "home"), Stages(screen(stderr=True), None))


def test_only_what_is_over_cannot_be_dated(market, tmp_path):
    home = Home(tmp_path / "home")
    gather(market("RIYADH", "US"), home, Stages(screen(stderr=True), None))
    store = BarStore(home.store)
    assert set(undatable(store, ["RIYADH", "US"], "1d", clock.now())) == {"RIYADH"}
    assert undatable(store, ["RIYADH", "US"], "1d", (END - pd.Timedelta(days=1)).tz_localize("UTC")) == {}
