"""A promise that was broken."""

from __future__ import annotations

from dataclasses import asdict, dataclass


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
