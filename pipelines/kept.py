"""What was reported before: backtests, searches and nights, with their verdicts; and a backtest uploaded later."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from fints.errors import FintsError, UnknownNameError
from fints.settings import BacktestSettings, Section, TrackingSettings, read_settings
from fints.tracking.redaction import redacted
from pipelines.kept_backtest import PAGE, RESULT, TEXT, load, note_run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipelines.backtest import Backtest
    from pipelines.home import Home


class _Server(Section):
    uri: str | None = None


class _Elsewhere(Section):
    tracking: _Server = _Server()


@dataclass(frozen=True, slots=True)
class KeptReport:
    """A report on disk.

    Parameters
    ----------
    name : str
    kind : {"backtest", "tuning", "night"}
    page : Path
    verdict : tuple of str
        The first sentence of every target.
    made : str
        When, as it was written down; of a night, the as-of is in its name.
    logged : bool, optional
        Whether it is in MLflow; None where that was not wanted, or is not known.
    """

    name: str
    kind: str
    page: Path
    verdict: tuple[str, ...]
    made: str = ""
    logged: bool | None = None

    def text(self) -> str:
        """Return the report as Markdown."""
        try:
            return "\n".join(self.verdict) if self.kind == "night" else (self.page.parent / TEXT).read_text("utf-8")
        except OSError:
            return "\n\n".join(self.verdict)

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "name": self.name,
            "kind": self.kind,
            "page": str(self.page),
            "verdict": list(self.verdict),
            "made": self.made,
            "logged": self.logged,
        }


def kept_reports(home: Home) -> list[KeptReport]:
    """List the reports under a home: backtests, then searches, then nights, each by name."""
    backtests = [_backtest(file.parent) for file in sorted((home.reports / "backtests").glob(f"*/{RESULT}"))]
    nights = [
        KeptReport(page.stem, "night", page, _lead(page)) for page in sorted((home.reports / "nightly").glob("*.html"))
    ]
    searches = [_search(file.parent) for file in sorted((home.reports / "tuning").glob(f"*/{RESULT}"))]
    return [*backtests, *searches, *nights]


def kept_report(home: Home, name: str) -> KeptReport:
    """Return a report by its name.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    reports = {report.name: report for report in kept_reports(home)}
    if name not in reports:
        raise UnknownNameError("report", name, reports)
    return reports[name]


def elsewhere(overrides: Iterable[str], config: Path | None = None) -> TrackingSettings:
    """Read where kept backtests are to be uploaded instead of where their own settings say.

    Parameters
    ----------
    overrides : iterable of str
        ``tracking.uri=…``: all else was decided when a backtest was run.
    config : Path, optional
        Settings of a backtest, of which nothing but the server is taken; `overrides` prevail.

    Raises
    ------
    ConfigError
        If there is another key among them, naming it.
    """
    said = read_settings(_Elsewhere, None, overrides).tracking
    if config is None or "uri" in said.model_fields_set:
        return TrackingSettings(uri=said.uri)
    return TrackingSettings(uri=read_settings(BacktestSettings, config).tracking.uri)


def resend(home: Home, name: str | None = None, to: TrackingSettings | None = None) -> dict[str, str | FintsError]:
    """Upload kept backtests to MLflow.

    Parameters
    ----------
    home : Home
    name : str, optional
        Of one, whether it was uploaded before or not; by default all that should be in MLflow and are not.
    to : TrackingSettings, optional
        Where to; by default, where each backtest's own settings say.

    Returns
    -------
    dict of str to str or FintsError
        By name, the id of the run, or why it could not be uploaded.

    Raises
    ------
    UnknownNameError
        If there is no backtest of that name.
    """
    backtests = {report.name: report for report in kept_reports(home) if report.kind == "backtest"}
    if name is not None and name not in backtests:
        raise UnknownNameError("backtest", name, backtests)
    wanted = [report for report in backtests.values() if report.logged is False] if name is None else [backtests[name]]
    return {report.name: _resend(report.page.parent, home, to) for report in wanted}


def _resend(folder: Path, home: Home, to: TrackingSettings | None) -> str | FintsError:
    from pipelines.backtest_runs import track

    try:
        run_id = track(_bound_for(load(folder), to), home, folder / PAGE)
    except FintsError as error:
        return error
    except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the others are tried too
        said = redacted(error)
        return FintsError(f"MLflow did not take it: {said}; start its server, or check tracking.uri, and try again")
    try:
        note_run(folder, run_id)
    except (OSError, FintsError) as error:
        return FintsError(f"it was uploaded as run {run_id}, but that could not be written down in {folder}: {error}")
    return run_id


def _bound_for(done: Backtest, to: TrackingSettings | None) -> Backtest:
    """Return a backtest that goes to another tracking server."""
    return done if to is None else replace(done, settings=done.settings.model_copy(update={"tracking": to}))


def _backtest(folder: Path) -> KeptReport:
    try:
        value = json.loads((folder / RESULT).read_text("utf-8"))
        wanted = bool(value["settings"]["tracking"]["enabled"])
        logged = True if value["run_id"] is not None else False if wanted else None
        return KeptReport(folder.name, "backtest", folder / PAGE, tuple(value["verdict"]), str(value["made"]), logged)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return KeptReport(folder.name, "backtest", folder / PAGE, (f"damaged: {error}; run it again",))


def _search(folder: Path) -> KeptReport:
    try:
        value = json.loads((folder / RESULT).read_text("utf-8"))
        logged = True if value["mlflow_run"] is not None else False if value["tracked"] else None
        said = (str(value["verdict"]), *([value["test"]["sentence"]] if value["test"] is not None else []))
        return KeptReport(folder.name, "tuning", folder / PAGE, said, str(value["made"]), logged)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return KeptReport(folder.name, "tuning", folder / PAGE, (f"damaged: {error}; run it again",))


class _Leads(HTMLParser):
    """Collects the first sentence of every verdict on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open = False
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a sentence at a leading paragraph."""
        if tag == "p" and ("class", "lead") in attrs:
            self.open = True
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        """End it with the paragraph."""
        self.open = self.open and tag != "p"

    def handle_data(self, data: str) -> None:
        """Add to the sentence that is open."""
        if self.open:
            self.found[-1] += data


def _lead(page: Path) -> tuple[str, ...]:
    reader = _Leads()
    try:
        # the verdict stands before the first figure; the scripts at the end take megabytes
        with page.open(encoding="utf-8") as file:
            reader.feed(file.read(_HEAD))
    except OSError as error:
        return (f"the page cannot be read: {error}",)
    return tuple(reader.found)


_HEAD = 64 * 1024
