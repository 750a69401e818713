"""Several sources as one: the next is asked where one fails, and a second one may check the first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints.bars.rounds import Patience, Patient, patience_of
from fints.bars.sources.base import BarRequest, BarSource, Delivery, read_in_full
from fints.bars.sources.cross_check import Bounds, compare_sources
from fints.errors import (
    ConfigError,
    FintsError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownNameError,
    UnknownSymbolError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Member:
    """A source of a chain.

    Attributes
    ----------
    source : BarSource
        Where it asks.
    spelled : mapping from str to str
        From our symbols to those of the source, where they differ: ``{"BRK-B": "BRK.B"}``.
    called : str
        What it is called in this chain; empty leaves it its own name.
    """

    source: BarSource
    spelled: Mapping[str, str]
    called: str = ""

    @property
    def name(self) -> str:
        """What it is called; written to the column ``source``."""
        return self.called or self.source.name

    def symbols(self) -> list[str]:
        """Return what the source lists, as we spell it."""
        ours = {theirs: symbol for symbol, theirs in self.spelled.items()}
        return [ours.get(symbol, symbol) for symbol in self.source.symbols()]

    def fetch(self, request: BarRequest) -> Delivery:
        """Ask by the source's spelling, and answer by ours.

        Raises
        ------
        FintsError
            As the source does; one that has no bar at all says so by a NoSuchRangeError.
        """
        theirs = self.spelled.get(request.symbol, request.symbol)
        told = self.source.fetch(
            BarRequest(theirs, request.interval, request.start, request.end, request.exchange),
        )
        if told.bars.empty:
            raise NoSuchRangeError(f"{self.name} delivered no bar of {theirs!r} ({request.interval})")
        if theirs == request.symbol and self.name == self.source.name:
            return told
        bars, actions = (
            frame.assign(symbol=request.symbol, source=self.name).astype({"symbol": "str", "source": "str"})
            for frame in (told.bars, told.actions)
        )
        return replace(told, bars=bars, actions=actions)


class ChainSource:
    """Sources in the order in which they are asked.

    One that asks to slow down is asked no more until the next call of :meth:`symbols`, with which a run begins, or
    until there is no other left.

    Parameters
    ----------
    members : sequence of Member
        The first is the one that counts; each further one stands in for those before it.
    bounds : Bounds or None
        How far two sources may differ; None does not compare them.
    """

    name = "chain"

    def __init__(self, members: Sequence[Member], bounds: Bounds | None = None) -> None:
        self._members = tuple(members)
        self._bounds = bounds
        self.live = any(member.source.live for member in members)
        self.whole = all(read_in_full(member.source) for member in members)
        self._limits: dict[str, RateLimitedError] = {}  # by the names of sources
        self._unchecked = False  # whether it was said that nothing is cross-checked any more

    @property
    def patience(self) -> Patience:
        """How the first of its sources that says so wants to be asked; as many at once as the very first one takes."""
        first = self._members[0].source
        told = next((member.source for member in self._members if isinstance(member.source, Patient)), first)
        return replace(patience_of(told), workers=patience_of(first).workers)

    def symbols(self) -> list[str]:
        """Return what its sources list, together.

        Raises
        ------
        ConfigError
            One of them cannot be used at all: its token is missing, say.
        """
        self._limits.clear()
        self._unchecked = False
        return sorted({symbol for member in self._members for symbol in member.symbols()})

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars of the first source that delivers; the notes say which did not, and why.

        Raises
        ------
        FintsError
            None did. The message names every cause; the error is a RateLimitedError only where all were rate limited,
            an UnknownSymbolError only where none knows the symbol, and a TransientError where a later try may help.
        """
        causes: list[tuple[str, FintsError]] = []
        if all(member.name in self._limits for member in self._members):
            self._limits.clear()  # a pause lies between, for the last symbol failed as rate limited
        for place, member in enumerate(self._members):
            try:
                told = self._ask(member, request)
            except FintsError as error:
                causes.append((member.name, error))
                continue
            notes = [f"{name} did not deliver ({cause}); {member.name} did" for name, cause in causes]
            return self._checked(told, notes, member, self._members[place + 1 :], request)
        raise _joint(causes, request)

    def _ask(self, member: Member, request: BarRequest) -> Delivery:
        """Ask a source, unless it has asked to slow down."""
        name = member.name
        limit = self._limits.get(name)
        if limit is not None:
            raise RateLimitedError(f"not asked any more in this run, after: {limit}")
        try:
            return member.fetch(request)
        except RateLimitedError as error:
            self._limits[name] = error
            raise

    def _checked(
        self, told: Delivery, notes: list[str], by: Member, others: Sequence[Member], request: BarRequest
    ) -> Delivery:
        """Hold a delivery against the next source, where that is wanted; the delivery's values stay in any case."""
        findings = list(told.findings)
        if self._bounds is not None:
            second = others[0] if others else None
            try:
                if second is None:
                    raise SourceError("there is no further source")
                findings += compare_sources(told.bars, self._ask(second, request).bars, self._bounds)
            except RateLimitedError as error:
                if not self._unchecked:
                    name = f"{by.name} against {others[0].name}"
                    notes.append(f"not cross-checked, {name}, nor is any further symbol of this run: {error}")
                self._unchecked = True
            except FintsError as error:
                name = by.name if second is None else f"{by.name} against {second.name}"
                notes.append(f"not cross-checked, {name}: {error}")
        return replace(told, notes=(*notes, *told.notes), findings=tuple(findings))


def _joint(causes: Sequence[tuple[str, FintsError]], request: BarRequest) -> FintsError:
    errors = [error for _, error in causes]
    listed = "; ".join(f"{name}: {error}" for name, error in causes)
    return _class_of(errors)(f"no source delivered {request.symbol!r} ({request.interval}). {listed}")


def _class_of(errors: Sequence[FintsError]) -> type[ConfigError | SourceError]:
    if all(isinstance(error, RateLimitedError) for error in errors):
        return RateLimitedError
    if any(isinstance(error, RateLimitedError | TransientError) for error in errors):
        return TransientError
    if all(isinstance(error, UnknownSymbolError | UnknownNameError) for error in errors):
        return UnknownSymbolError
    if all(isinstance(error, NoSuchRangeError) for error in errors):
        return NoSuchRangeError
    return ConfigError if all(isinstance(error, UsageError) for error in errors) else SourceError
