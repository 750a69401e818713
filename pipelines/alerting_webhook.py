"""Alerts posted as JSON to an address that may hold a secret: it is never repeated, in no message and no log."""

from __future__ import annotations

import http.client
import json
import os
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from fints.settings.alerts import web_address

if TYPE_CHECKING:
    from fints.settings.alerts import WebhookSettings
    from pipelines.alerting import Message

VARIABLE = "FINTS_ALERT_WEBHOOK"


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: what is posted is for one address only."""

    def redirect_request(self, *_: object) -> None:
        """Take the redirect for the answer."""


def post(message: Message, settings: WebhookSettings) -> str | None:
    """Post a message.

    Returns
    -------
    str or None
        None where there is no address, an empty text where it was taken, or why not, without the address.
    """
    named = os.environ.get(VARIABLE)
    url = named or (settings.url.get_secret_value() if settings.url is not None else None)
    if not url:
        return None
    if not web_address(url):
        return f"alerts were not posted: {VARIABLE} holds no address that begins with https:// or http://"
    host = urlsplit(url).hostname
    body = json.dumps(message.to_json()).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "fints"}
    # urllib, for requests writes addresses into the log
    try:
        with build_opener(_Stay).open(Request(url, body, headers, method="POST"), timeout=settings.timeout):
            return ""
    except HTTPError as error:
        with error:
            return f"alerts were not posted: {host} answered with status {error.code}"
    except URLError as error:
        return f"alerts were not posted: {host} cannot be reached ({_cause(error.reason)})"
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"alerts were not posted: {host} did not answer as a web server does ({type(error).__name__})"


def _cause(reason: object) -> str:
    return type(reason).__name__ if isinstance(reason, Exception) else "no reason given"
