"""Nights of symbols on several exchanges, from the loopback Yahoo: each exchange takes its last final session."""

import numpy as np
import pandas as pd
import pytest

from fints.bars.store import BarStore
from fints.sessions import get_calendar
from tests.bars.sources.loopback import chart, honest
from tests.bars.sources.wired import wired

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

LISTED = {
    "SPY": ("XNYS", "NYQ", "America/New_York", "USD"),
    "VOD.L": ("XLON", "LSE", "Europe/London", "GBP"),
    "7203.T": ("XTKS", "JPX", "Asia/Tokyo", "JPY"),
    "BTC-USD": ("24/7", "CCC", "UTC", "USD"),
}
QUICK = (
    *("targets=[log_volume]", "tracking.enabled=false", "periods.detect=false", "h=3", "dataset=world"),
    *("alerts.missed.nights=200", "alerts.absent.nights=200", "symbols=[SPY, VOD.L, 7203.T, BTC-USD]"),
)


def answers(server, now):
    """Let the server hold every bar whose session had closed."""
    for number, (symbol, (exchange, code, zone, currency)) in enumerate(LISTED.items()):
        hours = get_calendar(exchange).schedule("2024-06-03", "2025-03-14")
        hours = hours[hours["close"] <= now]
        rng = np.random.default_rng(number)
        close = (100 * np.exp(rng.normal(0, 0.01, len(hours)).cumsum())).round(2)
        rows = pd.DataFrame({"stamp": hours["open"].dt.tz_convert(zone).to_numpy(dtype=object), "open": close})
        rows = rows.assign(high=close + 1, low=close - 1, close=close, adjclose=close)
        rows["volume"] = rng.integers(10_000, 90_000, len(hours)).tolist()
        about = {"exchangeName": code, "exchangeTimezoneName": zone, "timezone": zone, "currency": currency}
        kind = "CRYPTOCURRENCY" if exchange == "24/7" else "EQUITY"
        server.answers[symbol] = [honest(chart(symbol, rows, instrumentType=kind, **about))]


@pytest.fixture
def night(fints, monkeypatch, tmp_path):
    """Run ``fints nightly`` at an instant; returns exit code, what it said, and the result."""
    with wired(monkeypatch) as server:

        def run(moment, *settings, down=False):
            now = pd.Timestamp(moment, tz="UTC")
            monkeypatch.setattr("pipelines.clock.now", lambda: now)
            answers(server, now)
            if down:
                server.answers.update({symbol: ["server error"] for symbol in LISTED})
            source = f"source={{kind: yahoo, wait: 0, timeout: 5, cache: {tmp_path / 'cache'}}}"
            code, out, err, result = fints("nightly", *(f"--set={setting}" for setting in (*QUICK, source, *settings)))
            return code, out + err, result

        yield run


def test_each_exchange_takes_its_last_final_session_and_each_date_has_one_night(night, home):
    """Thursday 22:00 to Monday 07:00, when only Tokyo has closed; between them Friday and a weekend of Bitcoin."""
    code, said, first = night("2025-03-06 22:00")
    assert code == 0, said
    assert [entry["night"] for entry in first["nights"]] == ["2025-03-06T21:15:00+00:00"]
    code, said, result = night("2025-03-10 07:00")
    assert code == 0, said
    assert [entry["night"] for entry in result["nights"]] == [
        "2025-03-08T00:15:00+00:00",
        "2025-03-09T00:15:00+00:00",
        "2025-03-10T00:15:00+00:00",
        "2025-03-10T06:45:00+00:00",
    ]
    first_bars = {
        # as of Thursday 21:15 London, Tokyo and New York have closed, and Bitcoin's Wednesday
        "2025-03-06": {"SPY": "03-07", "VOD.L": "03-07", "7203.T": "03-07", "BTC-USD": "03-06"},
        "2025-03-07": {"SPY": "03-10", "VOD.L": "03-10", "7203.T": "03-10", "BTC-USD": "03-08"},
        "2025-03-08": {"SPY": "03-10", "VOD.L": "03-10", "7203.T": "03-10", "BTC-USD": "03-09"},
        "2025-03-09": {"SPY": "03-10", "VOD.L": "03-10", "7203.T": "03-10", "BTC-USD": "03-10"},
        "2025-03-10": {"SPY": "03-10", "VOD.L": "03-10", "7203.T": "03-11", "BTC-USD": "03-10"},
    }
    store = BarStore(home / "store")
    for stamp, expected in first_bars.items():
        found = store.read_forecasts(as_of=stamp).groupby("unique_id")["ds"].min().dt.strftime("%m-%d")
        assert found.to_dict() == expected, stamp


NEW_YORK = ("symbols=[SPY]", "dataset=one", "holdout.n_windows=1")


def test_while_the_source_is_down_the_last_forecasts_stand_and_the_night_is_made_once_it_is_back(night, home):
    """Thursday's night ran; on Friday nothing is delivered; on Monday all is, and Friday's night is made."""
    code, said, _ = night("2025-03-06 22:00", *NEW_YORK)
    assert code == 0, said
    store = BarStore(home / "store")
    thursday = store.read_forecasts()
    for _ in range(2):
        code, said, result = night("2025-03-07 22:00", *NEW_YORK, down=True)
        assert (code, result) == (1, None)
        said = " ".join(said.split())
        assert "no bar has come since the night of 2025-03-06 21:15 UTC" in said
        assert "Not delivered: SPY: Yahoo, 'SPY' (1d)" in said
        pd.testing.assert_frame_equal(store.read_forecasts(), thursday)
    code, said, result = night("2025-03-10 21:00", *NEW_YORK)
    assert code == 0, said
    assert [(entry["night"][:10], entry["state"]) for entry in result["nights"]] == [
        ("2025-03-07", "done"),
        ("2025-03-10", "done"),
    ]
    rows = BarStore(home / "store").read_forecasts(as_of="2025-03-07")
    assert rows["ds"].min() == pd.Timestamp("2025-03-10")


def test_a_source_that_is_down_with_nothing_stored_fails_the_night_with_the_cause(night, home):
    code, said, _ = night("2025-03-07 22:00", *NEW_YORK, down=True)
    assert code == 1
    assert "there are no bars of SPY at 1d" in said
    assert "Yahoo, 'SPY' (1d)" in said
