"""The environment variables with secrets that the night of some settings reads: by name, never by what they hold."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from pipelines.alerting_email import VARIABLE as PASSWORD
from pipelines.alerting_webhook import VARIABLE as WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fints.settings import NightlySettings

FILE: Final = ".config/fints/secrets.env"
"""Where cron and systemd are told to look for them, under the home of the user."""

_TRACKING: Final = ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")


def secrets_of(settings: NightlySettings) -> tuple[str, ...]:
    """Name the variables that a scheduler has to pass on, in order.

    Those that the settings ask for are named whether or not they are set now: the token of a source, the password of a
    mail server. Those that stand in for a setting are named where they are set now: the address of a webhook, who asks
    a tracking server.
    """
    names = list(_tokens(settings.source))
    if os.environ.get(WEBHOOK):
        names.append(WEBHOOK)
    if settings.alerts.email is not None and settings.alerts.email.user is not None:
        names.append(PASSWORD)
    uri = settings.tracking.uri if settings.tracking.enabled else None
    if uri is not None and urlsplit(uri).scheme.startswith("http"):
        names += [name for name in _TRACKING if os.environ.get(name)]
    return tuple(dict.fromkeys(names))


def _tokens(source: object) -> Iterator[str]:
    """Name the variables of a source, and of those that it is made of."""
    if isinstance(source, BaseModel):
        token = getattr(source, "token_env", None)
        if isinstance(token, str):
            yield token
        for name in type(source).model_fields:
            yield from _tokens(getattr(source, name))
    elif isinstance(source, list | tuple):
        for one in source:
            yield from _tokens(one)
