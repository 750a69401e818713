"""Whether everything that a night needs is in order: looked at, never changed, and within seconds."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from fints.errors import FintsError
from fints.tracking.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from fints.settings import NightlySettings
    from pipelines.home import Home

State = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found.

    Parameters
    ----------
    state : {"ok", "warning", "failed"}
    sentence : str
    cure : str
        What to do about it; empty where nothing is to be done.
    """

    state: State
    sentence: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
    now : pandas.Timestamp
        The clock, UTC.
    offline : bool
        Whether nothing outside this machine is asked.
    """

    settings: NightlySettings
    home: Home
    now: pd.Timestamp
    offline: bool


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Parameters
    ----------
    name : str
    look : callable
    seconds : float
        That it may take.
    """

    name: str
    look: Callable[[Patient], Found]
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What all checks found.

    Parameters
    ----------
    found : tuple of (str, Found, float)
        Name, what was found, seconds.
    """

    found: tuple[tuple[str, Found, float], ...]

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(found.state == "failed" for _, found, _ in self.found)

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        checks = [{"check": name, **asdict(found), "seconds": round(taken, 2)} for name, found, taken in self.found]
        return {"ok": not self.failed, "checks": checks}


def examine(patient: Patient, checks: Sequence[Check]) -> Diagnosis:
    """Run every check, each within its time; what one raises is what it found."""
    done = []
    for check in checks:
        began = perf_counter()
        found = _bounded(check, patient)
        done.append((check.name, found, perf_counter() - began))
    return Diagnosis(tuple(done))


def _bounded(check: Check, patient: Patient) -> Found:
    """Run a check in a thread of its own, which is left behind where it takes too long: a mount may hang for ever."""
    outcome: list[Found] = []

    def look() -> None:
        outcome.append(_look(check, patient))

    worker = threading.Thread(target=look, name=f"fints-doctor-{check.name}", daemon=True)
    worker.start()
    worker.join(check.seconds)
    if not outcome:
        return Found("failed", f"no answer within {check.seconds:g} s", "find out what it waits for: a disk, a server")
    return outcome[0]


def _look(check: Check, patient: Patient) -> Found:
    try:
        return check.look(patient)
    except FintsError as error:
        return Found("failed", redacted(error), "see the message")
    except Exception as error:  # noqa: BLE001 — a check that breaks is what is to be known
        return Found("failed", f"{type(error).__name__}: {redacted(error)}", "this should not happen; report it")
