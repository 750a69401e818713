"""The commands about rows set aside: ``fints data quarantine …``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import reported

if TYPE_CHECKING:
    import pandas as pd

    from fints.bars.releases import Decision
    from fints.bars.store import BarStore

quarantine = typer.Typer(no_args_is_help=True, help="Rows that the checks set aside: list, release, drop.")

Ids = Annotated[list[str], typer.Argument(help="Ids of rows, as `list` shows them; the first digits will do.")]
Force = Annotated[
    bool, typer.Option("--force", help="Also where a bar with other values is stored in its place: it is revised.")
]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept with the decision.")]

_SHOWN = [
    "id", "symbol", "interval", "session", "kind", "open", "high", "low", "close", "volume", "currency", "state",
    "reason",
]  # fmt: skip


@quarantine.command("list")
def list_rows(  # noqa: PLR0913, PLR0917 - filters
    symbol: Annotated[list[str] | None, typer.Option("--symbol", help="Only of this symbol; may be repeated.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only of this kind; may be repeated.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only sessions from this date on.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also rows that were released or dropped.")] = False,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """List the rows set aside that nobody has decided about, or all of them.

    A row is superseded where a bar of the same symbol and session is stored: mostly the right one, which came later.
    """
    with reported():
        store = _store(config, overrides)
        rows = _chosen(store.quarantine(), symbol, kind, since)
        shown = rows if everything else rows[rows["state"] == "open"]
        shown = shown.assign(state=shown["state"].where(~shown["superseded"], "superseded"))
        from pipelines.terminal import counted, plain_table

        settled = len(rows) - len(shown)
        gone = int(shown["superseded"].sum())
        more = f", {gone} superseded by a stored bar" if gone else ""
        more += f"; {settled} released or dropped, see --all" if settled else ""
        screen().print(plain_table(shown[_SHOWN], f"{counted(len(shown), 'row')} in quarantine{more}"))
        write_json(json_file, _records(shown))


@quarantine.command()
def release(
    ids: Ids,
    reason: Reason,
    force: Force = False,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Put rows into the bars after all, as a new version; the same rows are not set aside again."""
    with reported():
        decision = _store(config, overrides).release(ids, reason, force=force)
        commit = decision.commit
        _tell(decision, "released")
        for symbol, count in sorted(commit.revised.items() if commit else ()):
            _say(f"{symbol}: {count} of them revised a bar that was stored; the older version stays readable")
        if commit is not None:
            _say(f"version {commit.version} of the bars")
        _write(json_file, decision)


@quarantine.command()
def drop(
    ids: Ids, reason: Reason, config: Config = None, overrides: Overrides = None, json_file: JsonFile = None
) -> None:
    """Dismiss rows for good: they are kept, and no longer listed."""
    with reported():
        decision = _store(config, overrides).drop(ids, reason)
        _tell(decision, "dropped")
        _write(json_file, decision)


def _store(config: Config, overrides: Overrides) -> BarStore:
    nightly_settings(config, overrides)
    from fints.bars.store import BarStore
    from pipelines.home import Home

    return BarStore(Home.from_environment().store)


def _chosen(rows: pd.DataFrame, symbols: list[str] | None, kinds: list[str] | None, since: str | None) -> pd.DataFrame:
    """Filter rows in quarantine.

    Raises
    ------
    UnknownNameError
        A kind that no finding has.
    DateError
        ``since`` is no date.
    """
    from fints.bars.finding import KINDS
    from fints.errors import UnknownNameError

    for kind in kinds or ():
        if kind not in KINDS:
            raise UnknownNameError("kind of finding", kind, KINDS)
    chosen = rows[rows["symbol"].isin(symbols)] if symbols else rows
    chosen = chosen[chosen["kind"].isin(kinds)] if kinds else chosen
    return chosen[chosen["session"] >= _date(since)] if since is not None else chosen


def _date(text: str) -> pd.Timestamp:
    import pandas as pd

    from fints.errors import DateError

    try:
        date = pd.Timestamp(text)
    except ValueError as error:
        raise DateError(f"--since {text!r} is no date; write it as 2024-05-31") from error
    if pd.isna(date) or date.tz is not None:
        raise DateError(f"--since {text!r} is no date of a session; write it as 2024-05-31")
    return date


def _tell(decision: Decision, done: str) -> None:
    from pipelines.terminal import counted

    fresh = len(decision.rows) - len(decision.again)
    _say(f"{counted(fresh, 'row')} {done}")
    for known in decision.again:
        _say(f"{known} had been {done} before")


def _say(text: str) -> None:
    screen().print(text, highlight=False, markup=False, soft_wrap=True)


def _write(json_file: JsonFile, decision: Decision) -> None:
    commit = decision.commit
    told: dict[str, object] = {"ids": list(decision.rows["id"]), "again": list(decision.again)}
    if commit is not None:
        told |= {"version": commit.version, "inserted": commit.inserted, "revised": commit.revised}
    write_json(json_file, told)


def _records(rows: pd.DataFrame) -> list[dict[str, object]]:
    released = rows["decided_at"].where(rows["state"] == "released")
    told: list[dict[str, object]] = json.loads(
        rows.drop(columns="superseded").assign(released_at=released).to_json(orient="records", date_format="iso")
    )
    return told
