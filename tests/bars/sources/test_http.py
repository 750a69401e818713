"""A provider over HTTP, on the loopback interface."""

from __future__ import annotations

import gzip
import json
import logging
import pickle
import time

import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.sources import make_source, parse_source
from fints.bars.sources.base import BarRequest
from fints.bars.sources.http_address import fill
from fints.bars.store import BarStore
from fints.errors import (
    ConfigError,
    FintsError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownSymbolError,
)
from fints.settings import NightlySettings
from tests.bars.sources import provider

Reply = provider.Reply

TOKEN = "s3cr3t-T0ken-9f2c"
CSV = b"date,open,high,low,close,volume\n2018-12-13,10,11,9,10.5,1000\n2018-12-14,10.5,12,10,11.25,2000\n"
ROWS = [
    {"t": "2018-12-13", "o": 10, "h": 11, "l": 9, "c": 10.5, "v": 1000},
    {"t": "2018-12-14", "o": 10.5, "h": 12, "l": 10, "c": 11.25, "v": 2000},
]
COLUMNS = {"date": "t"}
PLACES = ("date", "open", "high", "low", "close")
CLOSES = [10.5, 11.25]
NOW = pd.Timestamp("2018-12-14 23:00", tz="UTC")


@pytest.fixture
def server():
    with provider.Provider() as running:
        yield running


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setenv("BARS_TOKEN", TOKEN)


def source(server, path: str = "/bars/{symbol}", **options):
    url = f"{server.address}{path}"
    return make_source(parse_source({"kind": "http", "url": url, "wait": 0, "timeout": 5, "attempts": 2, **options}))


def closes(source, symbol: str = "AAA") -> list[float]:
    return source.fetch(BarRequest(symbol)).bars["close"].tolist()


def test_csv_by_a_template_with_dates_and_interval(server) -> None:
    server.replies = [Reply(CSV)]
    bars = source(server, "/v1/{symbol}?from={start:%Y-%m-%d}&to={end:%Y%m%d}&i={interval}").fetch(
        BarRequest("AAA", "1d", pd.Timestamp("2018-12-13"), pd.Timestamp("2018-12-14"))
    )
    assert bars.bars["close"].tolist() == CLOSES
    assert bars.bars[["source", "currency", "exchange"]].drop_duplicates().to_numpy().tolist() == [
        ["http", "USD", "XNYS"]
    ]
    assert [path for path, _ in server.asked] == ["/v1/AAA?from=2018-12-13&to=20181214&i=1d"]


def test_spellings_of_intervals_and_ends_are_the_providers(server) -> None:
    server.replies = [Reply(CSV)]
    options = {"intervals": {"1d": "daily"}, "end": "exclusive", "since": "2000-01-03", "name": "acme"}
    acme = source(server, "/{interval}/{symbol}?from={start:epoch}&to={end:epoch_ms}", **options)
    bars = acme.fetch(BarRequest("AAA", "1d", None, pd.Timestamp("2018-12-14"))).bars
    assert bars["source"].unique().tolist() == ["acme"]
    assert server.asked[0][0] == "/daily/AAA?from=946857600&to=1544832000000"
    with pytest.raises(NoSuchRangeError, match="acme has no '1h' bars"):
        acme.fetch(BarRequest("AAA", "1h"))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("rows", "answer", "columns"),
    [
        ("", ROWS, COLUMNS),
        ("data.bars", {"data": {"bars": ROWS}}, COLUMNS),
        ("chart.0.rows", {"chart": [{"rows": ROWS}]}, COLUMNS),
        ("", {"s": "ok", **{key: [row[key] for row in ROWS] for key in "tohlcv"}}, COLUMNS),
        ("d", {"d": [list(row.values()) for row in ROWS]}, dict(zip(PLACES, "01234", strict=True))),
        ("Time Series (Daily)", {"Time Series (Daily)": {row["t"]: {k: row[k] for k in "ohlcv"} for row in ROWS}}, {}),
    ],
)  # fmt: skip
def test_json_as_objects_as_values_and_as_columns(server, rows, answer, columns) -> None:
    server.replies = [Reply(json.dumps(answer).encode())]
    assert closes(source(server, rows=rows, columns=columns)) == CLOSES


def test_large_and_missing_numbers_of_json_keep_every_digit(server) -> None:
    rows = [{**row, "v": 9007199254740993 + place, "c": 10.123456789012345} for place, row in enumerate(ROWS)]
    rows.append({**ROWS[0], "t": "2018-12-12", "v": None})
    body = json.dumps(rows).replace('"o": 10,', '"o": NaN,')
    server.replies = [Reply(body.encode())]
    bars = source(server, columns=COLUMNS).fetch(BarRequest("AAA")).bars
    assert bars["volume"].fillna(-1).tolist() == [9007199254740993, 9007199254740994, -1]
    assert bars["close"].iloc[0] == 10.123456789012345
    assert bars["open"].isna().tolist() == [True, False, True]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data": null}', b"date,close\n"])
def test_an_answer_without_bars_is_empty(server, body) -> None:
    server.replies = [Reply(body)]
    rows = "data" if b"data" in body else ""
    assert source(server, rows=rows).fetch(BarRequest("AAA")).bars.empty


@pytest.mark.parametrize(
    ("body", "rows", "message"),
    [
        (b'{"data": {"a": 1}}', "data.bars", "no 'data.bars'.*object with a"),
        (b'{"data": "closed"}', "data", "no rows at 'data'.*a str"),
        (b'{"t": ["2018-12-13"], "c": [1, 2]}', "", "differ in length"),
        (b"date,close\n2018-12-13,1.5,2,3\n", "", "no CSV.*4 fields"),
        (b"symbol,date,close\nBBB,2018-12-13,1.5\n", "", "the answer is for BBB; nothing of it was kept"),
        (b"symbol,date,close\nAAA,2018-12-13,1.5\nBBB,2018-12-13,1.5\n", "", "the answer is for AAA, BBB"),
        (b'[{"symbol": true, "date": "2018-12-13", "close": 1}]', "", "symbol True is a bool, not text"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_refused(server, body, rows, message) -> None:
    server.replies = [Reply(body)]
    with pytest.raises(SourceError, match=message):
        closes(source(server, rows=rows))


HOSTILE = [
    "../../admin",
    "A/B",
    "AAA?x=1",
    "AAA&to=1",
    "AAA#x",
    "a b",
    "^GSPC",
    "%2e%2e",
    "{end}",
    "ÄÖ",
    "A;B",
    "@host",
]


@pytest.mark.parametrize("symbol", HOSTILE)
def test_a_symbol_cannot_alter_the_address(server, symbol) -> None:
    from urllib.parse import unquote

    server.replies = [Reply(CSV)]
    assert closes(source(server, "/bars/{symbol}/daily?key={symbol}&to={end}"), symbol) == CLOSES
    path, query = server.asked[0][0].split("?")
    before, name, after = path.rsplit("/", 2)
    assert (before, unquote(name), after) == ("/bars", symbol, "daily")
    key, to = query.split("&")
    assert (unquote(key.removeprefix("key=")), to[:3]) == (symbol, "to=")


@pytest.mark.parametrize("symbol", ["..", ".", "", "  "])
def test_a_symbol_that_no_quoting_makes_safe_is_refused_before_any_request(server, symbol) -> None:
    with pytest.raises(SourceError, match="cannot be asked for by an address"):
        closes(source(server), symbol)
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://host/{symbol}", "https:// or http://"),
        ("file:///{symbol}", "https:// or http://"),
        ("https://{symbol}.host/x", "path or the query only"),
        ("https://user:pw@host/{symbol}", "token_env"),
        ("https://host/bars", "does not name the {symbol}"),
        ("https://host/{symbol}/{token}", "say as `token_env`"),
        ("https://host/{symbol}/{token:x}", "only {start} and {end} take a format"),
        ("https://host/{symbol}?apikey=S3CRET", r"`apikey`.*write apikey=\{token\}.*`token_env`"),
        ("https://host/{symbol}?a=1&api_key=S3CRET", r"write api_key=\{token\}"),
        ("https://host/bars?s={symbol};X-Api%2DKey=S3CRET", "the query holds the value"),
        ("https://host/{symbol}?token=S3CRET{end}", "the query holds the value"),
        ("https://host/{symbol}?key=S3CRET", "the query holds the value"),
        ("https://host/{symbol}?access_token=S3CRET", "the query holds the value"),
        ("https://host/{symbol.__class__}", "is no value"),
        ("https://host/{symbol!r}", "is no value"),
        ("https://host/{symbol:>10}", "take a format"),
        ("https://host/{symbol} x", "percent-encoded"),
        ("https://host/{symbol}#x", "path or the query only"),
        ("https://host/{symbol", "expected '}'"),
    ],
)
def test_an_address_that_cannot_be_is_refused_with_the_settings(url, message) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_source({"kind": "http", "url": url})
    assert "S3CRET" not in f"{caught.value} {caught.value.__cause__}"


def test_dates_are_written_as_asked() -> None:
    values = {"symbol": "A", "start": pd.Timestamp("2018-12-13"), "end": pd.Timestamp("2018-12-14"), "interval": "1d"}
    assert fill("https://h/{symbol}?a={start}&b={end:%d/%m/%Y}", values) == "https://h/A?a=2018-12-13&b=14%2F12%2F2018"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(b"gone", 404), UnknownSymbolError),
        (Reply(b"gone", 410), UnknownSymbolError),
        (Reply(b"no", 401), ConfigError),
        (Reply(b"no", 403), ConfigError),
        (Reply(b"no", 400), SourceError),
        (Reply(b"slow", 429), RateLimitedError),
        (Reply(b"slow", 429, {"Retry-After": "0"}), RateLimitedError),
        (Reply(b"slow", 429, {"Retry-After": "3600"}), RateLimitedError),
        (Reply(b"slow", 429, {"Retry-After": "Fri, 31 Dec 2049 23:59:59 GMT"}), RateLimitedError),
        (Reply(b"slow", 429, {"Retry-After": f"Fri, 31 Dec {'9' * 30} 23:59:59 GMT"}), RateLimitedError),
        (Reply(b"slow", 429, {"Retry-After": "9" * 400}), RateLimitedError),
        (Reply(b"oops", 500), TransientError),
        (Reply(b"oops", 503), TransientError),
        (Reply(b"<html>back soon</html>"), TransientError),
        (Reply(b'[{"t": "2018-12-1'), TransientError),
        (Reply(b"[" * 100_000), TransientError),
        (Reply(CSV, length=len(CSV) + 10), TransientError),
        (Reply(CSV, length="chunked"), TransientError),
        (Reply(CSV[:-5], length=None), TransientError),
        (Reply(gzip.compress(CSV)[:-9], headers={"Content-Encoding": "gzip"}), TransientError),
        (Reply(gzip.compress(CSV) + gzip.compress(CSV)[:-9], headers={"Content-Encoding": "gzip"}), TransientError),
        (Reply(b"no gzip", headers={"Content-Encoding": "gzip"}), TransientError),
    ],
    ids=lambda value: getattr(value, "__name__", None) or (f"{value.status}" if isinstance(value, Reply) else None),
)
def test_every_fault_has_its_class_and_a_request_is_tried_once(server, reply, error) -> None:
    server.replies = [reply]
    with pytest.raises(error, match="http, 'AAA'") as caught:
        closes(source(server))
    assert type(caught.value) is error or (error is RateLimitedError and isinstance(caught.value, error))
    assert len(server.asked) == 1


def test_a_server_that_hangs_or_is_away_is_transient(server) -> None:
    server.replies = [Reply(CSV, hang=True)]
    with pytest.raises(TransientError, match="ReadTimeout"):
        closes(source(server, timeout=0.2, attempts=1))
    url = server.address
    server.closing.set()
    away = make_source(parse_source({"kind": "http", "url": f"{url[:-5]}1/{{symbol}}", "attempts": 1, "timeout": 2}))
    with pytest.raises(TransientError, match="request failed"):
        closes(away)


def test_a_fault_that_passes_does_no_harm(server, tmp_path) -> None:
    server.replies = [Reply(b"", 503), Reply(CSV)]
    report = ingest(source(server), BarStore(tmp_path / "store"), symbols=["AAA"], now=NOW)
    assert (report.commit.inserted, report.failed) == ({"AAA": 2}, {})


@pytest.mark.parametrize("limits", [[0], [5, 6]])
def test_a_limit_among_twenty_symbols_fails_none(server, tmp_path, limits) -> None:
    symbols = [f"S{place:02}" for place in range(20)]
    server.replies = [Reply(b"slow", 429) if place in limits else Reply(CSV) for place in range(8)]
    report = ingest(source(server), BarStore(tmp_path / "store"), symbols=symbols, now=NOW)
    assert (list(report.commit.inserted), report.failed) == (symbols, {})
    assert len(server.asked) == 20 + len(limits)


@pytest.fixture
def waited(monkeypatch):
    from types import SimpleNamespace

    seconds: list[float] = []
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=seconds.append)
    monkeypatch.setattr("fints.bars.sources.http.time", clock)
    return seconds


def test_the_pause_that_the_provider_asks_for_is_kept_within_the_budget(server, tmp_path, waited) -> None:
    server.replies = [Reply(b"slow", 429, {"Retry-After": "40"}), Reply(CSV)]
    report = ingest(source(server), BarStore(tmp_path / "store"), symbols=["AAA"], now=NOW)
    assert report.failed == {}
    assert 30 < waited[0] <= 40
    server.replies = [Reply(b"slow", 429, {"Retry-After": "40"}), Reply(CSV)]
    ingest(source(server, budget=5), BarStore(tmp_path / "other"), symbols=["AAA"], now=NOW)
    assert waited[1:] == [5]


def test_a_pause_too_long_for_a_run_ends_it_after_one_request(server, tmp_path, waited) -> None:
    server.replies = [Reply(b"slow", 429, {"Retry-After": "3600"})]
    report = ingest(source(server), BarStore(tmp_path / "store"), symbols=["AAA", "BBB"], now=NOW)
    assert len(server.asked) == 1
    assert set(report.failed) == {"AAA", "BBB"}
    assert "HTTP 429: too many requests; wait 3600 s" in report.failed["BBB"]
    assert sum(waited) < 60


def test_all_members_of_a_compressed_answer_are_read(server) -> None:
    rows = "".join(f"{day:%Y-%m-%d},1,2,0.5,{1 + place / 7},{place}\n" for place, day in
                   enumerate(pd.date_range("1990-01-01", "2018-12-14", freq="B")))  # fmt: skip
    text = ("date,open,high,low,close,volume\n" + rows).encode()
    parts = [gzip.compress(text[at : at + 20_000]) for at in range(0, len(text), 20_000)]
    for body in (b"".join(parts) + gzip.compress(b""), b"\0\0".join(parts) + b"\0" * 100):
        server.replies = [Reply(body, headers={"Content-Encoding": "gzip"})]
        assert len(closes(source(server))) == rows.count("\n")


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2262-04-12", "2261-12-31", "1678-01-01"])
def test_a_date_that_no_calendar_holds_fails_its_symbol_alone(server, tmp_path, day) -> None:
    server.replies = [Reply(CSV), Reply(CSV + f"{day},11,12,10,11.5,900\n".encode()), Reply(CSV)]
    report = ingest(source(server), BarStore(tmp_path / "store"), symbols=["AAA", "BBB", "CCC"], now=NOW)
    assert set(report.commit.inserted) >= {"AAA", "CCC"}
    assert set(report.failed) <= {"BBB"}


@pytest.mark.parametrize("stamp", [9_999_999_999, 9_999_999_999_999])
def test_a_stamp_beyond_the_nanoseconds_is_refused(server, stamp) -> None:
    server.replies = [Reply(json.dumps([{"date": stamp, "close": 1.5}]).encode())]
    with pytest.raises(FintsError):
        closes(source(server))


def test_a_field_without_end_is_no_csv(server) -> None:
    server.replies = [Reply(b"date,close\n2018-12-13,1.5," + b"x" * 140_000 + b"\n")]
    with pytest.raises(SourceError, match="no CSV: line 2: field larger"):
        closes(source(server))


def test_a_token_in_the_address_is_sent_and_shown_nowhere(server, token, caplog, capfd, tmp_path) -> None:
    server.replies = [Reply(CSV)]
    url = f"{server.address}/{{symbol}}?apikey={{token}}"
    config = parse_source(
        {"kind": "http", "url": url, "wait": 0, "timeout": 0.2, "attempts": 1, "token_env": "BARS_TOKEN"}
    )
    store, reports = BarStore(tmp_path / "store"), []
    elsewhere = Reply(status=302, headers={"Location": "http://localhost:1/x?apikey=" + TOKEN})
    failures = [Reply(b"no", 401), Reply(b"no", 500), Reply(b"slow", 429), elsewhere, Reply(CSV, hang=True),
                Reply(b"date,close\n" + TOKEN.encode()), Reply(b"<html>")]  # fmt: skip
    with caplog.at_level(logging.DEBUG):
        keyed = make_source(config)
        for place, reply in enumerate([Reply(CSV), *failures]):
            server.replies = [reply]
            reports.append(ingest_or_error(keyed, store, f"S{place}"))
    assert server.asked[0][0] == f"/S0?apikey={TOKEN}"
    assert "Authorization" not in server.asked[0][1]
    assert len(server.asked) == 1 + len(failures)
    settings = NightlySettings(source=config, symbols=("AAA",))
    told = [repr(keyed), repr(vars(keyed)), str(config), settings.model_dump_json(), repr(reports), caplog.text]
    told += [*capfd.readouterr(), repr(pickle.dumps(config))]
    assert not [text for text in told if TOKEN in text]
    assert "HTTP 401; the token in the environment variable BARS_TOKEN was refused" in repr(reports)


def ingest_or_error(source, store, symbol):
    try:
        return ingest(source, store, symbols=[symbol], now=NOW)
    except FintsError as error:
        return error


def test_compressed_answers_are_read_and_bombs_refused(server) -> None:
    headers = {"Content-Encoding": "gzip"}
    server.replies = [Reply(gzip.compress(CSV), headers=headers)]
    assert closes(source(server)) == CLOSES
    assert server.asked[0][1]["Accept-Encoding"] == "gzip"
    for body, how in ((gzip.compress(b" " * 3_000_000), headers), (b" " * 3_000_000, {})):
        server.replies = [Reply(body, headers=how)]
        with pytest.raises(SourceError, match="longer than 1 MB"):
            closes(source(server, limit_mb=1))


def test_the_token_goes_into_its_header_and_nowhere_else(server, token, caplog, capfd, tmp_path) -> None:
    server.replies = [Reply(CSV)]
    options = {"token_env": "BARS_TOKEN", "token_header": "X-Key", "token_prefix": "Key "}
    config = parse_source({"kind": "http", "url": f"{server.address}/{{symbol}}", "wait": 0, **options})
    with caplog.at_level(logging.DEBUG):
        keyed = make_source(config)
        report = ingest(keyed, BarStore(tmp_path / "store"), symbols=["AAA"], now=NOW)
        server.replies = [Reply(TOKEN.encode(), 500)]
        failed = ingest(keyed, BarStore(tmp_path / "store"), symbols=["BBB"], now=NOW)
        server.replies = [Reply(b"date,close\n2018-12-13," + TOKEN.encode())]
        echoed = ingest(keyed, BarStore(tmp_path / "store"), symbols=["CCC"], now=NOW)
    assert server.asked[0][1]["X-Key"] == f"Key {TOKEN}"
    assert "Authorization" not in server.asked[0][1]
    assert report.commit.inserted == {"AAA": 2}
    assert "the answer repeats the token" in echoed.failed["CCC"]
    settings = NightlySettings(source=config, symbols=("AAA",))
    told = [repr(keyed), repr(vars(keyed)), str(config), settings.model_dump_json(), settings.hash_without()]
    told += [caplog.text, *capfd.readouterr(), repr(report), repr(failed), repr(echoed), repr(pickle.dumps(config))]
    assert not [text for text in told if TOKEN in text]
    stored = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert stored
    assert not any(TOKEN.encode() in content for content in stored)


def test_the_settings_hash_does_not_depend_on_the_token(monkeypatch) -> None:
    config = parse_source({"kind": "http", "url": "https://bars.example.com/{symbol}", "token_env": "BARS_TOKEN"})
    hashes = set()
    for value in ("one", "two"):
        monkeypatch.setenv("BARS_TOKEN", value)
        hashes.add(NightlySettings(source=config).hash_without())
    assert len(hashes) == 1


@pytest.mark.parametrize("value", [None, "", "  ", "line\nbreak", "schlüssel"])
def test_a_token_that_is_missing_or_cannot_be_sent_is_known_before_any_request(server, monkeypatch, value) -> None:
    if value is None:
        monkeypatch.delenv("BARS_TOKEN", raising=False)
    else:
        monkeypatch.setenv("BARS_TOKEN", value)
    keyed = source(server, token_env="BARS_TOKEN")
    for call in (keyed.symbols, lambda: closes(keyed)):
        with pytest.raises(ConfigError, match="environment variable BARS_TOKEN") as caught:
            call()
        assert not (value or "").strip() or value not in str(caught.value)
    assert server.asked == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_names_its_variable(server, token, status) -> None:
    server.replies = [Reply(TOKEN.encode(), status)]
    with pytest.raises(ConfigError, match="environment variable BARS_TOKEN was refused") as caught:
        closes(source(server, token_env="BARS_TOKEN"))
    assert TOKEN not in str(caught.value)
    with pytest.raises(ConfigError, match="`token_env`"):
        closes(source(server))


def test_a_file_of_passwords_does_not_take_the_tokens_place(server, token, tmp_path, monkeypatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.replies = [Reply(CSV)]
    closes(source(server, token_env="BARS_TOKEN"))
    closes(source(server))
    assert [headers.get("Authorization") for _, headers in server.asked] == [f"Bearer {TOKEN}", None]


def test_redirections_stay_on_the_host(server, token) -> None:
    server.replies = [Reply(status=302, headers={"Location": "/moved/AAA"}), Reply(CSV)]
    assert closes(source(server, token_env="BARS_TOKEN")) == CLOSES
    assert server.asked[1][0] == "/moved/AAA"
    with provider.Provider() as elsewhere:
        elsewhere.replies = [Reply(CSV)]
        for target in (elsewhere.address, server.address.replace("127.0.0.1", "localhost"), "https://127.0.0.1/x"):
            server.replies = [Reply(status=307, headers={"Location": f"{target}/bars"})]
            with pytest.raises(SourceError, match="which was not followed"):
                closes(source(server, token_env="BARS_TOKEN"))
        assert elsewhere.asked == []
    server.replies = [Reply(status=302, headers={"Location": "/again"})]
    with pytest.raises(SourceError, match="redirected more than 3 times"):
        closes(source(server))


def test_a_night_asks_for_the_trailing_sessions_and_one_bad_symbol_fails_alone(server, tmp_path) -> None:
    store = BarStore(tmp_path / "store")
    day = pd.Timedelta(days=1)
    server.replies = [Reply(CSV)]
    path = "/{symbol}?from={start:%Y-%m-%d}&to={end:%Y-%m-%d}"
    ingest(source(server, path), store, symbols=["AAA"], now=NOW)
    server.replies = [Reply(CSV + b"2018-12-17,11,12,10,11.5,900\n"), Reply(b"", 404)]
    report = ingest(source(server, path), store, symbols=["AAA", "BBB"], now=NOW + 3 * day)
    assert (report.commit.inserted, list(report.failed)) == ({"AAA": 1}, ["BBB"])
    assert server.asked[1][0] == "/AAA?from=2018-12-13&to=2018-12-17"
    assert store.read()["source"].unique().tolist() == ["http"]
