"""Calls of a server that may answer without end: given up after a while."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from fints.errors import FintsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.settings import TrackingSettings

Answer = TypeVar("Answer")

ASK, SEND = 90.0, 300.0
"""Seconds for a question to a tracking server, and for what is sent to it: a request that fails takes half a minute."""


def in_time(call: Callable[[], Answer], seconds: float, tracking: TrackingSettings) -> Answer:
    """Return what a call of a tracking server gives, or raises; one that does not end is left behind.

    A request has a limit for each part of its answer and none for the whole: a server, or what stands before it, that
    sends a byte now and then would hold a night, and the lock of its home, for ever. A database on this machine has
    limits of its own.

    Parameters
    ----------
    call : callable
    seconds : float
    tracking : TrackingSettings

    Raises
    ------
    FintsError
        If it has not ended in time.
    """
    if tracking.uri is None or not tracking.uri.startswith(("http:", "https:")):
        return call()
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def answer() -> None:
        try:
            answers.append(call())
        except BaseException as error:  # noqa: BLE001 — it is raised where the answer is waited for
            errors.append(error)

    asking = Thread(target=answer, daemon=True, name="fints-server")
    asking.start()
    asking.join(seconds)
    if errors:
        raise errors[0]
    if not answers:
        raise FintsError(
            f"the tracking server began to answer and was not done within {seconds:g} s; see to it, and to what stands "
            "before it (tracking.uri)"
        )
    return answers[0]
