"""Settings of alerts: when earlier forecasts break what was promised, and who is told."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from fints.settings.section import Section
from fints.verification import Count, Limit, Rules


class FigureRule(Section):
    """A rule about figures of live forecasts.

    Attributes
    ----------
    enabled : bool
    margin : float
        By how much they may be worse than promised before that counts.
    level : float
        Chance that faultless forecasts raise any alert of the rule on one night.
    """

    enabled: bool = True
    margin: float = Field(default=0.2, ge=0, le=10)
    level: float = Field(default=0.01, gt=0, lt=0.5)

    @property
    def limit(self) -> Limit:
        """As the rules take it."""
        return Limit(self.margin, self.level, self.enabled)


class CountRule(Section):
    """A rule about nights that are lacking.

    Attributes
    ----------
    enabled : bool
    nights : int
        In a row, from which there is an alert.
    """

    enabled: bool = True
    nights: int = Field(default=3, ge=1, le=250)

    @property
    def count(self) -> Count:
        """As the rules take it."""
        return Count(self.nights, self.enabled)


class WebhookSettings(Section):
    """Where alerts are posted as JSON.

    Attributes
    ----------
    url : str, optional
        The environment variable FINTS_ALERT_WEBHOOK goes before it, and is the place for an address with a secret.
    timeout : float
        Seconds.
    """

    url: SecretStr | None = None
    timeout: float = Field(default=10.0, gt=0, le=120)

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not web_address(url.get_secret_value()):
            raise ValueError("it has to begin with https:// or http:// and name a host")
        return url


class EmailSettings(Section):
    """To whom alerts are mailed; the password stands in the environment variable FINTS_ALERT_PASSWORD alone.

    Attributes
    ----------
    host : str
        Of the mail server.
    port : int
    sender : str
    to : tuple of str
    user : str, optional
        Logged in with, where the server asks for it.
    starttls : bool
        Whether the connection is encrypted before anything is said; without, no password is sent.
    timeout : float
        Seconds.
    """

    host: str = Field(min_length=1, pattern=r"^[^\s/@]+$")
    port: int = Field(default=587, ge=1, le=65535)
    sender: str = Field(pattern=r"^[^\s@<>,]+@[^\s@<>,]+$")
    to: tuple[str, ...] = Field(min_length=1)
    user: str | None = None
    starttls: bool = True
    timeout: float = Field(default=20.0, gt=0, le=120)

    @field_validator("to", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("to")
    @classmethod
    def _are_addresses(cls, to: tuple[str, ...]) -> tuple[str, ...]:
        for address in to:
            if address.count("@") != 1 or any(c.isspace() or c in "<>," for c in address):
                raise ValueError("write plain addresses, such as desk@example.com")
        return to


class AlertSettings(Section):
    """When a night ends in an alert, and who is told.

    Attributes
    ----------
    nights : int
        Newest nights with live forecasts that figures are judged on.
    coverage : FigureRule
        Share within a band below what was promised, by `margin` (0.05: five points).
    error : FigureRule
        Mean absolute error above the hold-out's, by `margin` as a share of it.
    bias : FigureRule
        Mean error other than zero, by `margin` as a share of the promised mean absolute error.
    absent : CountRule
        A symbol without forecasts.
    missed : CountRule
        Sessions without a night, or with one that failed.
    remind : int
        Nights after which an alert that stands is told again; 0 never.
    webhook : WebhookSettings
    email : EmailSettings, optional
    """

    nights: int = Field(default=60, ge=20, le=250)
    coverage: FigureRule = Field(default_factory=lambda: FigureRule(margin=0.05))
    error: FigureRule = Field(default_factory=lambda: FigureRule(margin=0.2))
    bias: FigureRule = Field(default_factory=lambda: FigureRule(margin=0.5))
    absent: CountRule = Field(default_factory=lambda: CountRule(nights=3))
    missed: CountRule = Field(default_factory=lambda: CountRule(nights=2))
    remind: int = Field(default=5, ge=0, le=250)
    webhook: WebhookSettings = Field(default_factory=WebhookSettings)
    email: EmailSettings | None = None

    @property
    def rules(self) -> Rules:
        """As `fints.verification` takes them."""
        return Rules(
            coverage=self.coverage.limit,
            error=self.error.limit,
            bias=self.bias.limit,
            absent=self.absent.count,
            missed=self.missed.count,
            nights=self.nights,
        )


def web_address(text: str) -> bool:
    """Whether a text is an address that can be posted to."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and not any(map(str.isspace, text))
    except ValueError:
        return False
