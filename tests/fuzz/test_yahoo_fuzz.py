"""Mutated chart answers: a classified failure or correct bars, never a crash, a hang or a wrong bar.

Two thousand of them, and ten by ``make soak``. The bytes go through the real yfinance client; most of them enter
at its session, some come over a socket. What is right is told by a reader of its own: plain JSON, row by row.
"""

from __future__ import annotations

import copy
import json
import math
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from fints.bars.actions import ACTION_KINDS
from fints.bars.quality import check_bars
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import YahooConfig
from fints.bars.sources.yahoo import YahooSource
from fints.errors import FintsError
from fints.sessions.calendars import get_calendar
from tests.bars.sources.loopback import chart, intraday
from tests.bars.sources.wired import wired
from tests.fuzz.mutation import mutate

if TYPE_CHECKING:
    from fints.bars.sources.base import Delivery

# what a user runs under: a warning is no error there
pytestmark = pytest.mark.filterwarnings("ignore")

BATCH = 1000
BATCHES = (*range(2), *(pytest.param(number, marks=pytest.mark.soak) for number in range(2, 10)))
OVER_A_SOCKET = 25  # every so manieth
GOOD_ONE = 100
NEW_YORK = "America/New_York"
SESSIONS = get_calendar("XNYS").sessions("2018-12-17", "2018-12-26")


def daily(events: dict[str, Any]) -> dict[str, Any]:
    """Return seven sessions; every value occurs once."""
    rows = pd.DataFrame({"stamp": (SESSIONS + pd.Timedelta(hours=9.5)).tz_localize(NEW_YORK)})
    step = pd.Series(range(len(rows)), dtype="float64")
    rows = rows.assign(open=100 + step, high=104.5 + step, low=95.25 + step, close=101.125 + step)
    rows = rows.assign(adjclose=100.75 + step, volume=[1000 + 7 * n for n in range(len(rows))])
    return chart("", rows, **events)


def hourly() -> dict[str, Any]:
    """Return the first hours of two sessions."""
    days = ("2018-12-20", "2018-12-21")
    stamps = [pd.Timestamp(f"{day} {hour}:30", tz=NEW_YORK) for day in days for hour in ("09", "10", "11")]
    step = pd.Series(range(len(stamps)), dtype="float64")
    rows = pd.DataFrame({"stamp": stamps}).assign(open=100 + step, high=104.5 + step, low=95.25 + step)
    rows = rows.assign(close=101.125 + step, adjclose=101.125 + step, volume=[500 + n for n in range(len(stamps))])
    return intraday(chart("", rows), [(f"{day} 09:30", f"{day} 16:00") for day in days])


EVENTS = {"dividends": {"2018-12-19 09:30": 0.5}, "splits": {"2018-12-21 09:30": (4, 1)}}
PLAIN, EVENTFUL, HOURLY = daily({}), daily(EVENTS), hourly()


class Mailbox:
    """The session of yfinance: answers what lies in it, or what the server says where nothing does."""

    def __init__(self, session: Any) -> None:
        from curl_cffi.requests import Response

        self.body: bytes | None = None
        self._session, self._ask, self._response = session, session.request, Response
        session.request = self.request

    def request(self, method: str, url: str, **how: Any) -> Any:
        if self.body is None:
            return self._ask(method, url, **how)
        answer = self._response()
        answer.url, answer.status_code, answer.content = url, 200, self.body
        return answer


def number(value: Any) -> float:
    """Return a value of a column as the number it stands for: a missing one is NaN."""
    if value is None:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def same(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))


def told_rows(body: bytes) -> list[tuple[pd.Timestamp, list[Any]]]:
    """Read an answer row by row: the stamp, then open, high, low, close, adjusted close and volume as written."""
    (result, *_) = json.loads(body)["chart"]["result"]
    quote = result["indicators"]["quote"][0]
    names = ("open", "high", "low", "close")
    adjusted = result["indicators"].get("adjclose", [{"adjclose": quote["close"]}])[0]["adjclose"]
    columns = [*(quote[name] for name in names), adjusted, quote["volume"]]
    rows = []
    for stamp, *values in zip(result["timestamp"], *columns, strict=True):
        seconds = pd.to_numeric(stamp, errors="coerce")
        if abs(seconds) < 1e11:  # a row without a date, or of another age, explains nothing
            rows.append((pd.Timestamp(float(seconds), unit="s", tz="UTC"), list(values)))
    return rows


def explained(bar: dict[str, Any], rows: list[tuple[pd.Timestamp, list[Any]]], zones: tuple[str, ...]) -> bool:
    """Say whether a bar is one of the rows told: the same day or hour, and every value of it."""
    prices = [bar[name] for name in ("open", "high", "low", "close", "adj_close")]
    for stamp, values in rows:
        equal = all(same(price, number(value)) for price, value in zip(prices, values, strict=False))
        if equal and met(bar, stamp, zones):
            volume = number(values[5])
            if pd.isna(bar["volume"]) or int(0 if math.isnan(volume) else volume) == bar["volume"]:
                return True
    return False


def met(bar: dict[str, Any], stamp: pd.Timestamp, zones: tuple[str, ...]) -> bool:
    """Say whether a bar is of the day or hour of a row."""
    if bar["interval"] != "1d":
        return bool(bar["start"] == stamp)
    # yfinance takes 22:00 and 23:00 for a midnight that a change of the clock has moved
    local = [stamp.tz_convert(zone) for zone in zones]
    days = {(at + pd.Timedelta(hours=h)).tz_localize(None).normalize() for at in local for h in (0, 2)}
    return bar["session"] in days


def merged_by_the_client(bar: dict[str, Any], rows: list[tuple[pd.Timestamp, list[Any]]]) -> bool:
    """Say whether an hourly bar may be one that yfinance made of the last two rows of an hour."""
    within = [stamp for stamp, _ in rows if bar["start"] <= stamp < bar["start"] + pd.Timedelta(hours=1)]
    return bar["interval"] == "1h" and len(within) > 1


def asked_for(seed: int) -> tuple[BarRequest, dict[str, Any]]:
    """Return the request of a case and the answer that is to be mutated."""
    request = BarRequest(f"S{seed}", "1h" if seed % 7 == 0 else "1d")
    good = copy.deepcopy(HOURLY if request.interval == "1h" else EVENTFUL if seed % 3 == 0 else PLAIN)
    good["chart"]["result"][0]["meta"]["symbol"] = request.symbol
    return request, good


def outcome(source: YahooSource, request: BarRequest) -> Delivery | FintsError:
    try:
        return source.fetch(request)
    except FintsError as error:
        if request.symbol in str(error):
            return error
        raise AssertionError(f"seed {request.symbol}: the message does not say whose fault it is: {error}") from error
    except BaseException as error:
        raise AssertionError(f"seed {request.symbol}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("batch", BATCHES)
def test_a_mutated_answer_is_a_classified_failure_or_correct_bars(monkeypatch, tmp_path, batch) -> None:
    told: dict[int, tuple[bytes, Delivery]] = {}
    with wired(monkeypatch) as server:
        from yfinance import data

        mailbox = Mailbox(data.YfData()._session)
        source = YahooSource(YahooConfig(timeout=5, cache=tmp_path / "cache"))
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
            request, good = asked_for(seed)
            body = mutate(asked_for(seed)[1], Random(seed))
            mailbox.body, server.answers[request.symbol] = body if seed % OVER_A_SOCKET else None, [body]
            delivery = outcome(source, request)
            if not isinstance(delivery, FintsError):
                told[seed] = body, delivery
            if seed % GOOD_ONE == 0:
                mailbox.body = json.dumps(good).encode()
                rows = len(good["chart"]["result"][0]["timestamp"])
                assert len(source.fetch(request).bars) == rows, f"after seed {seed}"
    assert len(told) > BATCH // 4  # the mutations leave something to be judged
    judge(told)


def judge(told: dict[int, tuple[bytes, Delivery]]) -> None:
    """Hold what was delivered against the answers: by seed, the bytes and the delivery."""
    bars = pd.concat([delivery.bars for _, delivery in told.values() if len(delivery.bars)], ignore_index=True)
    kept, _ = check_bars(bars, now=pd.Timestamp("2019-01-02", tz="UTC"))
    assert len(kept) > len(told)
    for symbol, group in kept.groupby("symbol"):
        seed = int(symbol[1:])
        body, _ = told[seed]
        rows = told_rows(body)
        zones = (NEW_YORK, json.loads(body)["chart"]["result"][0]["meta"]["exchangeTimezoneName"])
        for bar in group.to_dict("records"):
            right = explained(bar, rows, zones) or merged_by_the_client(bar, rows)
            assert right, f"seed {seed}: the bar {bar} is not in {body!r}"
    for _, delivery in told.values():
        assert set(delivery.actions["kind"]) <= set(ACTION_KINDS)
        assert ((delivery.actions["value"] > 0) & (delivery.actions["value"] < math.inf)).all()
