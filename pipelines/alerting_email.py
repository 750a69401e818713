"""Alerts by e-mail. The password comes from the environment, and goes over an encrypted connection or not at all."""

from __future__ import annotations

import os
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fints.settings.alerts import EmailSettings
    from pipelines.alerting import Message

VARIABLE = "FINTS_ALERT_PASSWORD"


def mail(message: Message, settings: EmailSettings | None) -> str | None:
    """Send a message.

    Returns
    -------
    str or None
        None where nobody is to be mailed, an empty text where the server took it, or why not.
    """
    if settings is None:
        return None
    password = os.environ.get(VARIABLE)
    if settings.user is not None and not password:
        return f"alerts were not mailed: alerts.email.user is set, and {VARIABLE} is not; set it in the environment"
    if settings.user is not None and not settings.starttls:
        return "alerts were not mailed: a password is sent over an encrypted connection only; set starttls: true"
    try:
        with smtplib.SMTP(settings.host, settings.port, timeout=settings.timeout) as server:
            if settings.starttls:
                server.starttls(context=ssl.create_default_context())
            if settings.user is not None and password:
                server.login(settings.user, password)
            refused = server.send_message(_letter(message, settings))
    except smtplib.SMTPResponseException as error:
        # what the server said is not repeated: some say back what they were sent
        return f"alerts were not mailed: {settings.host} refused with code {error.smtp_code} ({type(error).__name__})"
    except (OSError, smtplib.SMTPException, ValueError) as error:
        return f"alerts were not mailed: {settings.host} cannot be used ({type(error).__name__})"
    return f"alerts were not mailed to {', '.join(sorted(refused))}: {settings.host} refused them" if refused else ""


def _letter(message: Message, settings: EmailSettings) -> EmailMessage:
    letter = EmailMessage()
    letter["Subject"] = " ".join(message.subject.split())
    letter["From"] = settings.sender
    letter["To"] = ", ".join(settings.to)
    letter["Date"] = formatdate()
    letter["Message-ID"] = make_msgid(domain=settings.sender.rpartition("@")[2])
    letter.set_content(message.text)
    return letter
