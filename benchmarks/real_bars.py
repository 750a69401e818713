"""Real bars: splits found in raw prices, a recycled symbol, a symbol with a hole, and hours that are missing.

It reads market data that are not part of the repository: a folder with ``us_daily.parquet`` (unadjusted daily bars of
SPY, AAPL, BAC, QQQ, GOOG, EEM), ``us_hourly.parquet`` and ``us_adjustment_factors.csv``, by default ``../shared/data``.
Run ``python -m benchmarks.real_bars [FOLDER]``; the result is written to ``benchmarks/results/<date>-real-bars.md``.
Every statement is set against a count that does not use fints.
"""

from __future__ import annotations

import datetime
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.basis import adjust, find_splits
from fints.bars.ingest import ingest
from fints.bars.instruments import instruments
from fints.bars.sources import make_source, parse_source
from fints.bars.store import BarStore

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = Path(__file__).parent / "results"
FOLDER = Path("../shared/data")
_ROUNDED = 1e-5  # the published factors have six digits
# on the first anniversary the exchange opened at noon; the package that counts by hand does not know it
_LATE = {pd.Timestamp("2002-09-11"): 12}
_SOURCE = {"kind": "files", "exchange": "XNYS"}


def fill(store: BarStore, folder: Path, interval: str) -> None:
    """Ingest one of the two files."""
    path = folder / ("us_daily.parquet" if interval == "1d" else "us_hourly.parquet")
    report = ingest(make_source(parse_source({**_SOURCE, "path": str(path)})), store, symbols=None, interval=interval)
    if report.failed:
        raise SystemExit(f"{path}: {report.failed}")


def published_splits(folder: Path) -> pd.DataFrame:
    """Return the splits that the published factors state: ``symbol, until`` (last session before) and ``value``."""
    table = pd.read_csv(folder / "us_adjustment_factors.csv", parse_dates=["until"], keep_default_na=False)
    table = table.sort_values(["symbol", "until"])
    ratio = table.groupby("symbol")["split_factor"].shift(-1) / table["split_factor"]
    return table.assign(value=ratio).loc[(ratio - 1).abs() > _ROUNDED, ["symbol", "until", "value"]]


def split_factor(folder: Path, symbol: str, sessions: pd.Series) -> np.ndarray:
    """Return the published split factor of each session, shape (sessions,): that of the first row not before it."""
    table = pd.read_csv(folder / "us_adjustment_factors.csv", parse_dates=["until"], keep_default_na=False)
    own = table[table["symbol"] == symbol].sort_values("until")
    place = np.searchsorted(own["until"].to_numpy(), sessions.to_numpy()).clip(max=len(own) - 1)
    return own["split_factor"].to_numpy()[place]


def splits(store: BarStore, folder: Path) -> Iterator[str]:
    """Compare the splits found in the prices with the published ones."""
    bars = store.read()
    found = find_splits(bars)
    adjusted = adjust(bars)
    told = published_splits(folder)
    yield "| symbol | first session after | new shares for one | published | largest difference of an adjusted close |"
    yield "| --- | --- | --- | --- | --- |"
    for row in found.itertuples():
        before = bars.loc[(bars["symbol"] == row.symbol) & (bars["session"] < row.session), "session"].max()
        same = told[(told["symbol"] == row.symbol) & (told["until"] == before)]
        stated = f"{same['value'].iloc[0]:.4g}" if len(same) else "no"
        own = bars["symbol"] == row.symbol
        wanted = bars.loc[own, "close"] * split_factor(folder, row.symbol, bars.loc[own, "session"])
        inside = bars.loc[own, "session"] >= (pd.Timestamp("2003-04-11") if row.symbol == "EEM" else pd.Timestamp(0))
        worst = (adjusted.loc[own, "close"] / wanted - 1).abs()[inside].max()
        yield f"| {row.symbol} | {row.session:%Y-%m-%d} | {row.value:g} | {stated} | {worst:.1e} |"
    matched = {
        (row.symbol, bars.loc[(bars["symbol"] == row.symbol) & (bars["session"] < row.session), "session"].max())
        for row in found.itertuples()
    }
    missed = [
        f"{row.symbol} {row.until:%Y-%m-%d} (× {row.value:.6g})"
        for row in told.itertuples()
        if (row.symbol, row.until) not in matched
    ]
    extra = len(matched) - len(told) + len(missed)
    yield ""
    yield f"Published and not found: {', '.join(missed) or 'none'}. Found and not published: {extra}."
    yield (
        "GOOG's factors begin with the shares of class C, so that the two for one of 2014 is not among them; the "
        "factor of 2015 paid its holders a few shares in a thousand, too few to be told from an overnight move."
    )


def symbols(store: BarStore, folder: Path) -> Iterator[str]:
    """Say which instruments the symbols EEM and QQQ name, and which holes they have."""
    raw = pd.read_parquet(folder / "us_daily.parquet")
    yield "| symbol | instrument | first | last | rows |"
    yield "| --- | --- | --- | --- | --- |"
    for row in instruments(store.read(["EEM", "QQQ"])).itertuples():
        yield f"| {row.symbol} | {row.instrument} | {row.first:%Y-%m-%d} | {row.last:%Y-%m-%d} | {row.rows} |"
    yield ""
    findings = store.findings(["EEM", "QQQ"])
    for row in findings[findings["kind"].isin(["long_hole", "recycled_symbol"])].itertuples():
        yield f"- {row.symbol}, {row.kind}: {row.reason}."
    for symbol in ("EEM", "QQQ"):
        days = pd.DatetimeIndex(raw.loc[raw["symbol"] == symbol, "session"].sort_values())
        at = int(np.argmax(np.diff(days)))
        yield f"- By hand: the widest gap of {symbol} lies between {days[at]:%Y-%m-%d} and {days[at + 1]:%Y-%m-%d}."


def hours(store: BarStore, folder: Path) -> Iterator[str]:
    """List the hours that are missing, and count them again by hand."""
    findings = store.findings()
    gaps = findings[(findings["interval"] == "1h") & findings["kind"].isin(["missing_bars", "long_hole"])]
    told = [SimpleNamespace(**row) for row in gaps.to_dict("records")]
    ours = {(row.symbol, f"{row.session:%Y-%m-%d}", json.loads(row.values)["count"]) for row in told}
    yield from (f"- {row.symbol}: {row.reason}." for row in told)
    by_hand = {(symbol, f"{day:%Y-%m-%d}", len(lacking)): lacking for symbol, day, lacking in _missing_hours(folder)}
    for (symbol, day, _), lacking in by_hand.items():
        yield f"- By hand: {symbol} on {day} lacks the bars that begin at {', '.join(lacking)} in New York."
    yield ""
    yield f"Days found: {len(ours)}, by hand: {len(by_hand)}, {'the same' if ours == set(by_hand) else 'NOT the same'}."
    aside = store.quarantine()
    aside = aside[(aside["interval"] == "1h") & (aside["kind"] == "off_grid")]
    early = sorted(aside["session"].dt.strftime("%Y-%m-%d").unique())
    yield (
        f"Set aside as no bar of their session: {len(aside)} rows on {len(early)} days ({early[0]} to {early[-1]}), "
        "hours outside the shortened sessions of those days."
    )


def _missing_hours(folder: Path) -> list[tuple[str, pd.Timestamp, list[str]]]:
    """Count with pandas and another package of calendars: each clock hour of a session should have a row."""
    import exchange_calendars

    rows = pd.read_parquet(folder / "us_hourly.parquet")
    stamps = pd.to_datetime(rows["bar_start_exchange_time"])
    have = set(zip(rows["symbol"], stamps, strict=True))
    last = stamps.max().normalize()
    schedule = exchange_calendars.get_calendar("XNYS", start="1998-01-02", end=last).schedule
    found = []
    for symbol in sorted(rows["symbol"].unique()):
        for day, opens, closes in schedule[["open", "close"]].itertuples():
            first, end = (moment.tz_convert("America/New_York").tz_localize(None) for moment in (opens, closes))
            first = day + pd.Timedelta(hours=_LATE[day]) if day in _LATE else first
            wanted = pd.date_range(first.floor("h"), end - pd.Timedelta(minutes=1), freq="h")
            lacking = [f"{hour:%H:%M}" for hour in wanted if (symbol, hour) not in have]
            if lacking:
                found.append((symbol, day, lacking))
    return found


def main() -> int:
    """Ingest, compare, print, write."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    if not (folder / "us_daily.parquet").exists():
        print(f"there are no market data in {folder}; give their folder: python -m benchmarks.real_bars FOLDER")
        return 2
    today = datetime.datetime.now(tz=datetime.UTC).date()
    lines = [
        f"# Real bars, {today}",
        "",
        "What the checks say of real market data, and what a count without them says.",
    ]
    with tempfile.TemporaryDirectory() as place:
        store = BarStore(Path(place) / "store")
        for interval in ("1d", "1h"):
            fill(store, folder, interval)
        parts = {
            "Splits in raw prices": splits,
            "A recycled symbol and a renamed one": symbols,
            "Hours that are missing": hours,
        }
        for title, part in parts.items():
            lines += ["", f"## {title}", "", *part(store, folder)]
        problems = store.verify()
        lines += ["", f"`fints data verify`: {'; '.join(problems) or 'sound'}."]
    text = "\n".join(lines) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-real-bars.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
