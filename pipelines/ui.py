"""``fints ui``: the runs in MLflow, and where the latest verdict stands in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import reported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.console import Console

    from fints.tracking import Links, Tracking

START_SECONDS = 180
_PORT = 5000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The latest backtest, or search, that is in MLflow.

    Parameters
    ----------
    name : str
        Of its run.
    sentence : str
        The first of its verdict.
    links : mapping of str to str
        To the run, its report and the curves of its models.
    """

    name: str
    sentence: str
    links: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Places:
    """What there is to look at on a server.

    Parameters
    ----------
    base : str
        Its address.
    experiments : mapping of str to str
        Address by name.
    latest : Verdict, optional
        Of the backtests.
    tuning : Verdict, optional
        The latest of the searches.
    """

    base: str
    experiments: dict[str, str]
    latest: Verdict | None = None
    tuning: Verdict | None = None

    def verdicts(self) -> dict[str, Verdict]:
        """Return what there is, by what it is of."""
        found = {"backtest": self.latest, "tuning": self.tuning}
        return {kind: verdict for kind, verdict in found.items() if verdict is not None}


def latest_verdict(tracking: Tracking, address: Links, kind: str = "backtest") -> Verdict | None:
    """Find the latest backtest or search; None if there is none.

    Parameters
    ----------
    tracking : Tracking
    address : Links
        Of the server that will show it.
    kind : {"backtest", "tuning"}
    """
    from pipelines.backtest_view import REPORT, VERDICT, VIEW

    run = tracking.latest(kind)
    if run is None:
        return None
    place, run_id, tags = run.info.experiment_id, run.info.run_id, run.data.tags
    links = {"verdict": address.run(place, run_id), "report": address.artifact(place, run_id, REPORT)}
    views = {name.removeprefix(VIEW): key for name, key in tags.items() if name.startswith(VIEW)}
    links |= {f"curves of {target}": address.view(place, key) for target, key in views.items()}
    return Verdict(run.info.run_name, tags.get(VERDICT, ""), links)


def ui(
    config: Config = None,
    overrides: Overrides = None,
    port: Annotated[int, typer.Option(help="Port on this machine.", min=1, max=65535)] = _PORT,
    json_file: JsonFile = None,
) -> None:
    """Serve the MLflow runs on this machine and print the links to them, the latest verdict first."""
    with reported():
        from fints.tracking import Links, Tracking, require_free
        from fints.tracking.redaction import public
        from pipelines.home import Home

        settings = nightly_settings(config, overrides)
        tracking = Tracking(Home.from_environment().root, settings.tracking.uri)
        if tracking.remote:
            _show(_found(tracking, Links(f"{public(tracking.uri).rstrip('/')}/")), json_file)
            return
        require_free(port)
        command, log = tracking.server_command(port), tracking.home / "mlflow-server.log"
        environment = {**os.environ, **tracking.server_environment()}
        screen(stderr=True).print("starting MLflow …  (Ctrl-C stops it)", style="dim")
        with log.open("w", encoding="utf-8") as lines:
            server = subprocess.Popen(command, env=environment, start_new_session=True, stdout=lines, stderr=lines)
        try:
            found = _found(tracking, Links.on(port))
            _await(server, port, log)
            _show(found, json_file)
            raise SystemExit(server.wait())
        finally:
            with contextlib.suppress(ProcessLookupError):  # the server's own workers outlive it otherwise
                os.killpg(server.pid, signal.SIGTERM)


def find(tracking: Tracking, address: Links) -> Places:
    """Find what there is to look at on a server."""
    latest, tuning = (latest_verdict(tracking, address, kind) for kind in ("backtest", "tuning"))
    return Places(address.base, tracking.places(address), latest, tuning)


def _found(tracking: Tracking, address: Links) -> Places:
    """Ask a server or a database that may be away; what is said of it names no user and no password."""
    from fints.errors import FintsError
    from fints.tracking.redaction import public, redacted

    place = public(tracking.uri).rstrip("/")
    try:
        return find(tracking, address)
    except FintsError:
        raise
    except Exception as error:  # noqa: BLE001 — whatever MLflow, its server or its database raises
        said = redacted(error)
        raise FintsError(f"{place} cannot be asked: {said}; start its server, or check tracking.uri") from None


def _show(found: Places, json_file: JsonFile) -> None:
    say = screen()
    for kind, latest in found.verdicts().items():
        said = f": {latest.sentence}" if latest.sentence else ""
        say.print(f"latest {kind}, {latest.name}{said}", highlight=False, markup=False, soft_wrap=True)
        _list(latest.links, say)
    _list(found.experiments, say)
    say.print(f"open {found.base}", highlight=False, markup=False, soft_wrap=True)
    plain = {kind: asdict(verdict) for kind, verdict in found.verdicts().items()}
    write_json(
        json_file,
        {
            "link": found.base,
            "links": found.experiments,
            "latest": plain.get("backtest"),
            "tuning": plain.get("tuning"),
        },
    )


def _list(links: Mapping[str, str], say: Console) -> None:
    for name, link in links.items():
        say.print(f"  {name}: {link}", highlight=False, markup=False, soft_wrap=True)


def _await(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a server answers.

    Raises
    ------
    ConfigError
        If it ends before, or takes too long.
    """
    from fints.errors import ConfigError
    from fints.tracking import answers

    until = time.monotonic() + START_SECONDS
    while not answers(port):
        if server.poll() is not None:
            raise ConfigError(f"the MLflow server ended at once, with exit code {server.returncode}; {log} says why")
        if time.monotonic() > until:
            raise ConfigError(f"the MLflow server did not answer on port {port} within {START_SECONDS} s; see {log}")
        time.sleep(0.2)
