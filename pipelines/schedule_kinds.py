"""Texts that schedulers take: cron, systemd, Airflow, Prefect."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pipelines.schedule import DAYS
from pipelines.schedule_secrets import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.schedule import Command, Slot

CODES = (
    "exit codes: 0 done, 3 done with some symbols left out, 4 done and an alert was raised, 75 another run holds the "
    "lock; anything else is a failure: 1 what the log says, 2 the settings are wrong"
)


def cron(slot: Slot, command: Command) -> str:
    """Return lines of a crontab."""
    hour, minute = slot.before_utc
    run = _escaped(command.shell)
    return "\n".join(
        [
            "# crontab -e; cron mails what is printed to MAILTO.",
            f"# The time is that of {slot.zone}, daylight saving included: cronie (Fedora, RHEL, Arch) knows CRON_TZ.",
            f"# {CODES}.",
            *_secrets_file(command),
            f"CRON_TZ={slot.zone}",
            f"{slot.minute} {slot.hour} * * {_numbers(slot.days)} {run}",
            "#",
            "# A cron that does not know CRON_TZ (Debian, Ubuntu), on a machine in UTC: started before the last",
            "# close of every day of the year, it waits for it. Use this line instead of the two above.",
            f"# {minute} {hour} * * {_numbers(slot.days_utc)} {run} --wait-for-close",
        ]
    )


def systemd(slot: Slot, command: Command) -> str:
    """Return a service and its timer."""
    run = " ".join(map(_unit_quoted, command.arguments))
    service = [
        "# ~/.config/systemd/user/fints-nightly.service",
        "[Unit]",
        "Description=fints: forecasts of the night",
        "Wants=network-online.target",
        "After=network-online.target",
        "",
        "[Service]",
        "Type=oneshot",
        f"Environment={_unit_quoted(f'FINTS_HOME={command.home}', command=False)}",
        *((*_secrets_file(command), f"EnvironmentFile=%h/{FILE}") if command.secrets else ()),
        f"ExecStart={run}",
        f"# {CODES}",
        "SuccessExitStatus=3 4",
        "# a night is not killed for taking long; one that hangs is",
        "TimeoutStartSec=6h",
        "Nice=10",
    ]
    timer = [
        "# ~/.config/systemd/user/fints-nightly.timer",
        "[Unit]",
        f"Description=fints: after the last close of the day, on the clock of {slot.zone}",
        "",
        "[Timer]",
        f"OnCalendar={','.join(DAYS[day] for day in slot.days)} *-*-* {slot.clock}:00 {slot.zone}",
        "# a night that was missed because the machine was off is run when it is on again",
        "Persistent=true",
        "AccuracySec=1min",
        "",
        "[Install]",
        "WantedBy=timers.target",
        "",
        "# systemctl --user daemon-reload && systemctl --user enable --now fints-nightly.timer",
        "# loginctl enable-linger   (so that it runs while nobody is logged in)",
    ]
    return "\n".join([*service, "", *timer])


def airflow(slot: Slot, command: Command) -> str:
    """Return a DAG."""
    read, passed = "", "**os.environ"
    if command.secrets:
        read = f"""
# Of each there has to be an Airflow Variable of this name, or an entry in the secrets backend; none stands here.
SECRETS = {list(command.secrets)!r}
"""
        passed += ", **{name: Variable.get(name) for name in SECRETS}"
    extra = "\nfrom airflow.models import Variable" if command.secrets else ""
    return f'''"""fints: forecasts of the night. Put this file into Airflow's dags folder.

The schedule is on the clock of {slot.zone}. One run at a time: fints locks its home.
{CODES}.
75 alone is tried again; a failure would only fail again.
"""

import subprocess

import pendulum
from airflow.decorators import dag, task
from airflow.exceptions import AirflowException, AirflowFailException{extra}

COMMAND = {list(command.arguments)!r}
HOME = {str(command.home)!r}
{read}

@dag(
    schedule={f"{slot.minute} {slot.hour} * * {_numbers(slot.days)}"!r},
    start_date=pendulum.datetime(2024, 1, 1, tz={slot.zone!r}),
    catchup=False,  # fints makes up for missed nights itself
    max_active_runs=1,
    tags=["fints"],
)
def fints_nightly():
    @task(retries=3, retry_delay=pendulum.duration(minutes=20))
    def forecast():
        import os

        code = subprocess.run(COMMAND, env={{{passed}, "FINTS_HOME": HOME}}, check=False).returncode
        if code == 75:
            raise AirflowException("another run of fints holds the lock; it is tried again")
        if code not in (0, 3, 4):
            raise AirflowFailException(f"fints ended with {{code}}; see the log above")
        return code

    forecast()


fints_nightly()
'''


def prefect(slot: Slot, command: Command) -> str:
    """Return a flow that serves itself."""
    read, passed = "", "**os.environ"
    if command.secrets:
        blocks = {name: name.lower().replace("_", "-") for name in command.secrets}
        read = f"""
# Of each there has to be a Secret block of Prefect, by variable; none stands here.
SECRETS = {blocks!r}
"""
        passed += ", **{name: Secret.load(block).get() for name, block in SECRETS.items()}"
    extra = "from prefect.blocks.system import Secret\n" if command.secrets else ""
    return f'''"""fints: forecasts of the night. Run this file; it serves the flow on its schedule until it is stopped.

The schedule is on the clock of {slot.zone}.
{CODES}.
75 alone is tried again; a failure would only fail again.
"""

import os
import subprocess

from prefect import flow, task
{extra}from prefect.schedules import Cron

COMMAND = {list(command.arguments)!r}
HOME = {str(command.home)!r}
{read}

class Locked(Exception):
    pass


def held_by_another(task, run, state):
    try:
        state.result()
    except Locked:
        return True
    except Exception:
        return False
    return False


@task(retries=3, retry_delay_seconds=1200, retry_condition_fn=held_by_another)
def forecast():
    code = subprocess.run(COMMAND, env={{{passed}, "FINTS_HOME": HOME}}, check=False).returncode
    if code == 75:
        raise Locked("another run of fints holds the lock; it is tried again")
    if code not in (0, 3, 4):
        raise RuntimeError(f"fints ended with {{code}}; see the log above")
    return code


@flow(name="fints-nightly")
def fints_nightly():
    return forecast()


if __name__ == "__main__":
    fints_nightly.serve(
        name="fints-nightly",
        schedule=Cron({f"{slot.minute} {slot.hour} * * {_numbers(slot.days)}"!r}, timezone={slot.zone!r}),
        limit=1,
    )
'''


KINDS: Mapping[str, Callable[[Slot, Command], str]] = MappingProxyType(
    {"cron": cron, "systemd": systemd, "airflow": airflow, "prefect": prefect}
)


def _secrets_file(command: Command) -> tuple[str, ...]:
    """Say where secrets are to be put for cron and systemd, by name alone."""
    if not command.secrets:
        return ()
    return (
        f"# Secrets are read from ~/{FILE}, which you alone may read; they stand neither here nor in a log:",
        f"# [ -e ~/{FILE} ] || install -D -m 600 /dev/null ~/{FILE}",
        *(f"# and write into it: {name}='…'" for name in command.secrets),
    )


def _numbers(days: Sequence[int]) -> str:
    """Days of the week as cron counts them: 0 is Sunday; neighbours as a range."""
    if len(days) == len(DAYS):
        return "*"
    counted = sorted((day + 1) % 7 for day in days)
    if len(counted) > 1 and counted == list(range(counted[0], counted[-1] + 1)):
        return f"{counted[0]}-{counted[-1]}"
    return ",".join(map(str, counted))


def _escaped(text: str) -> str:
    """Spell per cents so that cron does not take them for the end of the command."""
    return text.replace("%", r"\%")


def _unit_quoted(text: str, *, command: bool = True) -> str:
    """Quote for a unit file: per cents are specifiers there, and in commands a dollar names a variable."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{plain.replace("$", "$$") if command else plain}"'
