"""A claim: what is stated, what came out, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

_ROUNDING = 1 + 1e-9


def number(value: float, digits: int = 2) -> str:
    """Write a number with some significant digits, its exponent without padding: ``2.6e-7``.

    >>> number(0.00000026)
    '2.6e-7'
    """
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


@dataclass(frozen=True, slots=True)
class Value:
    """A published number; what is computed has to round to it.

    Parameters
    ----------
    text : str
        The number with as many digits as were published: ``"0.7071"``, ``"-1.7e-10"``.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def met_by(self, computed: float) -> bool:
        """Whether the number computed lies within half a unit of the last published digit."""
        stated = Decimal(self.text)
        half = float(Decimal(5).scaleb(int(stated.as_tuple().exponent) - 1))
        return abs(computed - float(stated)) <= half * _ROUNDING


@dataclass(frozen=True, slots=True)
class Below:
    """An upper limit.

    Parameters
    ----------
    limit : float
    """

    limit: float

    def __str__(self) -> str:
        return f"< {number(self.limit, 4)}"

    def met_by(self, computed: float) -> bool:
        """Whether the number computed lies below the limit."""
        return computed < self.limit


@dataclass(frozen=True, slots=True)
class Above:
    """A lower limit.

    Parameters
    ----------
    limit : float
    """

    limit: float

    def __str__(self) -> str:
        return f"> {number(self.limit, 4)}"

    def met_by(self, computed: float) -> bool:
        """Whether the number computed lies above the limit."""
        return computed > self.limit


@dataclass(frozen=True, slots=True)
class Near:
    """A number that theory gives, and how far off the computed one may be.

    Parameters
    ----------
    value, tolerance : float
    """

    value: float
    tolerance: float

    def __str__(self) -> str:
        return f"{number(self.value, 4)} ± {number(self.tolerance)}"

    def met_by(self, computed: float) -> bool:
        """Whether the number computed lies within the tolerance."""
        return abs(computed - self.value) <= self.tolerance


Stated = Value | Below | Above | Near

Kind = Literal["number", "proposition", "own", "refutation"]
"""A published number, a check of what was published in words or formulas, one of our own, or one that refutes."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement, checked. A computed number that is not a number meets nothing.

    Parameters
    ----------
    statement : str
    stated : Value, Below, Above or Near
    computed : float
    source : str
        Where it was published: ``"[T-RoPE] eq. 12"``; empty for a check of our own.
    refutes : str
        The published statement that is wrong if the claim passes, and what is right, in a sentence without its stop.
    """

    statement: str
    stated: Stated
    computed: float
    source: str = ""
    refutes: str = ""

    @property
    def kind(self) -> Kind:
        """What it counts as."""
        if self.refutes:
            return "refutation"
        if not self.source:
            return "own"
        return "number" if isinstance(self.stated, Value) else "proposition"

    @property
    def passed(self) -> bool:
        """Whether the computed number is what is stated."""
        return self.stated.met_by(self.computed)

    @property
    def result(self) -> str:
        """The same in words."""
        if not self.passed:
            return "FAILED"
        if self.refutes:
            return "refutes the source"
        if not isinstance(self.stated, Value):
            return "passed"
        digits = len(Decimal(self.stated.text).as_tuple().digits)
        return f"agrees to {digits} digit{'s' if digits > 1 else ''}"

    @property
    def computed_text(self) -> str:
        """The computed number with two digits more than were published, or enough to be compared with a limit."""
        if isinstance(self.stated, Value):
            return number(self.computed, len(Decimal(self.stated.text).as_tuple().digits) + 2)
        return number(self.computed, 4 if isinstance(self.stated, Near) else 2)
