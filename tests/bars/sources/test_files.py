"""Files as vendors write them, spelled out in small."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.sources import make_source, parse_source
from fints.bars.sources.base import BarRequest
from fints.bars.store import BarStore
from fints.errors import ConfigError, NoSuchRangeError, SchemaError, SourceError, UnknownNameError
from fints.sessions import bar_grid, get_calendar

if TYPE_CHECKING:
    from pathlib import Path

YAHOO_EXPORT = """Date,Open,High,Low,Close,Adj Close,Volume
2018-12-27,2442.500000,2489.100098,2397.939941,2488.830078,2488.830078,4096610000
2018-12-28,2498.770020,2520.270020,2472.889893,2485.739990,2485.739990,3702620000
2018-12-31,2498.939941,2509.239990,2482.820068,2506.850098,2506.850098,3442870000
"""
YAHOO_PAGE = """\
Date,Open,High,Low,Close    Close price adjusted for splits.,\
Adj Close    Adjusted close price adjusted for splits and dividend and/or capital gain distributions.,Volume
"Dec 31, 2018","2,498.94","2,509.24","2,482.82","2,506.85","2,506.85","3,442,870,000"
"Dec 28, 2018","2,498.77","2,520.27","2,472.89","2,485.74","2,485.74","3,702,620,000"
"Dec 28, 2018",1.435 Dividend,,,,,
"Dec 27, 2018",4:1 Stock Splits,,,,,
"Dec 27, 2018","2,442.50","2,489.10","2,397.94","2,488.83","2,488.83","4,096,610,000"
"""
BROKER = """Datum;Kürzel;Erster;Hoch;Tief;Schluss;Stücke
27.12.2018;ABC;2.442,50;2.489,10;2.397,94;2.488,83;4.096.610
28.12.2018;ABC;2.498,77;2.520,27;2.472,89;2.485,74;3.702.620
31.12.2018;ABC;2.498,94;2.509,24;2.482,82;2.506,85;3.442.870
"""
BROKER_OPTIONS = {
    "decimal": ",",
    "columns": {
        "date": "Datum", "symbol": "Kürzel", "open": "Erster", "high": "Hoch", "low": "Tief", "close": "Schluss",
        "volume": "Stücke",
    },
}  # fmt: skip
CLOSES = [2488.83, 2485.74, 2506.85]


def source(path: Path, **options):
    return make_source(parse_source({"kind": "files", "path": str(path), **options}))


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding=encoding)
    return path


def test_the_export_of_yahoos_page_is_read(tmp_path) -> None:
    files = source(write(tmp_path / "^GSPC.csv", YAHOO_EXPORT))
    assert files.symbols() == ["^GSPC"]
    bars = files.fetch(BarRequest("^GSPC")).bars
    assert bars["close"].round(2).tolist() == CLOSES
    assert bars["volume"].tolist() == [4096610000, 3702620000, 3442870000]
    assert bars["session"].dt.strftime("%Y-%m-%d").tolist() == ["2018-12-27", "2018-12-28", "2018-12-31"]
    assert (bars["exchange"].unique().tolist(), bars["currency"].unique().tolist()) == (["XNYS"], ["USD"])


def test_the_table_of_yahoos_page_is_read_without_its_corporate_actions(tmp_path) -> None:
    bars = source(write(tmp_path / "^GSPC.csv", YAHOO_PAGE)).fetch(BarRequest("^GSPC")).bars
    assert bars["close"].tolist() == CLOSES[::-1]
    assert bars["volume"].tolist() == [3442870000, 3702620000, 4096610000]


def test_a_brokers_file_is_read_by_mapping(tmp_path) -> None:
    path = write(tmp_path / "export.csv", BROKER, "latin-1")
    files = source(path, **BROKER_OPTIONS, currency="EUR", exchange="xetra")
    bars = files.fetch(BarRequest("ABC")).bars
    assert bars["close"].tolist() == CLOSES
    assert bars["volume"].tolist() == [4096610, 3702620, 3442870]
    assert bars["adj_close"].tolist() == CLOSES
    assert (bars["exchange"].unique().tolist(), bars["currency"].unique().tolist()) == (["XETR"], ["EUR"])


def test_a_lacking_column_is_named_with_the_cure(tmp_path) -> None:
    path = write(tmp_path / "export.csv", BROKER)
    with pytest.raises(ConfigError, match=r"export\.csv: no column found for date, close.*'Schluss'.*columns: \{date:"):
        source(path).symbols()


@pytest.mark.parametrize(
    ("columns", "message"),
    [({"close": "Zuletzt"}, "'Zuletzt', given for 'close', is not there"), ({"bid": "Tief"}, "'bid' is no column")],
)
def test_a_mapping_of_what_is_not_there_is_named(tmp_path, columns, message) -> None:
    with pytest.raises(ConfigError, match=message):
        source(write(tmp_path / "export.csv", BROKER), columns=columns).symbols()


@pytest.mark.parametrize("symbol", ["NA", "TRUE", "1E5", "null", "007", "A/B"])
def test_tickers_that_look_like_something_else_stay_text(tmp_path, symbol) -> None:
    text = f"symbol,date,close\n{symbol},2018-12-31,1.5\n{symbol},2018-12-28,1.25\n"
    files = source(write(tmp_path / "prices.csv", text))
    assert files.symbols() == [symbol]
    assert files.fetch(BarRequest(symbol)).bars["close"].tolist() == [1.5, 1.25]


def test_a_close_alone_is_a_close_only_series(tmp_path) -> None:
    bars = (
        source(write(tmp_path / "VIX.csv", "Date,VIX\n2018-12-31,25.42\n"), columns={"close": "VIX"})
        .fetch(BarRequest("VIX"))
        .bars
    )
    assert bars[["open", "high", "low", "close"]].to_numpy().tolist() == [[25.42] * 4]
    assert bars["volume"].isna().all()


def test_half_a_range_is_not_guessed(tmp_path) -> None:
    with pytest.raises(ConfigError, match="no column found for open"):
        source(write(tmp_path / "A.csv", "date,high,low,close\n2018-12-31,2,1,1\n")).symbols()


@pytest.mark.parametrize(
    ("spelling", "close", "volume"),
    [("$1,234.50|1.5M", 1234.5, 1500000), ("1234.5|null", 1234.5, None), ("1'234.5|2K", 1234.5, 2000)],
)
def test_numbers_are_read_as_people_write_them(tmp_path, spelling, close, volume) -> None:
    row = (
        source(write(tmp_path / "A.csv", f"Date|Close/Last|Volume\n12/31/2018|{spelling}\n"))
        .fetch(BarRequest("A"))
        .bars
    )
    assert row["close"].tolist() == [close]
    assert row["volume"].fillna(-1).tolist() == [-1 if volume is None else volume]


@pytest.mark.parametrize(
    "stamp",
    ["2018-12-31", "20181231", "Dec 31, 2018", "31.12.2018", "31-Dec-2018", "2018-12-31T00:00:00-05:00", "1546232400"],
)
def test_dates_are_read_as_vendors_write_them(tmp_path, stamp) -> None:
    bars = source(write(tmp_path / "A.csv", f'date|close\n"{stamp}"|1.5\n')).fetch(BarRequest("A")).bars
    assert bars["session"].tolist() == [pd.Timestamp("2018-12-31")]


@pytest.mark.parametrize("exchange", ["XNYS", "XLON", "XTKS", "24/7"])
@pytest.mark.parametrize("stamp", ["%Y-%m-%dT00:00:00.000Z", "%Y-%m-%dT00:00:00+00:00", "%Y-%m-%d"])
def test_a_midnight_of_utc_names_the_date_on_every_exchange(tmp_path, exchange, stamp) -> None:
    sessions = get_calendar(exchange).sessions("2018-07-02", "2018-07-20")
    rows = "".join(f"{day:{stamp}},1.5\n" for day in sessions)
    bars = source(write(tmp_path / "A.csv", "date,close\n" + rows), exchange=exchange).fetch(BarRequest("A")).bars
    assert bars["session"].tolist() == sessions.tolist()


def test_a_date_and_a_time_run_together_are_no_count_from_the_epoch(tmp_path) -> None:
    path = write(tmp_path / "A.csv", "time,close\n201811230930,1\n201811231030,2\n")
    for options in ({}, {"date_format": "%Y%m%d%H%M"}):
        bars = source(path, **options).fetch(BarRequest("A", "1h")).bars
        assert bars["start"].dt.strftime("%Y-%m-%d %H:%M").tolist() == ["2018-11-23 14:30", "2018-11-23 15:30"]


@pytest.mark.parametrize("date", ["03/04/2018", "03/04/18"])
def test_a_date_that_can_be_read_two_ways_is_not_guessed(tmp_path, date) -> None:
    path = write(tmp_path / "A.csv", f"date,close\n{date},1.5\n")
    with pytest.raises(ConfigError, match="month/day or day/month"):
        source(path).symbols()
    bars = source(path, date_format="%d/%m/%Y" if date.endswith("2018") else "%d/%m/%y").fetch(BarRequest("A")).bars
    assert bars["session"].tolist() == [pd.Timestamp("2018-04-03")]


def test_a_word_among_the_numbers_is_named_with_its_row(tmp_path) -> None:
    path = write(tmp_path / "A.csv", "date,close\n2018-12-28,1.5\n2018-12-31,closed\n")
    with pytest.raises(SourceError, match=r"A\.csv, column 'close', row 2: 'closed' is not a number"):
        source(path).symbols()


@pytest.mark.parametrize("number", ["1234,56", "12,5", "1.234,56", "1,2345.6", "1,23"])
def test_a_decimal_comma_is_never_dropped_as_a_thousands_separator(tmp_path, number) -> None:
    path = write(tmp_path / "A.csv", f"date;close\n2018-12-31;{number}\n")
    with pytest.raises(SourceError, match=f"row 1: '{re.escape(number)}' is not a number.*set `decimal`"):
        source(path).symbols()


def test_indian_groups_are_thousands(tmp_path) -> None:
    path = write(tmp_path / "A.csv", "date;close;volume\n2018-12-31;1,23,456.75;12,34,567\n")
    row = source(path).fetch(BarRequest("A")).bars
    assert (row["close"].tolist(), row["volume"].tolist()) == ([123456.75], [1234567])


@pytest.mark.parametrize("good", [0, 1, 400])
def test_rows_longer_than_the_header_are_refused_unless_the_rest_is_empty(tmp_path, good) -> None:
    header, row = "date,open,high,low,close,volume\n", "2018-11-20,1.5,2,1,1.5,100\n"
    path = write(tmp_path / "A.csv", header + row * good + '2018-11-21,1,234.5,1,240.0,1,230.0,"1,235.0",100\n')
    with pytest.raises(SourceError, match=rf"A\.csv.*line {good + 2}\b.*(9 fields and the header 6|saw 9)"):
        source(path).symbols()
    trailing = write(tmp_path / "B.csv", header + "2018-11-20,1.5,2,1,1.5,100,\n" * 3)
    assert source(trailing).fetch(BarRequest("B")).bars["close"].tolist() == [1.5] * 3


def test_bars_of_the_last_evening_belong_to_the_session_of_the_next_day(tmp_path) -> None:
    grid = bar_grid(get_calendar("FX"), "2018-12-17", "2018-12-19", "1h").iloc[:-20]
    rows = "".join(f"{stamp:%Y-%m-%d %H:%M},1.5\n" for stamp in grid["ds"])
    bars = source(write(tmp_path / "EUR.csv", "time,close\n" + rows), exchange="FX").fetch(BarRequest("EUR", "1h")).bars
    assert bars["session"].tolist() == grid["session"].tolist()
    assert bars["end"].tolist() == grid["end"].tolist()


HOURS = ["09:00", "10:00", "11:00", "12:00"]


def hourly_frame(stamps: list[str]) -> pd.DataFrame:
    prices = dict.fromkeys(("open", "high", "low", "close"), 100.0)
    return pd.DataFrame({"bar_start_exchange_time": pd.to_datetime(stamps), "symbol": "SPY", **prices, "volume": 1000})


def test_hour_labels_of_a_half_day_name_the_bars_they_lie_in(tmp_path) -> None:
    hourly_frame([f"2018-11-23 {hour}" for hour in HOURS]).to_parquet(tmp_path / "hours.parquet")
    bars = source(tmp_path / "hours.parquet").fetch(BarRequest("SPY", "1h")).bars
    local = bars[["start", "end"]].apply(lambda column: column.dt.tz_convert("America/New_York").dt.strftime("%H:%M"))
    assert local.to_numpy().tolist() == [["09:30", "10:00"], ["10:00", "11:00"], ["11:00", "12:00"], ["12:00", "13:00"]]
    assert bars["session"].unique().tolist() == [pd.Timestamp("2018-11-23")]


@pytest.mark.parametrize(
    ("stamp", "zone", "stamps"),
    [
        ("start", None, ["2018-11-23 09:30", "2018-11-23 10:30", "2018-11-23 11:30", "2018-11-23 12:30"]),
        ("end", None, ["2018-11-23 10:30", "2018-11-23 11:30", "2018-11-23 12:30", "2018-11-23 13:00"]),
        ("start", "UTC", ["2018-11-23 14:30", "2018-11-23 15:30", "2018-11-23 16:30", "2018-11-23 17:30"]),
    ],
)
def test_bars_from_the_open_are_told_by_start_or_end_in_any_zone(tmp_path, stamp, zone, stamps) -> None:
    hourly_frame(stamps).to_parquet(tmp_path / "hours.parquet")
    options = {"stamp": stamp} | ({"timezone": zone} if zone else {})
    bars = source(tmp_path / "hours.parquet", **options).fetch(BarRequest("SPY", "1h")).bars
    assert bars["start"].dt.strftime("%H:%M").tolist() == ["14:30", "15:30", "16:30", "17:30"]
    assert bars["end"].dt.strftime("%H:%M").tolist() == ["15:30", "16:30", "17:30", "18:00"]


def test_date_and_time_in_two_columns_are_one_stamp(tmp_path) -> None:
    text = "Date,Time,Close\n2018-11-23,09:30,1\n2018-11-23,10:30,2\n"
    bars = source(write(tmp_path / "A.csv", text)).fetch(BarRequest("A", "1h")).bars
    assert bars["start"].dt.strftime("%H:%M").tolist() == ["14:30", "15:30"]


def test_a_bar_after_the_close_keeps_its_times_and_is_set_aside(tmp_path) -> None:
    hourly_frame([f"2018-11-23 {hour}" for hour in [*HOURS, "13:00"]]).to_parquet(tmp_path / "hours.parquet")
    store = BarStore(tmp_path / "store")
    report = ingest(source(tmp_path / "hours.parquet"), store, symbols=None, interval="1h")
    assert report.commit.inserted == {"SPY": 4}
    assert store.quarantine()[["kind", "reason"]].to_numpy().tolist() == [
        ["off_grid", "no bar of the session runs from 18:00 to 19:00 UTC"]
    ]


def test_hours_asked_for_as_days_are_refused(tmp_path) -> None:
    hourly_frame([f"2018-11-23 {hour}" for hour in HOURS]).to_parquet(tmp_path / "hours.parquet")
    with pytest.raises(ConfigError, match="several to a date"):
        source(tmp_path / "hours.parquet").fetch(BarRequest("SPY", "1d"))
    with pytest.raises(NoSuchRangeError, match="hold '1h' bars"):
        source(tmp_path / "hours.parquet", interval="1h").fetch(BarRequest("SPY", "1d"))


def test_a_folder_is_read_with_its_archives_and_one_bad_file_fails_alone(tmp_path) -> None:
    write(tmp_path / "in" / "AAA.csv", YAHOO_EXPORT)
    write(tmp_path / "in" / "deep" / "BBB.csv", YAHOO_EXPORT)
    write(tmp_path / "in" / "BAD.csv", "what,is,this\n1,2,3\n")
    write(tmp_path / "in" / "README.md", "not data")
    write(tmp_path / "in" / ".hidden.csv", "not data")
    with zipfile.ZipFile(tmp_path / "in" / "more.zip", "w") as archive:
        archive.writestr("CCC.csv", YAHOO_EXPORT)
        archive.writestr("__MACOSX/._CCC.csv", "not data")
    files = source(tmp_path / "in")
    assert files.symbols() == ["AAA", "BAD", "BBB", "CCC"]
    report = ingest(files, BarStore(tmp_path / "store"), symbols=None)
    assert report.commit.inserted == {"AAA": 3, "BBB": 3, "CCC": 3}
    assert "no column found for" in report.failed["BAD"]


def test_an_archive_cannot_write_outside_itself(tmp_path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    with zipfile.ZipFile(inside / "evil.zip", "w") as archive:
        archive.writestr("../../EVIL.csv", YAHOO_EXPORT)
    files = source(inside / "evil.zip")
    assert files.symbols() == ["EVIL"]
    assert len(files.fetch(BarRequest("EVIL")).bars) == 3
    assert {path.name for path in tmp_path.rglob("*")} == {"a", "b", "evil.zip"}


@pytest.mark.parametrize("name", ["A.parquet", "A.zip"])
def test_a_file_that_is_not_what_its_ending_says_is_named(tmp_path, name) -> None:
    with pytest.raises(SourceError, match=re.escape(name)):
        source(write(tmp_path / name, "no such thing")).symbols()


def test_nothing_to_read_is_said(tmp_path) -> None:
    with pytest.raises(ConfigError, match="there is no file or folder"):
        source(tmp_path / "nowhere").symbols()
    with pytest.raises(ConfigError, match="holds no table"):
        source(tmp_path).symbols()


def test_a_symbol_that_no_file_holds_is_unknown(tmp_path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown symbol 'AAB'\. Did you mean 'AAA'"):
        source(write(tmp_path / "AAA.csv", YAHOO_EXPORT)).fetch(BarRequest("AAB"))


def test_a_fraction_of_a_unit_is_refused_by_name(tmp_path) -> None:
    files = source(write(tmp_path / "BTC.csv", "date,close,volume\n2018-12-31,3742.7,0.35\n"))
    with pytest.raises(SchemaError, match=r"column 'volume', row 0: 0\.35 is not a whole number"):
        files.fetch(BarRequest("BTC"))


def test_a_table_of_many_symbols_fails_only_those_whose_rows_are_wrong(tmp_path) -> None:
    path = write(tmp_path / "all.csv", "symbol,date,close\nAAA,2018-12-13,1.5\nBBB,2018-12-13,closed\n")
    files = source(path)
    assert files.symbols() == ["AAA", "BBB"]
    assert files.fetch(BarRequest("AAA")).bars["close"].tolist() == [1.5]
    with pytest.raises(SourceError, match=r"rows of 'BBB', column 'close', row 1: 'closed' is not a number"):
        files.fetch(BarRequest("BBB"))


def test_a_table_without_rows_is_named(tmp_path) -> None:
    with pytest.raises(SourceError, match=r"AAA\.csv holds no bars"):
        source(write(tmp_path / "AAA.csv", "date,close\n")).fetch(BarRequest("AAA"))


def test_files_with_stamps_of_different_kinds_are_each_understood(tmp_path) -> None:
    write(tmp_path / "a" / "AAA.csv", "date,close\n2018-12-13,1.5\n")
    write(tmp_path / "b" / "AAA.csv", "date,close\n2018-12-14T00:00:00Z,2.5\n")
    write(tmp_path / "c" / "AAA.csv", "date,close\n2018-12-17T16:00:00-05:00,3.5\n")
    bars = source(tmp_path).fetch(BarRequest("AAA")).bars.sort_values("session")
    assert bars["session"].dt.day.tolist() == [13, 14, 17]
    assert bars["close"].tolist() == [1.5, 2.5, 3.5]


def test_rows_keep_their_currencies(tmp_path) -> None:
    text = "date,close,currency\n2018-12-13,150,GBp\n2018-12-14,1.5,GBP\n"
    bars = source(write(tmp_path / "A.csv", text)).fetch(BarRequest("A")).bars
    assert bars["currency"].tolist() == ["GBp", "GBP"]


def test_whole_numbers_beside_a_gap_keep_every_digit(tmp_path) -> None:
    text = "date,close,volume\n2018-12-13,1.5,9007199254740993\n2018-12-14,1.5,\n"
    bars = source(write(tmp_path / "A.csv", text)).fetch(BarRequest("A")).bars
    assert bars["volume"].fillna(-1).tolist() == [9007199254740993, -1]


def test_what_is_not_there_is_blamed_on_no_kind_of_source(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "nowhere", tmp_path / "empty"):
        with pytest.raises(ConfigError, match=r"no file or folder|holds no table") as caught:
            source(path).symbols()
        assert "'files'" not in str(caught.value)
