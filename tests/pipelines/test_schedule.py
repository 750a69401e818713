import ast
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest
from typer.testing import CliRunner

from fints.sessions import get_calendar
from fints.settings import load_settings
from pipelines.cli import app
from pipelines.schedule import Command, slot_of
from pipelines.schedule_kinds import KINDS, airflow, cron, prefect, systemd
from pipelines.schedule_secrets import secrets_of
from pipelines.waiting import night_ends, tonight

SETTLE = pd.Timedelta(minutes=15)
NOW = pd.Timestamp("2025-01-01T00:00Z")
AWKWARD = Command(Path("/opt/my tools/fints"), Path('/srv/it\'s 100% "mine" $HOME'), Path("/etc/a b.yaml"))
PLAIN = Command(Path("/opt/fints"), Path("/srv/home"))
MARKETS = [["XNYS"], ["XLON"], ["XTKS", "XHKG"], ["XNYS", "XLON", "XTKS", "XHKG"], ["24/7"], ["XNYS", "24/7"], ["XTAE"]]


def slot(exchanges):
    return slot_of(exchanges, NOW, SETTLE)


@pytest.mark.parametrize("exchanges", MARKETS, ids="+".join)
def test_every_night_of_the_year_can_begin_when_it_is_started_and_none_waits_a_day(exchanges):
    """Summer time, half-days and holidays included."""
    found = slot(exchanges)
    for end in night_ends(exchanges, NOW, NOW + pd.Timedelta(days=365), SETTLE):
        day = end.session
        start = None
        for later in (0, 1):
            date = day + pd.Timedelta(days=later)
            at = pd.Timestamp(f"{date:%Y-%m-%d} {found.clock}").tz_localize(found.zone)
            if start is None and date.day_of_week in found.days and at >= end.until:
                start = at
        assert start is not None, end
        assert start - end.until < pd.Timedelta(hours=18)


@pytest.mark.parametrize("exchanges", MARKETS, ids="+".join)
def test_the_start_in_utc_lies_before_every_close(exchanges):
    found = slot(exchanges)
    hour, minute = found.before_utc
    for end in night_ends(exchanges, NOW, NOW + pd.Timedelta(days=365), SETTLE):
        back = end.close.normalize() + pd.Timedelta(hours=hour, minutes=minute)
        starts = [
            at for at in (back - pd.Timedelta(days=1), back) if at < end.close and at.day_of_week in found.days_utc
        ]
        assert starts, end


@pytest.mark.parametrize(
    "exchanges",
    [*MARKETS, ["XASX", "XNYS"], ["XNZE", "XNYS"], ["XNZE", "XLON", "CMES"], ["XSAU", "XNYS"], ["FX", "XTKS"]],
    ids="+".join,
)
def test_the_start_in_utc_waits_for_the_night_of_its_day(exchanges):
    """In winter the evening before is not over in New York when Sydney closes: that night would be met again."""
    found = slot(exchanges)
    hour, minute = found.before_utc
    days = pd.date_range("2025-01-01", "2025-12-31", tz="UTC") + pd.Timedelta(hours=hour, minutes=minute)
    starts = [start for start in days if start.day_of_week in found.days_utc]
    waited = [(start, tonight(exchanges, start, SETTLE)) for start in starts]
    begun = pd.DatetimeIndex([start if end is None else end.until for start, end in waited])
    for end in night_ends(exchanges, NOW, NOW + pd.Timedelta(days=355), SETTLE)[2:]:
        # at its end, or within hours where what closes last has not even begun its day
        assert (begun[begun >= end.until] - end.until).min() < pd.Timedelta(hours=2), end


def test_new_york_begins_after_its_close_by_its_own_clock():
    found = slot(["XNYS"])
    assert (found.zone, found.clock, found.days) == ("America/New_York", "16:20", (0, 1, 2, 3, 4))


def test_of_several_exchanges_the_last_decides():
    assert slot(["XTKS", "XLON", "XNYS"]).exchange == "XNYS"
    assert slot(["XTKS", "XLON"]).zone == get_calendar("XLON").timezone


def test_around_the_clock_the_night_begins_after_midnight():
    found = slot(["24/7"])
    assert (found.zone, found.clock, found.days) == ("UTC", "00:20", tuple(range(7)))


def test_the_cron_line_is_one():
    lines = [line for line in cron(slot(["XNYS"]), AWKWARD).splitlines() if not line.startswith("#")]
    zone, line = lines
    assert zone == "CRON_TZ=America/New_York"
    minute, hour, day, month, weekdays, command = line.split(" ", 5)
    assert (minute, hour, day, month, weekdays) == ("20", "16", "*", "*", "1-5")
    assert not re.search(r"(?<!\\)%", command)  # cron ends a command there
    home, *arguments = shlex.split(command.replace(r"\%", "%"))
    assert home == f"FINTS_HOME={AWKWARD.home}"
    assert arguments == ["/opt/my tools/fints", "nightly", "--config", "/etc/a b.yaml"]


def test_days_of_cron_begin_on_sunday():
    israel = cron(slot(["XTAE"]), PLAIN)
    held = {int(d) for d in re.search(r"^\d+ \d+ \* \* (\S+) ", israel, re.MULTILINE)[1].replace("-", ",").split(",")}
    assert 0 in held
    assert cron(slot(["24/7"]), PLAIN).count(" * * * ") == 2


def test_what_the_shell_reads_is_the_command_itself(tmp_path):
    """The line of a home with quotes, blanks and a dollar, run by a shell."""
    script = tmp_path / "my fints"
    script.write_text('#!/bin/sh\nprintf "%s\\n" "$FINTS_HOME" "$@"\n')
    script.chmod(0o755)
    command = Command(script, AWKWARD.home, AWKWARD.config)
    said = subprocess.run(["/bin/sh", "-c", command.shell], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [str(AWKWARD.home), "nightly", "--config", "/etc/a b.yaml"]


@pytest.mark.parametrize("write", [airflow, prefect])
def test_the_snippets_are_python_and_hold_the_command(write):
    text = write(slot(["XNYS"]), AWKWARD)
    tree = ast.parse(text)
    compile(text, "snippet", "exec")
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert values == {"COMMAND": list(AWKWARD.arguments), "HOME": str(AWKWARD.home)}
    assert "20 16 * * 1-5" in text
    assert "America/New_York" in text


class FailedError(Exception):
    """What Airflow calls a failure that is not tried again."""


class AgainError(Exception):
    """What Airflow calls one that is."""


class Schedulers:
    """Prefect and Airflow as far as the snippets go: who is tried again, and how often a task was begun."""

    def __init__(self, monkeypatch):
        self.ended = []

        def task(retries, retry_condition_fn=lambda *_: True, **_):
            return lambda run: lambda: self.attempt(run, retries, retry_condition_fn)

        def plain(*_, **__):
            return lambda run: run

        parts = {
            "prefect": {"flow": plain, "task": task},
            "prefect.schedules": {"Cron": lambda *_, **__: None},
            "pendulum": {"datetime": lambda *_, **__: None, "duration": lambda *_, **__: None},
            "airflow": {},
            "airflow.decorators": {"dag": plain, "task": task},
            "airflow.exceptions": {"AirflowException": AgainError, "AirflowFailException": FailedError},
        }
        for name, content in parts.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)

    def attempt(self, run, retries, again):
        for _ in range(1 + retries):
            try:
                self.ended.append(run())
            except FailedError:
                self.ended.append("failed")
            except Exception as error:  # noqa: BLE001 — a class that the snippet makes is among them
                if again(None, None, SimpleNamespace(result=partial(_raise, error))):
                    continue
                self.ended.append("failed")
            return
        self.ended.append("given up")


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("code", "ended"),
    [(0, 0), (3, 3), (4, 4), (1, "failed"), (2, "failed"), (130, "failed"), (75, "given up")],
)
@pytest.mark.parametrize("write", [airflow, prefect])
def test_a_night_is_tried_again_where_another_run_holds_the_lock_and_only_there(
    tmp_path, monkeypatch, write, code, ended
):
    schedulers, script = Schedulers(monkeypatch), tmp_path / "my fints"
    script.write_text(f'#!/bin/sh\necho "$1" >> "$FINTS_HOME/runs"\nexit {code}\n')
    script.chmod(0o755)
    snippet = {"__name__": "snippet"}
    exec(compile(write(slot(["XNYS"]), Command(script, tmp_path)), "snippet", "exec"), snippet)
    if write is prefect:  # a DAG of Airflow makes itself known as it is read
        snippet["fints_nightly"]()
    assert (tmp_path / "runs").read_text().split() == ["nightly"] * (4 if ended == "given up" else 1)
    assert schedulers.ended == [ended]


@pytest.mark.parametrize("write", [airflow, prefect])
def test_a_snippet_says_what_is_tried_again(write):
    said = " ".join(ast.get_docstring(ast.parse(write(slot(["XNYS"]), PLAIN))).split())
    assert "75 another run holds the lock" in said
    assert "75 alone is tried again" in said


def units(text):
    service, timer = text.split("# ~/.config/systemd/user/fints-nightly.timer\n")
    return service, timer


def test_the_unit_counts_nights_with_some_symbols_left_out_as_done_and_makes_up_for_missed_ones():
    service, timer = units(systemd(slot(["XNYS"]), AWKWARD))
    assert "SuccessExitStatus=3 4" in service
    assert 'Environment="FINTS_HOME=/srv/it\'s 100%% \\"mine\\" $HOME"' in service
    assert 'ExecStart="/opt/my tools/fints" "nightly" "--config" "/etc/a b.yaml"' in service
    assert "Persistent=true" in timer
    assert "OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 16:20:00 America/New_York" in timer


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("exchanges", MARKETS, ids="+".join)
def test_systemd_takes_the_units(tmp_path, exchanges):
    command = Command(Path("/bin/true"), AWKWARD.home)
    service, timer = units(systemd(slot(exchanges), command))
    (tmp_path / "fints-nightly.service").write_text(service)
    (tmp_path / "fints-nightly.timer").write_text(timer)
    when = re.search(r"^OnCalendar=(.*)$", timer, re.MULTILINE)[1]
    said = subprocess.run(["systemd-analyze", "calendar", when], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    files = [str(tmp_path / name) for name in ("fints-nightly.service", "fints-nightly.timer")]
    found = subprocess.run(["systemd-analyze", "verify", "--user", *files], capture_output=True, text=True, check=False)
    ours = [line for line in found.stderr.splitlines() if "fints-nightly" in line]
    assert ours == []


def test_the_command_prints_what_was_asked_for_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    for kind in (*KINDS, "all"):
        left = CliRunner().invoke(app, ["schedule", "--kind", kind])
        assert left.exit_code == 0, left.output
        assert [f"---- {name} ----" in left.output for name in KINDS] == [kind in {name, "all"} for name in KINDS]
        assert "America/New_York" in left.output
    assert not (tmp_path / "home").exists()


def test_a_home_that_no_scheduler_can_write_down_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "ho\nme"))
    left = CliRunner().invoke(app, ["schedule"])
    assert left.exit_code == 2


def test_the_exchange_of_the_settings_counts_where_nothing_is_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    config = tmp_path / "my.yaml"
    config.write_text("source: {kind: yahoo}\nexchange: LSE\nsymbols: ['VOD.L']\n")
    left = CliRunner().invoke(app, ["schedule", "--kind", "systemd", "--config", str(config)])
    assert "Europe/London" in left.output
    assert f'"--config" "{config}"' in left.output


SECRETS = ("MY_TOKEN", "FINTS_ALERT_WEBHOOK", "FINTS_ALERT_PASSWORD")
SECRET = "https://chat.example/s3cr3t"


def with_secrets(path):
    """Write settings that read a token, and mail with a password."""
    path.write_text(
        "source: {kind: http, url: 'https://example.com/{symbol}?t={token}', token_env: MY_TOKEN, format: csv}\n"
        "symbols: [AAA]\nexchange: XNYS\n"
        "alerts: {email: {host: mail.example.com, sender: a@example.com, to: [b@example.com], user: fints}}\n"
    )
    return path


def test_secrets_that_the_settings_read_are_named_for_every_scheduler_and_never_printed(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    for name in SECRETS:
        monkeypatch.setenv(name, SECRET)
    config = with_secrets(tmp_path / "my.yaml")
    for kind in KINDS:
        left = CliRunner().invoke(app, ["schedule", "--kind", kind, "--config", str(config)])
        assert left.exit_code == 0, left.output
        assert [name in left.output for name in SECRETS] == [True] * 3
        assert SECRET not in left.output


def test_variables_that_the_settings_do_not_read_are_not_named(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FINTS_ALERT_WEBHOOK", raising=False)
    left = CliRunner().invoke(app, ["schedule"])
    assert not any(word in left.output for word in ("FINTS_ALERT", "EnvironmentFile", "secrets.env", "SECRETS"))
    left = CliRunner().invoke(app, ["schedule", "--config", str(with_secrets(tmp_path / "my.yaml"))])
    assert "FINTS_ALERT_WEBHOOK" not in left.output
    assert "MY_TOKEN" in left.output


def test_the_token_of_a_source_within_a_chain_and_the_user_of_a_tracking_server_are_named(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", SECRET)
    http = "{kind: http, url: 'https://example.com/{symbol}', token_env: INNER, format: csv}"
    settings = load_settings(
        None, [f"source={{kind: chain, sources: [{http}, {{kind: yahoo}}]}}", "tracking.uri=https://mlflow.example"]
    )
    assert secrets_of(settings) == ("INNER", "MLFLOW_TRACKING_PASSWORD")
    assert secrets_of(load_settings(None, [])) == ()


def test_the_shell_reads_secrets_from_their_file_and_runs_nothing_without_it(tmp_path):
    script, file = tmp_path / "fints", tmp_path / ".config" / "fints" / "secrets.env"
    script.write_text('#!/bin/sh\nprintf "%s" "$FINTS_ALERT_WEBHOOK"\n')
    script.chmod(0o755)
    shell = Command(script, tmp_path, secrets=("FINTS_ALERT_WEBHOOK",)).shell

    def run():
        home = {"HOME": str(tmp_path), "PATH": "/bin:/usr/bin"}
        return subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=False, env=home)

    assert run().returncode != 0
    file.parent.mkdir(parents=True)
    file.write_text(f"FINTS_ALERT_WEBHOOK='{SECRET}'\n")
    assert run().stdout == SECRET


@pytest.mark.parametrize("write", [cron, systemd])
def test_the_file_of_secrets_is_made_where_it_is_missing_and_one_that_is_there_stays(tmp_path, write):
    text = write(slot(["XNYS"]), Command(Path("/opt/fints"), tmp_path, secrets=SECRETS))
    (made,) = (line.removeprefix("# ") for line in text.splitlines() if "install -D" in line)
    home, file = {"HOME": str(tmp_path), "PATH": "/bin:/usr/bin"}, tmp_path / ".config" / "fints" / "secrets.env"
    for content in ("", f"FINTS_ALERT_WEBHOOK='{SECRET}'\n"):
        if content:
            file.write_text(content)
        assert subprocess.run(["/bin/sh", "-c", made], check=False, env=home).returncode == 0
        assert file.read_text() == content
        assert file.stat().st_mode & 0o777 == 0o600


def test_the_unit_reads_secrets_from_a_file():
    service, _ = units(systemd(slot(["XNYS"]), Command(Path("/opt/fints"), Path("/srv/home"), secrets=SECRETS)))
    assert "EnvironmentFile=%h/.config/fints/secrets.env\n" in service


@pytest.mark.parametrize("write", [airflow, prefect])
def test_a_snippet_takes_secrets_from_its_scheduler(tmp_path, monkeypatch, write):
    Schedulers(monkeypatch)
    kept = {"FINTS_ALERT_WEBHOOK": SECRET, "fints-alert-webhook": SECRET}
    for name, holder in (("airflow.models", "Variable"), ("prefect.blocks", ""), ("prefect.blocks.system", "Secret")):
        module = ModuleType(name)
        get = {"get": lambda key: kept[key], "load": lambda key: SimpleNamespace(get=lambda: kept[key])}
        vars(module).update({holder: SimpleNamespace(**get)})
        monkeypatch.setitem(sys.modules, name, module)
    script = tmp_path / "fints"
    script.write_text('#!/bin/sh\nprintf "%s" "$FINTS_ALERT_WEBHOOK" > "$FINTS_HOME/told"\n')
    script.chmod(0o755)
    text = write(slot(["XNYS"]), Command(script, tmp_path, secrets=("FINTS_ALERT_WEBHOOK",)))
    snippet = {"__name__": "snippet"}
    exec(compile(text, "snippet", "exec"), snippet)
    if write is prefect:
        snippet["fints_nightly"]()
    assert (tmp_path / "told").read_text() == SECRET
