"""Rounds of fetches: several symbols at once, one back-off for all of them, and a budget that ends it.

A symbol whose fetch failed in a way that may pass is asked for again in a later round, after all others had their turn.
A source that asks to slow down is left alone by everybody: the round ends, a pause follows, and from then on symbols
are asked for one by one. What is left when the budget is spent fails with its cause.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from fints.errors import FintsError, RateLimitedError, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fints.bars.sources.base import Delivery

    Fetch = Callable[[str], Delivery]
    Progress = Callable[[str], None]
    Outcome = Delivery | BaseException | None

_LONGEST: Final = 120.0  # seconds of one pause


@dataclass(frozen=True, slots=True)
class Patience:
    """How a source is asked, and asked again.

    Attributes
    ----------
    workers : int
        Symbols asked for at once, until the source asks to slow down.
    attempts : int
        Tries per symbol that may fail in a way that may pass, and rounds in a row in which nothing may be delivered.
    pause : float
        Seconds of the pause after the first round; it doubles with each round that delivers nothing.
    budget : float
        Seconds that pauses and failed fetches may take in all.
    sleep, clock : callable
        Wait for some seconds; tell the seconds that have passed since some instant.
    """

    workers: int = 1
    attempts: int = 1
    pause: float = 2.0
    budget: float = 600.0
    sleep: Callable[[float], None] = field(default=time.sleep, compare=False)
    clock: Callable[[], float] = field(default=time.monotonic, compare=False)


@runtime_checkable
class Patient(Protocol):
    """A source that says how it wants to be asked; any other is asked once, symbol by symbol."""

    patience: Patience


def patience_of(source: object) -> Patience:
    """Return how a source wants to be asked."""
    return source.patience if isinstance(source, Patient) else Patience()


@dataclass(slots=True)
class Rounds:
    """Fetches of some symbols, as far as they have come.

    Attributes
    ----------
    patience : Patience
        The bounds.
    fetched : dict from symbol to Delivery
        What was delivered.
    failed : dict from symbol to FintsError
        What was given up, with its cause.
    """

    patience: Patience
    fetched: dict[str, Delivery] = field(default_factory=dict)
    failed: dict[str, FintsError] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=dict)
    _lost: float = 0.0
    _limit: RateLimitedError | None = None

    def run(self, symbols: Sequence[str], fetch: Fetch, progress: Progress) -> None:
        """Ask for every symbol until it is delivered or given up.

        Parameters
        ----------
        symbols : sequence of str
            In the order in which they are asked for.
        fetch : callable
            Returns a delivery or raises; it is called from other threads, several at once where there are workers.
        progress : callable
            Called in this thread with each symbol that is delivered or given up.

        Raises
        ------
        Exception
            What ``fetch`` raises beside a ``FintsError``; a KeyboardInterrupt does not wait for what is on its way.
        """
        pending, idle = list(symbols), 0
        while pending:
            outcomes = self._round(pending, fetch)
            causes = {s: outcome for s, outcome in outcomes.items() if isinstance(outcome, FintsError)}
            before, delivered = pending, len(self.fetched)
            pending = self._sort(before, outcomes)
            idle = 0 if len(self.fetched) > delivered else idle + 1
            for symbol in before:
                if symbol not in pending:
                    progress(symbol)
            pause = self._pause(idle)
            if pending and (max(idle, 1) >= self.patience.attempts or self._lost + pause > self.patience.budget):
                self._give_up(pending, causes)
                for symbol in pending:
                    progress(symbol)
                return
            if pending:
                self.patience.sleep(pause)
                self._lost += pause

    def _round(self, symbols: Sequence[str], fetch: Fetch) -> Mapping[str, Outcome]:
        """Ask for each symbol once; None for those whose turn did not come."""
        workers = 1 if self._limit is not None else min(self.patience.workers, len(symbols))
        crew = _Crew(symbols, fetch, self.patience.clock, self.patience.budget - self._lost)
        try:
            return crew.work(workers)
        finally:
            crew.halt.set()
            self._lost += crew.lost

    def _sort(self, symbols: Sequence[str], outcomes: Mapping[str, Outcome]) -> list[str]:
        """Take up what came of a round, in the order of the symbols, and return those to be asked for again."""
        again = []
        for symbol in symbols:
            outcome = outcomes[symbol]
            if outcome is None:
                again.append(symbol)
            elif isinstance(outcome, RateLimitedError):
                self._limit = self._limit or outcome
                again.append(symbol)
            elif isinstance(outcome, TransientError):
                self._tries[symbol] = self._tries.get(symbol, 0) + 1
                if self._tries[symbol] < self.patience.attempts:
                    again.append(symbol)
                else:
                    self.failed[symbol] = outcome
            elif isinstance(outcome, FintsError):
                self.failed[symbol] = outcome
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                self.fetched[symbol] = outcome
        return again

    def _pause(self, idle: int) -> float:
        longest = min(_LONGEST, self.patience.pause * 2.0 ** min(max(idle - 1, 0), 20))
        return longest * random.uniform(1.0, 1.5)

    def _give_up(self, symbols: Sequence[str], causes: Mapping[str, FintsError]) -> None:
        """Fail what is left: by its own fault, else by the rate limit, which is the same for all that it held up."""
        for symbol in symbols:
            own = causes.get(symbol)
            if own is not None and not isinstance(own, RateLimitedError):
                self.failed[symbol] = own
            elif self._limit is not None:
                self.failed[symbol] = RateLimitedError(
                    f"{symbol}: put off to the next ingest, because the source asked to slow down and went on doing so "
                    f"({self._limit})"
                )
            else:
                self.failed[symbol] = TransientError(
                    f"{symbol}: not asked for, because requests that failed used up the budget of "
                    f"{self.patience.budget:g} s; what is stored stays"
                )


class _Crew:
    """Threads that work through one round.

    They are daemons, and the caller waits for their results rather than for them: a request that hangs holds up neither
    a Ctrl-C nor the end of the program.
    """

    def __init__(self, symbols: Sequence[str], fetch: Fetch, clock: Callable[[], float], budget: float) -> None:
        self.halt = Event()
        self.lost = 0.0
        self._symbols = symbols
        self._fetch = fetch
        self._clock = clock
        self._budget = budget
        self._lock = Lock()
        self._todo: SimpleQueue[str] = SimpleQueue()
        self._done: SimpleQueue[tuple[str, Outcome]] = SimpleQueue()

    def work(self, workers: int) -> Mapping[str, Outcome]:
        for symbol in self._symbols:
            self._todo.put(symbol)
        for _ in range(workers):
            Thread(target=self._serve, daemon=True, name="fints-fetch").start()
        return dict(self._done.get() for _ in self._symbols)

    def _serve(self) -> None:
        while True:
            try:
                symbol = self._todo.get_nowait()
            except Empty:
                return
            self._done.put((symbol, None if self.halt.is_set() else self._try(symbol)))

    def _try(self, symbol: str) -> Outcome:
        began = self._clock()
        try:
            return self._fetch(symbol)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            if isinstance(error, TransientError | RateLimitedError):
                with self._lock:
                    self.lost += self._clock() - began
            if not isinstance(error, FintsError) or isinstance(error, RateLimitedError) or self.lost > self._budget:
                self.halt.set()
            return error
