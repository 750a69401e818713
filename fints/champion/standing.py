"""Where the models stand after a run of decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd

    from fints.champion.decision import Decision, Seat


@dataclass(frozen=True, slots=True)
class Standing:
    """Which model is in use, and what waits beside it.

    Parameters
    ----------
    champion : Seat
        In use.
    since : pandas.Timestamp
        As-of of the decision that put it there.
    why : str
        Reason of that decision.
    provisional : bool
        Whether it was chosen on the hold-out alone.
    challenger : Seat, optional
        On trial.
    looked : int
        Windows of the trial's last look; 0 before the first.
    fallen : Seat, optional
        Champion that the baseline stands in for.
    fell : pandas.Timestamp, optional
        As-of of its fall.
    recovered : pandas.Timestamp, optional
        As-of from which the champion is watched, where that is not the end of what it learned from: it came back, or a
        person wanted it, and what it did before is not held against it.
    watched : int
        Windows of the last look at the champion, or at the one that fell.
    stale : bool
        Whether the champion lost its touch after the challenger was fitted, so that a newer fit is wanted.
    newest : str
        ISO stamp of the last bar that any fit here has learned from.
    before : tuple of Seat
        Models that were in use earlier, the last one first.
    """

    champion: Seat
    since: pd.Timestamp
    why: str
    provisional: bool = False
    challenger: Seat | None = None
    looked: int = 0
    fallen: Seat | None = None
    fell: pd.Timestamp | None = None
    recovered: pd.Timestamp | None = None
    watched: int = 0
    stale: bool = False
    newest: str = ""
    before: tuple[Seat, ...] = ()

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Every fitted model that may be asked for again."""
        named = [self.champion, self.challenger, self.fallen, *self.before]
        return tuple(dict.fromkeys(seat for seat in named if seat is not None and not seat.is_baseline))

    @property
    def previous(self) -> Seat | None:
        """The model in use before; None if there was none, or only the same one."""
        return next((seat for seat in self.before if seat != self.champion), None)


def standing(decisions: Iterable[Decision], line: str) -> Standing | None:
    """Follow the decisions about one configuration.

    Parameters
    ----------
    decisions : iterable of Decision
        In the order in which they were made.
    line : str
        The configuration: those about others are passed over.

    Returns
    -------
    Standing or None
        None where nothing was installed yet.
    """
    state: Standing | None = None
    for one in decisions:
        state = follow(state, one, line)
    return state


def follow(state: Standing | None, one: Decision, line: str) -> Standing | None:
    """Return where the models stand after one decision more; one about another configuration changes nothing."""
    if one.seat.line != line:
        return state
    return installed(one) if state is None else followed(state, one)


def installed(one: Decision, rest: Iterable[Decision] = ()) -> Standing:
    """Return where the models stand after the first decision about a configuration, and others after it."""
    first = _seated(None, one, provisional=True)
    state = replace(first, newest=max(first.newest, one.seat.until))
    for later in rest:
        state = followed(state, later)
    return state


def followed(state: Standing, one: Decision) -> Standing:
    """Return where the models stand after one decision more about their configuration."""
    after = _seated(state, one, provisional=True) if one.kind == "install" else _FOLLOWED[one.kind](state, one)
    return replace(after, newest=max(after.newest, one.seat.until))


def _seated(state: Standing | None, one: Decision, *, provisional: bool = False) -> Standing:
    """Put a model in use."""
    before = () if state is None else (state.champion, *state.before)
    challenger, looked = (None, 0) if state is None else (state.challenger, state.looked)
    if challenger == one.seat:
        challenger, looked = None, 0
    return Standing(
        champion=one.seat,
        since=one.as_of,
        why=one.why,
        provisional=provisional,
        challenger=challenger,
        looked=looked,
        recovered=one.as_of if one.by != "night" else None,
        newest="" if state is None else state.newest,
        before=before,
    )


def _challenged(state: Standing, one: Decision) -> Standing:
    return replace(state, challenger=one.seat, looked=0, stale=False)


def _waited(state: Standing, one: Decision) -> Standing:
    return replace(state, looked=int(one.figures.get("windows", state.looked)))


def _withdrawn(state: Standing, one: Decision) -> Standing:  # noqa: ARG001 — it is the challenger
    return replace(state, challenger=None, looked=0)


def _confirmed(state: Standing, one: Decision) -> Standing:
    return replace(_kept(state, one), provisional=False)


def _kept(state: Standing, one: Decision) -> Standing:
    stale = state.stale or bool(one.figures.get("drift", 0.0))
    return replace(state, watched=int(one.figures.get("windows", state.watched)), stale=stale)


def _fell(state: Standing, one: Decision) -> Standing:
    return replace(_seated(state, one), fallen=state.champion, fell=one.as_of, stale=True)


def _recovered(state: Standing, one: Decision) -> Standing:
    return replace(_seated(state, one), recovered=one.as_of)


_FOLLOWED: Mapping[str, Callable[[Standing, Decision], Standing]] = MappingProxyType(
    {
        "challenge": _challenged,
        "wait": _waited,
        "withdraw": _withdrawn,
        "confirm": _confirmed,
        "keep": _kept,
        "promote": _seated,
        "rollback": _seated,
        "fall_back": _fell,
        "recover": _recovered,
    }
)
