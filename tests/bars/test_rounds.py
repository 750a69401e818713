"""Rounds of fetches, with a clock that no test waits for."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import dataclass, field

import pandas as pd
import pytest

from fints.bars.rounds import Patience, Rounds, patience_of
from fints.bars.sources.base import Delivery
from fints.errors import FintsError, RateLimitedError, TransientError, UnknownSymbolError

EMPTY = Delivery(pd.DataFrame())


@dataclass
class Watch:
    """A clock that only sleeping and slow answers move."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def patience(self, **bounds: float) -> Patience:
        return Patience(**{"attempts": 4, **bounds}, sleep=self.sleep, clock=lambda: self.now)


class Script:
    """Answers per symbol, one after another, the last repeated; None is a delivery."""

    def __init__(self, **answers: list[Exception | None]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, symbol: str) -> Delivery:
        with self.lock:
            self.asked.append(symbol)
            told = self.answers[symbol]
            answer = told[0] if len(told) == 1 else told.pop(0)
        if answer is not None:
            raise answer
        return EMPTY


def run(patience: Patience, script: Script) -> tuple[Rounds, list[str]]:
    rounds, ended = Rounds(patience), []
    rounds.run(list(script.answers), script, ended.append)
    return rounds, ended


LATE, SLOW = TransientError("timed out"), RateLimitedError("slow down")


def test_a_transient_fault_is_tried_again_after_all_others_had_their_turn() -> None:
    watch, script = Watch(), Script(A=[LATE, LATE, None], B=[None], C=[None])
    rounds, ended = run(watch.patience(), script)
    assert script.asked == ["A", "B", "C", "A", "A"]
    assert (set(rounds.fetched), rounds.failed, ended) == ({"A", "B", "C"}, {}, ["B", "C", "A"])


def test_a_symbol_that_keeps_failing_is_given_up_after_its_attempts_with_its_cause() -> None:
    script = Script(A=[LATE], B=[None])
    rounds, ended = run(Watch().patience(attempts=3), script)
    assert script.asked == ["A", "B", "A", "A"]
    assert rounds.failed == {"A": LATE}
    assert ended == ["B", "A"]


def test_a_fault_for_good_is_not_tried_again() -> None:
    gone = UnknownSymbolError("gone")
    script = Script(A=[gone])
    rounds, _ = run(Watch().patience(), script)
    assert (script.asked, rounds.failed) == (["A"], {"A": gone})


def test_kind_01_a_rate_limit_pauses_everybody_and_defers_the_rest() -> None:
    watch, script = Watch(), Script(A=[None], B=[SLOW, SLOW, None], C=[None], D=[None])
    rounds, _ = run(watch.patience(pause=2.0), script)
    assert script.asked == ["A", "B", "B", "B", "C", "D"]
    assert set(rounds.fetched) == {"A", "B", "C", "D"}
    assert len(watch.slept) == 2
    assert all(2.0 <= pause <= 3.0 for pause in watch.slept)


def test_kind_01_pauses_grow_while_nothing_is_delivered_and_start_anew_when_something_is() -> None:
    watch = Watch()
    run(watch.patience(pause=2.0, attempts=5), Script(A=[SLOW, SLOW, SLOW, None], B=[SLOW, None]))
    bases = [2.0, 4.0, 8.0, 2.0]
    assert all(base <= pause <= 1.5 * base for base, pause in zip(bases, watch.slept, strict=True))


def test_kind_01_a_limit_that_stays_ends_as_a_rate_limit_and_never_as_nothing() -> None:
    watch, script = Watch(), Script(A=[None], B=[SLOW], C=[None])
    rounds, ended = run(watch.patience(attempts=3), script)
    assert script.asked == ["A", "B", "B", "B", "B"]
    assert set(rounds.failed) == {"B", "C"}
    assert all(isinstance(cause, RateLimitedError) for cause in rounds.failed.values())
    assert "put off to the next ingest" in str(rounds.failed["C"])
    assert ended == ["A", "B", "C"]


def test_kind_01_the_budget_bounds_the_waiting() -> None:
    watch = Watch()
    rounds, _ = run(watch.patience(pause=10.0, attempts=10, budget=100.0), Script(A=[SLOW]))
    assert sum(watch.slept) <= 100.0
    assert 2 <= len(watch.slept) <= 4
    assert isinstance(rounds.failed["A"], RateLimitedError)


def test_requests_that_hang_use_up_the_budget_too() -> None:
    watch, asked = Watch(), []

    def hang(symbol: str) -> Delivery:
        asked.append(symbol)
        watch.now += 20.0
        raise LATE

    rounds = Rounds(watch.patience(budget=50.0, attempts=4))
    rounds.run([f"S{number}" for number in range(500)], hang, lambda symbol: None)
    assert len(asked) == 3
    assert len(rounds.failed) == 500
    assert "not asked for, because requests that failed used up the budget of 50 s" in str(rounds.failed["S499"])


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_what_comes_of_it_does_not_depend_on_who_was_faster(workers) -> None:
    names = [f"S{number:02d}" for number in range(40)]
    answers = {name: [LATE, None] if number % 7 == 3 else [None] for number, name in enumerate(names)}
    answers["S10"], answers["S20"] = [SLOW, None], [UnknownSymbolError("gone")]
    script = Script(**answers)

    def fetch(symbol: str) -> Delivery:
        time.sleep(0.001 * (int(symbol[1:]) % 3))
        return script(symbol)

    rounds = Rounds(Watch().patience(workers=workers))
    rounds.run(names, fetch, lambda symbol: None)
    assert set(rounds.fetched) == set(names) - {"S20"}
    assert set(rounds.failed) == {"S20"}


def test_as_many_work_at_once_as_are_allowed_and_one_after_a_rate_limit() -> None:
    busy, most, limited = 0, {False: 0, True: 0}, threading.Event()
    lock = threading.Lock()

    def fetch(symbol: str) -> Delivery:
        nonlocal busy
        after = limited.is_set()
        with lock:
            busy += 1
            most[after] = max(most[after], busy)
        time.sleep(0.005)
        with lock:
            busy -= 1
        if symbol == "S12" and not after:
            raise SLOW
        return EMPTY

    watch = Watch()
    patience = Patience(
        workers=4, attempts=4, sleep=lambda seconds: (watch.sleep(seconds), limited.set())[0], clock=lambda: watch.now
    )
    rounds = Rounds(patience)
    rounds.run([f"S{number}" for number in range(30)], fetch, lambda symbol: None)
    assert len(rounds.fetched) == 30
    assert most[True] == 1
    assert 1 < most[False] <= 4


def test_an_error_that_is_none_of_ours_is_raised_where_the_caller_is() -> None:
    with pytest.raises(ZeroDivisionError):
        run(Watch().patience(workers=2), Script(A=[None], B=[ZeroDivisionError()]))


def test_an_interrupt_does_not_wait_for_a_request_that_hangs() -> None:
    let_go, begun, returned = threading.Event(), threading.Event(), []

    def hang(symbol: str) -> Delivery:
        begun.set()
        let_go.wait(60)
        returned.append(symbol)
        return EMPTY

    def interrupt() -> None:
        begun.wait(10)
        signal.pthread_kill(here, signal.SIGINT)  # as Ctrl-C does: only a signal wakes a thread that waits

    here = threading.get_ident()
    rounds = Rounds(Watch().patience(workers=2))
    # a process that a shell has put into the background ignores the signal
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            rounds.run(["A", "B", "C"], hang, lambda symbol: None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert returned == []  # the requests were still on their way
    let_go.set()
    assert rounds.fetched == {}


def test_a_source_that_says_nothing_of_it_is_asked_once() -> None:
    script = Script(A=[LATE], B=[SLOW], C=[None])
    rounds, _ = run(patience_of(object()), script)
    assert script.asked == ["A", "B"]
    assert {name: type(cause) for name, cause in rounds.failed.items()} == {
        "A": TransientError,
        "B": RateLimitedError,
        "C": RateLimitedError,
    }
    assert all(isinstance(cause, FintsError) for cause in rounds.failed.values())
