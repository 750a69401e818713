"""A promise that was broken, and how it is said that it no longer is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Alert:
    """One broken rule.

    Parameters
    ----------
    rule : str
        ``coverage``, ``error``, ``bias``, ``absent``, ``missed``; ``failed`` where a night, or looking back, was not
        possible; ``book`` where decisions about the model in use cannot be read, ``fit`` where its files cannot,
        ``promises`` where promises cannot.
    subject : str
        What it is about: ``log_volume, 2-5 ahead, 80 % band``, or a symbol.
    sentence : str
        What is wrong, by how much, and since how many nights.
    grade : int
        How bad, in coarse steps: one that stands is told again when this rises.
    """

    rule: str
    subject: str
    sentence: str
    grade: int = 1

    @property
    def key(self) -> str:
        """By which it is known again on another night."""
        return f"{self.rule}: {self.subject}"

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return asdict(self)


def resolved_in_words(key: str) -> str:
    """Say that an alert stands no more, and of what that is a sign.

    Parameters
    ----------
    key : str
        As `Alert.key` gives it; one that nobody knows, of another version of fints, is named as it is.
    """
    rule, _, subject = key.partition(": ")
    said = _OVER.get(rule)
    return f"resolved: the alert {key} stands no more" if said is None else f"resolved: {said(subject)}"


def _bias_is_over(subject: str) -> str:
    where, _, side = subject.rpartition(", ")
    return f"{where}: what comes no longer lies so far {side} the forecasts that it would be an alert"


_OVER: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "coverage": lambda subject: f"{subject}: it no longer holds so little that it would be an alert",
        "error": lambda subject: f"{subject}: the error is no longer so large that it would be an alert",
        "bias": _bias_is_over,
        "absent": lambda subject: f"{subject} has a forecast again, or is not asked for any more",
        "missed": lambda subject: (
            f"the newest sessions have forecasts made in time again, after those missed {subject}"
        ),
        "failed": lambda subject: f"{subject} is possible again",
        "book": lambda subject: f"the decisions about the model of {subject} can be read again",
        "fit": lambda subject: f"{subject} is forecast by the model in use again; nothing stands in for it",
        "promises": lambda _: "no earlier night is left whose promises cannot be read",
    }
)
"""How each rule says that nothing is wrong any more; also right where the rule was switched off since."""
