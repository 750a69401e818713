"""Who is told of alerts, and when: once, again when one gets worse or stands for long, and when it is resolved."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.verification import Alert, resolved_in_words
from pipelines.alerting_email import mail
from pipelines.alerting_webhook import post
from pipelines.files import write_text
from pipelines.terminal import counted
from pipelines.verification_book import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from fints.settings import NightlySettings
    from fints.settings.alerts import AlertSettings
    from fints.verification import Verification
    from pipelines.home import Home

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """What one way of telling knows of an alert.

    Parameters
    ----------
    grade : int
        How bad it was when it was told last; 0 where it could not be told yet.
    nights : tuple of str
        As-of of the nights that it stood on since.
    """

    grade: int = 0
    nights: tuple[str, ...] = ()

    def on(self, night: str) -> Told:
        """Count one more night; a night that is repeated counts once."""
        return Told(self.grade, tuple(dict.fromkeys([*self.nights, night])))

    def is_news(self, alert: Alert, remind: int) -> bool:
        """Whether the alert is to be told: new, worse, or standing for so many nights."""
        return alert.grade > self.grade or (remind > 0 and len(self.nights) > remind)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered from night to night.

    Parameters
    ----------
    since : mapping of str to str
        As-of of the first night of each alert that stands.
    told : mapping of str to mapping of str to Told
        By way of telling and alert: a mail that was taken says nothing of a webhook that was down.
    """

    since: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, Mapping[str, Told]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Memory:
        """Return what stood last night; a damaged file is as good as none: alerts are then told once more.

        Raises
        ------
        OSError
            If it cannot be opened: it may be whole.
        """
        try:
            plain = json.loads(file.read_text("utf-8"))
            told = {way: {key: _told(one) for key, one in ones.items()} for way, ones in plain["told"].items()}
            return cls({key: str(night) for key, night in plain["since"].items()}, told)
        except (FileNotFoundError, NotADirectoryError):
            return cls()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            LOG.warning("%s is damaged (%s); alerts that stand are told again", file, type(error).__name__)
            return cls()

    def write(self, file: Path) -> None:
        """Keep it; where there is nothing to keep and nothing was kept, no file is made."""
        if not self.since and not file.exists():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(asdict(self), indent=1))


@dataclass(frozen=True, slots=True)
class Message:
    """What is told.

    Parameters
    ----------
    dataset, interval, as_of : str
    alerts : tuple of Alert
        That are new, worse, or due to be told again.
    standing : int
        How many stand in all.
    resolved : tuple of str
        Keys of alerts that stand no more.
    """

    dataset: str
    interval: str
    as_of: str
    alerts: tuple[Alert, ...]
    standing: int
    resolved: tuple[str, ...]

    @property
    def subject(self) -> str:
        """In one line."""
        parts = [counted(len(self.alerts), "alert")] if self.alerts else []
        parts += [f"{len(self.resolved)} resolved"] if self.resolved else []
        return f"fints {self.dataset} {self.interval}, night of {self.as_of}: {', '.join(parts)}"

    @property
    def text(self) -> str:
        """In full."""
        lines = [f"{alert.rule}: {alert.sentence}" for alert in self.alerts]
        lines += [f"{resolved_in_words(key)}." for key in self.resolved]
        verb = "stands" if self.standing == 1 else "stand"
        whole = f"{counted(self.standing, 'alert')} {verb} in all" if self.standing else "no alert stands any more"
        whole = f"{whole}; see the night's report."
        return "\n".join([self.subject, "", *lines, "", whole])

    def to_json(self) -> dict[str, object]:
        """Return plain values; ``text`` is what chat services show."""
        return {
            "text": self.text,
            "dataset": self.dataset,
            "interval": self.interval,
            "as_of": self.as_of,
            "alerts": [alert.to_json() for alert in self.alerts],
            "resolved": list(self.resolved),
            "standing": self.standing,
        }


WAYS: Mapping[str, Callable[[Message, AlertSettings], str | None]] = MappingProxyType(
    {
        "webhook": lambda message, settings: post(message, settings.webhook),
        "email": lambda message, settings: mail(message, settings.email),
    }
)
"""How somebody is told: each returns None where nobody is to be, an empty text where it was taken, or why not."""


def tell(
    found: Verification, home: Home, settings: NightlySettings, *, whole: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell of what is new, and remember it, each way of telling for itself.

    Parameters
    ----------
    found : Verification
        Of the newest night, with its alerts.
    home : Home
    settings : NightlySettings
    whole : bool
        Whether every rule was looked at. Where not, what stood on the last night stands on: it is neither told again
        nor resolved.

    Returns
    -------
    resolved : tuple of str
        Alerts that stood on the last night and stand no more.
    warnings : tuple of str
        What could not be told, and why. It is tried again on the next night, by the way that failed.
    """
    if not whole and not found.alerts:
        return (), ()
    file = folder_of(home, settings) / "alerts.json"
    before, unread = _remembered(file)
    night = f"{found.as_of:%Y-%m-%dT%H%M}"
    own = {alert.key: before.since.get(alert.key, night) for alert in found.alerts}
    unseen = {} if whole else {key: first for key, first in before.since.items() if key not in own}
    blank = Message(settings.dataset, settings.interval, night, (), len(own) + len(unseen), ())
    told: dict[str, Mapping[str, Told]] = {}
    warnings = []
    for way, send in WAYS.items():
        held = before.told.get(way, {})
        left = {key: one for key, one in held.items() if key in unseen}
        known = {key: one for key, one in held.items() if key not in unseen}
        known, warning = _tell(found.alerts, known, settings.alerts, blank, send)
        told |= {way: {**left, **known}} if known else {}
        warnings += [warning] if warning else []
    since = {**unseen, **own}
    if unread:
        warnings.append(unread)
    else:
        Memory(since, told).write(file)
    return tuple(key for key in before.since if key not in since), tuple(warnings)


def tell_failure(cause: str, settings: NightlySettings, now: pd.Timestamp) -> tuple[str, ...]:
    """Tell that a night failed, each time that one does; return what could not be told, and why.

    Parameters
    ----------
    cause : str
    settings : NightlySettings
    now : pandas.Timestamp
        The clock, UTC.
    """
    alert = Alert("failed", "the night", f"The night failed: {cause}")
    message = Message(settings.dataset, settings.interval, f"{now:%Y-%m-%dT%H%M}", (alert,), 1, ())
    return tuple(warning for send in WAYS.values() if (warning := send(message, settings.alerts)))


def _remembered(file: Path) -> tuple[Memory, str]:
    """Return what stood last night, and why that is not known; the file is left as it is then."""
    try:
        return Memory.read(file), ""
    except OSError as error:
        return Memory(), f"{file} could not be opened ({error.strerror or error}); alerts that stand were told again"


def _tell(
    alerts: Sequence[Alert],
    known: dict[str, Told],
    settings: AlertSettings,
    blank: Message,
    send: Callable[[Message, AlertSettings], str | None],
) -> tuple[dict[str, Told], str]:
    """Tell one way what it does not know yet; return what it knows then, and what went wrong."""
    now = {alert.key: known.get(alert.key, Told()).on(blank.as_of) for alert in alerts}
    news = tuple(alert for alert in alerts if now[alert.key].is_news(alert, settings.remind))
    over = {key: one for key, one in known.items() if key not in now and one.grade}
    if not news and not over:
        return now, ""
    outcome = send(replace(blank, alerts=news, resolved=tuple(over)), settings)
    if outcome is None:  # nobody is there; who is named later is told of all that stands then
        return {}, ""
    if outcome:
        return now | over, outcome
    return now | {alert.key: Told(alert.grade, (blank.as_of,)) for alert in news}, ""


def _told(plain: Mapping[str, object]) -> Told:
    nights = plain["nights"]
    if not isinstance(nights, list):
        raise TypeError("nights are a list")
    return Told(int(str(plain["grade"])), tuple(map(str, nights)))
