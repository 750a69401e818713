"""Several sources as one."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.sources import make_source, parse_source
from fints.bars.sources.base import BarRequest, Delivery
from fints.bars.sources.chain import ChainSource, Member
from fints.bars.sources.cross_check import Bounds
from fints.bars.store import BarStore
from fints.errors import (
    ConfigError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownNameError,
    UnknownSymbolError,
)
from tests.bars.sources import provider

DAYS = {"2018-12-12": 10.0, "2018-12-13": 10.5, "2018-12-14": 11.25}
NOW = pd.Timestamp("2018-12-14 23:00", tz="UTC")
LOOSE = Bounds(0.005, 3.0)


class Fixed:
    """A source that answers from a frame, or raises."""

    live = True

    def __init__(self, name: str, answer: pd.DataFrame | Exception) -> None:
        self.name, self.answer, self.asked = name, answer, []

    def symbols(self) -> list[str]:
        return []

    def fetch(self, request: BarRequest) -> Delivery:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Delivery(self.answer.assign(source=self.name, symbol=request.symbol), notes=(f"note of {self.name}",))


def chain(*sources, bounds=None, spelled=None) -> ChainSource:
    return ChainSource([Member(source, (spelled or {}).get(source.name, {})) for source in sources], bounds)


FAILURES = [
    SourceError("odd"),
    TransientError("timed out"),
    RateLimitedError("slow down"),
    UnknownSymbolError("not known"),
    UnknownNameError("symbol", "AAA", ["BBB"]),
    NoSuchRangeError("no such dates"),
    ConfigError("set the exchange"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_where_one_source_fails_the_next_is_asked_and_the_note_says_why(make_bars, failure) -> None:
    second = Fixed("second", make_bars(DAYS))
    told = chain(Fixed("first", failure), second).fetch(BarRequest("AAA"))
    assert told.bars["source"].unique().tolist() == ["second"]
    assert told.notes == (f"first did not deliver ({failure}); second did", "note of second")


def test_an_answer_without_bars_counts_as_a_failure(make_bars) -> None:
    told = chain(Fixed("first", make_bars({})), Fixed("second", make_bars(DAYS))).fetch(BarRequest("AAA"))
    assert len(told.bars) == 3
    assert "first delivered no bar of 'AAA' (1d)" in told.notes[0]


def test_where_the_first_delivers_no_other_is_asked(make_bars) -> None:
    second = Fixed("second", make_bars(DAYS))
    assert chain(Fixed("first", make_bars(DAYS)), second).fetch(BarRequest("AAA")).notes == ("note of first",)
    assert second.asked == []


@pytest.mark.parametrize(
    ("causes", "error"),
    [
        ((RateLimitedError("x"), RateLimitedError("y")), RateLimitedError),
        ((RateLimitedError("x"), UnknownSymbolError("y")), TransientError),
        ((UnknownSymbolError("x"), TransientError("y")), TransientError),
        ((UnknownSymbolError("x"), UnknownNameError("symbol", "y", [])), UnknownSymbolError),
        ((UnknownSymbolError("x"), NoSuchRangeError("y")), SourceError),
        ((NoSuchRangeError("x"), NoSuchRangeError("y")), NoSuchRangeError),
        ((ConfigError("x"), ConfigError("y")), ConfigError),
        ((ConfigError("x"), SourceError("y")), SourceError),
    ],
)
def test_where_all_fail_every_cause_is_named_and_the_class_is_the_right_one(causes, error) -> None:
    with pytest.raises(error) as caught:
        chain(*(Fixed(f"s{place}", cause) for place, cause in enumerate(causes))).fetch(BarRequest("AAA"))
    assert type(caught.value) is error
    assert re.match(r"no source delivered 'AAA' \(1d\)\. s0: .*x.*; s1: .*y", str(caught.value)) or "unknown" in str(
        caught.value
    )


def test_a_source_that_asks_to_slow_down_is_asked_no_more_in_this_run(make_bars) -> None:
    first, second = Fixed("first", RateLimitedError("slow down")), Fixed("second", make_bars(DAYS))
    both = chain(first, second)
    told = [both.fetch(BarRequest(symbol)).notes[0] for symbol in ("AAA", "BBB", "CCC")]
    assert len(first.asked) == 1
    assert told[0] == "first did not deliver (slow down); second did"
    assert set(told[1:]) == {"first did not deliver (not asked any more in this run, after: slow down); second did"}
    both.symbols()
    both.fetch(BarRequest("AAA"))
    assert len(first.asked) == 2


def test_where_all_ask_to_slow_down_they_are_asked_again_after_the_pause(make_bars) -> None:
    first, second = Fixed("first", RateLimitedError("slow down")), Fixed("second", RateLimitedError("wait"))
    both = chain(first, second)
    with pytest.raises(RateLimitedError):
        both.fetch(BarRequest("AAA"))
    first.answer = make_bars(DAYS)
    assert both.fetch(BarRequest("AAA")).bars["source"].unique().tolist() == ["first"]


def test_a_limit_of_the_second_source_ends_the_cross_check_with_one_note(make_bars) -> None:
    first, second = Fixed("first", make_bars(DAYS)), Fixed("second", RateLimitedError("slow down"))
    both = chain(first, second, bounds=LOOSE)
    told = [both.fetch(BarRequest(symbol)).notes for symbol in ("AAA", "BBB", "CCC")]
    assert told == [
        ("not cross-checked, first against second, nor is any further symbol of this run: slow down", "note of first"),
        ("note of first",),
        ("note of first",),
    ]
    assert (len(first.asked), len(second.asked)) == (3, 1)


def test_a_chain_is_as_patient_as_its_first_patient_source(tmp_path) -> None:
    http = {"kind": "http", "url": "https://bars.example.com/{symbol}", "attempts": 5, "workers": 4}
    files = {"kind": "files", "path": str(tmp_path)}
    behind = make_source(parse_source({"kind": "chain", "sources": [files, http]})).patience
    assert (behind.attempts, behind.workers) == (5, 1)
    before = make_source(parse_source({"kind": "chain", "sources": [http, files]})).patience
    assert (before.attempts, before.workers) == (5, 4)


def test_a_bar_corrected_long_ago_is_taken_from_a_folder_with_files_behind_it(tmp_path) -> None:
    from fints.sessions import get_calendar

    sessions = get_calendar("XNYS").sessions("2018-11-01", "2018-12-14").strftime("%Y-%m-%d")
    text = "date,close\n" + "".join(f"{day},{10 + place}\n" for place, day in enumerate(sessions))
    (tmp_path / "in").mkdir()
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "BBB.csv").write_text(text)
    members = [
        {"kind": "folder", "path": str(tmp_path / "in"), "quiet": 0},
        {"kind": "files", "path": str(tmp_path / "archive")},
    ]
    store = BarStore(tmp_path / "store")
    for written in (text, text.replace("2018-11-02,11\n", "2018-11-02,11.25\n")):
        (tmp_path / "in" / "AAA.csv").write_text(written)
        both = make_source(parse_source({"kind": "chain", "sources": members}))
        report = ingest(both, store, symbols=["AAA"], now=NOW + pd.Timedelta(days=3))
    assert report.commit.revised == {"AAA": 1}
    assert store.read()["close"].iloc[1] == 11.25


def test_each_source_is_asked_by_its_own_spelling_and_answers_by_ours(make_bars) -> None:
    first, second = Fixed("first", TransientError("away")), Fixed("second", make_bars(DAYS))
    told = chain(first, second, spelled={"second": {"BRK-B": "BRK.B"}}).fetch(BarRequest("BRK-B"))
    assert [request.symbol for source in (first, second) for request in source.asked] == ["BRK-B", "BRK.B"]
    assert told.bars["symbol"].unique().tolist() == ["BRK-B"]


def test_bars_that_differ_between_two_sources_are_found_and_the_first_ones_stay(make_bars) -> None:
    first, second = make_bars(DAYS), make_bars(DAYS | {"2018-12-13": 10.6})
    second.loc[2, "volume"] = 9000
    told = chain(Fixed("first", first), Fixed("second", second), bounds=LOOSE).fetch(BarRequest("AAA"))
    assert [(f.kind, f.severity, f"{f.session:%m-%d}", f.reason) for f in told.findings] == [
        ("sources_differ", "suspect", "12-13", "the close is 10.5 at first and 10.6 at second"),
        ("sources_differ", "suspect", "12-14", "the volume is 1000 at first and 9000 at second"),
    ]
    assert told.bars["close"].tolist() == list(DAYS.values())


def test_sources_on_different_bases_are_one_finding(make_bars) -> None:
    halved = make_bars({day: close / 2 for day, close in DAYS.items()})
    told = chain(Fixed("first", make_bars(DAYS)), Fixed("second", halved), bounds=LOOSE).fetch(BarRequest("AAA"))
    assert [f.reason for f in told.findings] == ["3 of 3 bars differ: the close of second is 0.5 times that of first"]


@pytest.mark.parametrize(
    ("bounds", "factor", "volume", "found"),
    [(LOOSE, 1.004, 2500, 0), (LOOSE, 1.006, 1000, 1), (Bounds(0.01, 3.0), 1.006, 1000, 0), (LOOSE, 1, 4000, 1),
     (Bounds(0.005, None), 1, 4000, 0), (LOOSE, 1, 0, 0)],
)  # fmt: skip
def test_what_lies_within_the_bounds_or_is_not_there_is_no_difference(make_bars, bounds, factor, volume, found) -> None:
    second = make_bars({"2018-12-13": 10.5 * factor, "2018-12-17": 99.0}, volume=volume)
    told = chain(Fixed("first", make_bars(DAYS)), Fixed("second", second), bounds=bounds).fetch(BarRequest("AAA"))
    assert len(told.findings) == found


def test_a_second_source_that_fails_leaves_a_note(make_bars) -> None:
    first = Fixed("first", make_bars(DAYS))
    told = chain(first, Fixed("second", TransientError("away")), bounds=LOOSE).fetch(BarRequest("AAA"))
    assert told.notes[0] == "not cross-checked, first against second: away"
    alone = chain(Fixed("zero", TransientError("away")), first, bounds=LOOSE).fetch(BarRequest("AAA"))
    assert alone.notes[:2] == (
        "zero did not deliver (away); first did",
        "not cross-checked, first: there is no further source",
    )


def test_findings_of_a_cross_check_are_stored_and_stand_until_they_are_gone(make_bars, tmp_path) -> None:
    store = BarStore(tmp_path / "store")
    second = Fixed("second", make_bars(DAYS | {"2018-12-13": 10.6}))
    both = chain(Fixed("first", make_bars(DAYS)), second, bounds=LOOSE)
    report = ingest(both, store, symbols=["AAA"], now=NOW)
    assert [finding.kind for finding in report.findings] == ["sources_differ"]
    assert store.findings()["reason"].tolist() == ["the close is 10.5 at first and 10.6 at second"]
    assert store.read()["close"].tolist() == list(DAYS.values())
    assert store.quarantine().empty


def test_the_configuration_tells_sources_and_spellings_apart(tmp_path) -> None:
    with provider.Provider() as server:
        server.replies = [provider.Reply(b"date,close\n2018-12-13,10.5\n2018-12-14,11.25\n")]
        (tmp_path / "AAA.csv").write_text("date,close\n2018-12-14,11.25\n")
        config = parse_source(
            {
                "kind": "chain",
                "sources": [
                    {"kind": "files", "path": str(tmp_path)},
                    {
                        "kind": "http",
                        "url": f"{server.address}/{{symbol}}",
                        "symbols": {"BRK-B": "BRK.B"},
                        "name": "acme",
                    },
                ],
                "cross_check": True,
            }
        )
        assert type(config).model_validate(config.model_dump()) == config
        both = make_source(config)
        told = both.fetch(BarRequest("BRK-B"))
        assert (told.bars["source"].iloc[0], server.asked[0][0]) == ("acme", "/BRK.B")
        assert "files did not deliver (unknown symbol 'BRK-B'" in told.notes[0]
        assert both.fetch(BarRequest("AAA")).bars["source"].tolist() == ["files"]
        assert len(server.asked) == 2
        assert both.symbols() == ["AAA"]


def test_two_sources_of_one_kind_are_told_apart_by_their_names(tmp_path) -> None:
    sources = []
    for name, close in (("first", 1.5), ("second", 2.5)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.csv").write_text(f"date,close\n2018-12-14,{close}\n")
        sources.append({"kind": "folder", "path": str(tmp_path / name), "quiet": 0, "name": name})
    config = parse_source({"kind": "chain", "sources": sources})
    assert type(config).model_validate(config.model_dump()) == config
    both = make_source(config)
    assert both.symbols() == ["first", "second"]
    told = both.fetch(BarRequest("second"))
    assert (told.bars["source"].tolist(), told.bars["close"].tolist()) == (["second"], [2.5])
    assert told.notes[0].startswith("first did not deliver (no file in")
    assert both.fetch(BarRequest("first")).bars["source"].tolist() == ["first"]


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([{"kind": "sample"}], "at least 2"),
        ([{"kind": "sample"}, {"kind": "sample"}], "two sources are called 'sample'"),
        ([{"kind": "sample"}, {"kind": "chain", "sources": []}], "chain"),
        ([{"kind": "sample"}, {"kind": "yahoo", "symbols": {True: "NO"}}], "symbol True as bool; put it in quotes"),
        ([{"kind": "sample"}, {"kind": "yahoo", "symbols": {"NO": 1e5}}], r"symbol 100000\.0 as float"),
        ([{"kind": "sample"}, {"kind": "yahoo", "wrong": 1}], "wrong"),
    ],
)
def test_a_chain_that_cannot_be_is_refused_with_the_settings(sources, message) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_source({"kind": "chain", "sources": sources})


def test_a_missing_token_of_a_later_source_is_known_before_any_request(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("BARS_TOKEN", raising=False)
    later = {"kind": "http", "url": "http://127.0.0.1:9/{symbol}", "token_env": "BARS_TOKEN"}
    both = make_source(parse_source({"kind": "chain", "sources": [{"kind": "sample"}, later]}))
    with pytest.raises(ConfigError, match="BARS_TOKEN"):
        ingest(both, BarStore(tmp_path / "store"), symbols=["^GSPC"], now=NOW)


def test_a_fallback_on_another_basis_leaves_one_basis_at_every_version(make_bars, tmp_path) -> None:
    """A vendor of prices as traded stands in for one that adjusts for a split two for one."""
    from fints.sessions import get_calendar

    sessions = get_calendar("XNYS").sessions("2018-11-01", "2018-12-18").strftime("%Y-%m-%d")
    adjusted = make_bars({day: 50.0 + place * 0.1 for place, day in enumerate(sessions)})
    traded = adjusted.assign(**{name: adjusted[name] * 2 for name in ("open", "high", "low", "close", "adj_close")})
    store, first, second = BarStore(tmp_path / "store"), Dated("first", adjusted), Dated("second", traded)
    both = chain(first, second)
    for day, away in (("2018-12-14", None), ("2018-12-17", TransientError("away")), ("2018-12-18", None)):
        first.failure = away
        report = ingest(both, store, symbols=["AAA"], now=pd.Timestamp(f"{day} 23:00", tz="UTC"))
        assert report.failed == {}
        bars = store.read()
        assert len(bars) == (sessions <= day).sum()
        steps = bars["close"].to_numpy()[1:] / bars["close"].to_numpy()[:-1]
        assert steps.max() < 1.01
        assert bars["source"].unique().tolist() == ["second" if away else "first"]
        assert bool(report.notes and "first did not deliver (away)" in report.notes["AAA"][0]) == (away is not None)
    assert report.restated["rows"].sum() == len(sessions) - 1


class Dated(Fixed):
    """One that delivers what was asked for, or fails as long as it has a failure."""

    failure: Exception | None = None

    def fetch(self, request: BarRequest) -> Delivery:
        if self.failure is not None:
            raise self.failure
        told = super().fetch(request)
        inside = told.bars["session"].between(request.start or pd.Timestamp(0), request.end or pd.Timestamp.max)
        return Delivery(told.bars[inside].reset_index(drop=True))
