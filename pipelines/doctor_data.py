"""Checks of the data: the store, calendars, tracking, the source, the nights that were."""

from __future__ import annotations

import base64
import http.client
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import pandas as pd

from fints.errors import ConfigError, SourceError, StoreError
from fints.tracking.redaction import redacted
from pipelines.doctor import Found
from pipelines.terminal import counted

if TYPE_CHECKING:
    from pipelines.doctor import Patient
    from pipelines.schedule_exchanges import Exchanges

_DAY = pd.Timedelta(days=1)
_SOON = 60 * _DAY
_OLD = 1460 * _DAY
_OFF, _FAR_OFF = 60.0, 900.0
"""Seconds by which a clock may differ from a server's: told, and failed."""

_LISTED = "`fints data verify` says what else is damaged"
_BACKUP = f"restore the folder from a backup; {_LISTED}"
_CURES = {
    "superseded": f"{_BACKUP}; or move it away: nights that were made again are then held to their newest forecasts "
    "alone. Until then no night can be made again, and none looks back"
}
"""What to do about a table that is damaged, where it is more than restoring it."""

_PATIENCE = 5.0
"""Seconds that a busy database is waited for."""

_ASKED = 10 * _DAY
_REFUSED = (http.client.UNAUTHORIZED, http.client.FORBIDDEN)


def store(patient: Patient) -> Found:
    """Find out whether every table can be opened and has its files; `fints data verify` reads them, too."""
    from deltalake import DeltaTable
    from pyarrow import table as arrow

    from fints.bars.damage import cure_of, damaged
    from fints.bars.store import BarStore
    from fints.bars.table import told

    root = patient.home.store
    if not root.is_dir():  # a file in its place is told by the check of the home
        return Found("ok", "nothing is stored yet")
    BarStore(root)  # refuses a folder that is not ours
    files, tables = 0, []
    for folder in sorted(root.iterdir()):
        cure = _CURES.get(folder.name, _BACKUP)
        if not (folder / "_delta_log").is_dir():
            if folder.is_dir() and any(folder.rglob("*.parquet")):
                return Found("failed", f"the table {folder} has no transaction log", cure)
            continue
        try:
            with told(f"open the table {folder}"):
                held = arrow(DeltaTable(str(folder)).get_add_actions(flatten=True)).to_pylist()
        except StoreError as error:
            return Found("failed", redacted(error), cure)
        wrong = damaged(folder, {one["path"]: one for one in held})
        if wrong:
            more = f"; and {counted(len(wrong) - 1, 'more file')} of this table" if len(wrong) > 1 else ""
            return Found("failed", f"{wrong[0]}{more}", _CURES.get(folder.name, f"{cure_of(folder)}; {_LISTED}"))
        files += len(held)
        tables.append(folder.name)
    return Found("ok", f"{counted(len(tables), 'table')} with {counted(files, 'file')}, each in its size")


def calendars(patient: Patient) -> Found:
    """Find out whether calendars are right about the days that are known, and reach far enough."""
    from fints.sessions import calendar_version, get_calendar
    from fints.sessions.calendars import check_known_days
    from fints.sessions.overrides import overrides
    from pipelines.waiting import following

    check_known_days()
    places = _exchanges(patient)
    said, short = [], []
    for name in places.names:
        calendar = get_calendar(name)
        if calendar.last_day < patient.now.tz_localize(None) + _SOON:
            short.append(f"{name} is known to {calendar.last_day:%Y-%m-%d} only")
            continue
        said.append(f"{name} closes next on {following([name], patient.now, pd.Timedelta(0)).when}")
    if short:
        return Found("failed", "; ".join(short), "pip install -U pandas-market-calendars exchange-calendars")
    days = [event.announced for name in ("XNYS", "XLON") for event in overrides(name).events]
    newest = pd.Timestamp(0) + pd.Timedelta(days=max(days))
    told = f"{', '.join(said)} ({places.origin}); {calendar_version()}, newest override of {newest:%Y-%m-%d}"
    if newest < patient.now.tz_localize(None) - _OLD:
        return Found(
            "warning", told, "closures announced since may be unknown: upgrade fints and the calendar packages"
        )
    return Found("ok", told)


def tracking(patient: Patient) -> Found:
    """Find out whether runs can be logged."""
    settings = patient.settings.tracking
    if not settings.enabled:
        return Found("ok", "switched off in the settings")
    return _local_tracking(patient) if settings.uri is None else _tracking_server(patient, settings.uri)


def _local_tracking(patient: Patient) -> Found:
    from fints.tracking import Database, require_schema

    database = Database(patient.home.root)
    if not database.ready():
        return Found("ok", "no run was logged yet; the database is made with the first")
    moved = database.moved_from(_PATIENCE)
    if moved:
        return Found("failed", f"the home was moved from {moved[0]}", "run `fints relocate`")
    schema = require_schema(database, _PATIENCE)
    with closing(sqlite3.connect(f"{database.file.as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    return Found("ok", f"{database.file.name} has {counted(count, 'run')}, schema {schema}")


def _tracking_server(patient: Patient, uri: str) -> Found:
    parts = urlsplit(uri)
    place = _origin(uri) if parts.hostname else f"{parts.scheme}://"
    if not parts.scheme.startswith("http"):
        return Found("ok", f"runs go to {place}, which was not tried")
    if patient.offline:
        return Found("ok", f"runs go to {place}, which was not asked (--offline)")
    status, _ = _ask(f"{_origin(uri)}{parts.path.rstrip('/')}/health", _authorization(uri))
    if status in _REFUSED:
        cure = "mend the user and the password in tracking.uri"
        return Found("failed", f"the tracking server {place} refuses this user ({status})", cure)
    if status != http.client.OK:
        cure = "start it, or mend tracking.uri"
        return Found("failed", f"the tracking server {place} does not answer ({status or 'nobody there'})", cure)
    return Found("ok", f"the tracking server {place} answers")


def source(patient: Patient) -> Found:
    """Ask the source for the last days of one symbol."""
    from fints.bars.sources import make_source
    from fints.bars.sources.base import BarRequest
    from pipelines.ingest import wanted_symbols

    settings = patient.settings
    if patient.offline:
        return Found("ok", "was not asked (--offline)")
    asked = make_source(settings.source)
    names = wanted_symbols(asked, settings)
    if not names:
        return Found("failed", "there is no symbol to ask for", "list them under `symbols`")
    name = names[0]
    start = patient.now.tz_localize(None).normalize() - _ASKED if asked.live else None
    try:
        delivery = asked.fetch(BarRequest(name, settings.interval, start, None, settings.exchange))
    except SourceError as error:
        return Found("failed", f"{name}: {error}", "see docs/ingestion.md for this kind of failure")
    if delivery.bars.empty:
        return Found("warning", f"{name}: nothing was delivered", "look whether the symbol still trades")
    last = pd.Timestamp(delivery.bars["session"].max())
    return Found("ok", f"{name}: {counted(len(delivery.bars), 'bar')} up to {last:%Y-%m-%d}")


def time_of_others(patient: Patient) -> Found:
    """Hold the clock against that of the source's server."""
    address = _address(patient)
    if patient.offline or not address:
        return Found("ok", "not compared with a server's clock" + (" (--offline)" if patient.offline else ""))
    before = pd.Timestamp.now("UTC")
    _, date = _ask(address)
    if not date:
        return Found(
            "warning", f"{urlsplit(address).hostname} tells no time", "see whether NTP is running on this machine"
        )
    off = abs((pd.Timestamp(parsedate_to_datetime(date)) - before).total_seconds())
    said = f"{off:.0f} s from that of {urlsplit(address).hostname}"
    if off > _FAR_OFF:
        return Found("failed", said, "set the clock right (NTP): bars would be taken for final too early or too late")
    return Found("warning", said, "set the clock right (NTP)") if off > _OFF else Found("ok", said)


def _address(patient: Patient) -> str:
    """Address of the server that bars come from, without what stands behind its name; empty where there is none."""
    source = patient.settings.source
    if source.kind == "yahoo":
        return "https://query1.finance.yahoo.com/"
    url = getattr(source, "url", None)
    if not isinstance(url, str):
        return ""
    return f"{_origin(url)}/"


def _origin(address: str) -> str:
    """Scheme, host and port of an address, without user and password."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"


def _authorization(address: str) -> str:
    """Say who asks, as servers want it (Basic); empty where neither the address nor MLflow's variables name anybody."""
    parts = urlsplit(address)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not user:
        user, password = (os.environ.get(f"MLFLOW_TRACKING_{name}", "") for name in ("USERNAME", "PASSWORD"))
    if not user:
        return ""
    named = f"{user}:{password}"
    return f"Basic {base64.b64encode(named.encode()).decode()}"


def _ask(address: str, authorization: str = "") -> tuple[int, str]:
    """Return status and date of an answer; a refusal is one, too. Status 0 where nobody answers."""
    request = Request(address, headers={"User-Agent": "fints"})
    if authorization:
        request.add_unredirected_header("Authorization", authorization)  # for this server alone
    try:
        with urlopen(request, timeout=5) as answer:
            return int(answer.status), str(answer.headers.get("Date", ""))
    except HTTPError as error:
        with error:
            return error.code, str(error.headers.get("Date", ""))
    except (OSError, http.client.HTTPException):  # what answers may be no web server
        return 0, ""


def last_night(patient: Patient) -> Found:
    """Find out how the last night ended, and whether one is overdue.

    Of a source that follows the market, nights of the schedule count: one that was asked for by ``--as-of`` says
    nothing of whether the scheduler runs.
    """
    from pipelines.doctor_nights import UNKNOWN, entries_of
    from pipelines.night_ledger import regular

    entries = entries_of(patient)
    if not entries:
        none = Found("ok", f"none of the dataset {patient.settings.dataset} has been run yet")
        return UNKNOWN if entries is None else none
    live = _follows_the_market(patient)
    nights = regular(entries, patient.now) if live else entries
    if not nights:
        cure = "let a scheduler run it (`fints schedule`); what is run with --as-of is no night of the schedule"
        return Found("warning", f"none of the dataset {patient.settings.dataset} was run by the schedule yet", cure)
    last = max(nights, key=lambda entry: (entry.as_of, entry.number) if live else (entry.number,))
    said = f"{last.night} is {last.state}" + (f" with code {last.exit_code}" if last.exit_code is not None else "")
    if last.state == "failed":
        return Found("failed", f"{said}: {last.reason}", "mend what it says; the next night makes up for it")
    if last.state == "begun":
        cure = "another run is at work, or it was killed; the next one completes it"
        return Found("warning", f"{said} and not ended", cure)
    overdue = _overdue(patient, max(entry.made_at for entry in nights if not entry.asked)) if live else 0
    if overdue:
        cure = "see whether the scheduler runs (`fints schedule`); the next night makes up for them"
        return Found("failed", f"{said}; {counted(overdue, 'session')} since without one", cure)
    return Found("ok", said)


def _overdue(patient: Patient, last: pd.Timestamp) -> int:
    """Count the nights that could have begun a day ago and more."""
    from pipelines.waiting import night_ends

    settle = pd.Timedelta(minutes=patient.settings.settle)
    names = _exchanges(patient).names
    ends = night_ends(names, min(last, patient.now), patient.now, settle)
    return sum(last < end.until <= patient.now - _DAY for end in ends)


def _exchanges(patient: Patient) -> Exchanges:
    """Find the exchanges; where the store cannot be read, which is told by its own check, those that are set."""
    from pipelines.schedule_exchanges import exchanges_named, exchanges_of

    try:
        return exchanges_of(patient.settings, patient.home)
    except ConfigError:
        return replace(exchanges_named(patient.settings), origin="as set or supposed, for the store cannot be read")


def _follows_the_market(patient: Patient) -> bool:
    from fints.bars.sources import make_source

    return bool(make_source(patient.settings.source).live)


def alerts(patient: Patient) -> Found:
    """Find out whether alerts can reach anybody; nothing is sent."""
    from pipelines.alerting_email import VARIABLE as PASSWORD
    from pipelines.alerting_webhook import VARIABLE as WEBHOOK

    settings, ways = patient.settings.alerts, []
    if os.environ.get(WEBHOOK) or settings.webhook.url is not None:
        ways.append("posted to a webhook")
    if settings.email is not None:
        ways.append(f"mailed by {settings.email.host}")
        if settings.email.user is not None and not os.environ.get(PASSWORD):
            return Found("failed", "alerts cannot be mailed without a password", f"set {PASSWORD} in the environment")
    if not ways:
        cure = "set alerts.webhook or alerts.email, or let the scheduler watch the exit code"
        return Found("warning", "alerts stand in the log and the exit code alone", cure)
    return Found("ok", f"alerts are {' and '.join(ways)}")
