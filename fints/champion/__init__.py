"""Which model is in use: decisions that are written down, and the rules that they follow."""

from fints.champion.book import Book
from fints.champion.decision import BASELINE, Decision, Seat
from fints.champion.rules import Rules, Trial, degradation, promotion, recovery
from fints.champion.ruling import Ruling
from fints.champion.standing import Standing, follow, followed, installed, standing

__all__ = [
    "BASELINE",
    "Book",
    "Decision",
    "Rules",
    "Ruling",
    "Seat",
    "Standing",
    "Trial",
    "degradation",
    "follow",
    "followed",
    "installed",
    "promotion",
    "recovery",
    "standing",
]
