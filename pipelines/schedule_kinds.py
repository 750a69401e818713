"""Texts that schedulers take: cron, systemd, Airflow, Prefect."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pipelines.schedule import DAYS

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
            f"CRON_TZ={slot.zone}",
            f"{slot.minute} {slot.hour} * * {_numbers(slot.days)} {run}",
            "#",
            "# A cron that does not know CRON_TZ (Debian, Ubuntu), on a machine in UTC: started before every close of",
            "# the year, it waits for the one of the day. Use this line instead of the two above.",
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
    return f'''"""fints: forecasts of the night. Put this file into Airflow's dags folder.

The schedule is on the clock of {slot.zone}. One run at a time: fints locks its home.
{CODES}.
75 alone is tried again; a failure would only fail again.
"""

import subprocess

import pendulum
from airflow.decorators import dag, task
from airflow.exceptions import AirflowException, AirflowFailException

COMMAND = {list(command.arguments)!r}
HOME = {str(command.home)!r}


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

        code = subprocess.run(COMMAND, env={{**os.environ, "FINTS_HOME": HOME}}, check=False).returncode
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
    return f'''"""fints: forecasts of the night. Run this file; it serves the flow on its schedule until it is stopped.

The schedule is on the clock of {slot.zone}.
{CODES}.
75 alone is tried again; a failure would only fail again.
"""

import os
import subprocess

from prefect import flow, task
from prefect.schedules import Cron

COMMAND = {list(command.arguments)!r}
HOME = {str(command.home)!r}


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
    code = subprocess.run(COMMAND, env={{**os.environ, "FINTS_HOME": HOME}}, check=False).returncode
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
