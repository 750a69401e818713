"""Who is told of alerts, and when: once, again when one gets worse or stands for long, and when it is resolved."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pipelines.alerting_email import mail
from pipelines.alerting_webhook import post
from pipelines.files import write_text
from pipelines.verification_book import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from fints.settings import NightlySettings
    from fints.settings.alerts import AlertSettings
    from fints.verification import Alert, Verification
    from pipelines.home import Home

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """An alert that stands.

    Parameters
    ----------
    since : str
        As-of of its first night.
    grade : int
        How bad it was when it was told last; 0 where nobody could be told yet.
    nights : tuple of str
        As-of of the nights that it stood on since.
    """

    since: str
    grade: int = 0
    nights: tuple[str, ...] = ()


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
        parts = [f"{len(self.alerts)} to look at" if self.alerts else "", f"{len(self.resolved)} resolved"]
        said = ", ".join(part for part in parts if part and not part.startswith("0 "))
        return f"fints {self.dataset} {self.interval}, night of {self.as_of}: alerts, {said}"

    @property
    def text(self) -> str:
        """In full."""
        lines = [f"{alert.rule}: {alert.sentence}" for alert in self.alerts]
        lines += [f"resolved: {key}" for key in self.resolved]
        return "\n".join(
            [self.subject, "", *lines, "", f"{self.standing} alerts stand in all; see the night's report."]
        )

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


def tell(found: Verification, home: Home, settings: NightlySettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell of what is new, and remember it.

    Parameters
    ----------
    found : Verification
        Of the newest night, with its alerts.
    home : Home
    settings : NightlySettings

    Returns
    -------
    resolved : tuple of str
        Alerts that stood before and stand no more.
    warnings : tuple of str
        What could not be told, and why. It is tried again on the next night.
    """
    file = folder_of(home, settings) / "alerts.json"
    before, night = _read(file), f"{found.as_of:%Y-%m-%dT%H%M}"
    now = {alert.key: _standing(before.get(alert.key), night) for alert in found.alerts}
    news = [alert for alert in found.alerts if _is_news(now[alert.key], alert, settings.alerts.remind)]
    resolved = tuple(key for key in before if key not in now)
    warnings: tuple[str, ...] = ()
    kept = now
    if news or any(before[key].grade for key in resolved):
        message = Message(settings.dataset, settings.interval, night, tuple(news), len(now), resolved)
        delivered, warnings = _deliver(message, settings.alerts)
        if delivered:
            kept = now | {alert.key: Standing(now[alert.key].since, alert.grade, (night,)) for alert in news}
        else:
            kept = now | {key: before[key] for key in resolved}
    _write(file, kept)
    return resolved, warnings


def _standing(before: Standing | None, night: str) -> Standing:
    """Count one more night; a night that is repeated counts once."""
    if before is None:
        return Standing(night, 0, (night,))
    return Standing(before.since, before.grade, tuple(dict.fromkeys([*before.nights, night])))


def _is_news(standing: Standing, alert: Alert, remind: int) -> bool:
    return alert.grade > standing.grade or (remind > 0 and len(standing.nights) > remind)


def _deliver(message: Message, settings: AlertSettings) -> tuple[bool, tuple[str, ...]]:
    """Return whether anybody was told, or nobody is to be, and what went wrong."""
    tried = [
        outcome for outcome in (post(message, settings.webhook), mail(message, settings.email)) if outcome is not None
    ]
    warnings = tuple(outcome for outcome in tried if outcome)
    return not tried or len(warnings) < len(tried), warnings


def _read(file: Path) -> dict[str, Standing]:
    """Return what stood last night; a damaged file is as good as none: alerts are then told once more."""
    try:
        plain: Mapping[str, Mapping[str, object]] = json.loads(file.read_text("utf-8"))["standing"]
        return {
            key: Standing(str(one["since"]), int(str(one["grade"])), tuple(map(str, _listed(one["nights"]))))
            for key, one in plain.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        LOG.warning("%s is damaged (%s); alerts that stand are told again", file, error)
        return {}


def _listed(value: object) -> Iterable[object]:
    if not isinstance(value, list):
        raise TypeError("nights are a list")
    return value


def _write(file: Path, standing: Mapping[str, Standing]) -> None:
    if not standing and not file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps({"standing": {key: asdict(one) for key, one in standing.items()}}, indent=1))
