"""What a night says of the model in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.champion import BASELINE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from fints.champion import Rules, Seat, Standing
    from fints.errors import DamagedBookError
    from pipelines.shelf import Shelved

_RESTORE = (
    "Restore them from a backup, or put another fit in use with `fints model promote`; `fints model list` names them"
)

_PRINTED = 5e-4
"""Share below which a difference would print as 0.0 %."""


def sentences(state: Standing, lack: str, over: int, rules: Rules, due: str) -> tuple[str, ...]:
    """Say why a model is in use, and how its challenger stands.

    Parameters
    ----------
    state : Standing
    lack : str
        Why the champion cannot be had, where the baseline stands in for it; empty where it is shipped.
    over : int
        Windows of the trial that are over.
    rules : Rules
    due : str
        When the next fit is made, which is said where none is on trial; empty elsewhere.
    """
    grounds = ", provisionally" if state.provisional else ""
    said = [f"{state.champion} is in use since {state.since:%Y-%m-%d}{grounds}. {state.why}"]
    if lack:
        chosen = f"{state.champion} was chosen on {state.since:%Y-%m-%d}{grounds}. {state.why}"
        said = [f"{_lost(state.champion, lack)}.", f"{_RESTORE}.", chosen]
    if state.fallen is not None:
        said.append(f"{state.fallen} fell on {state.fell:%Y-%m-%d}; it is watched, and may come back.")
    if state.challenger is None:
        return (*said, f"There is no challenger; {due}.")
    ahead = [look for look in rules.looks if look > state.looked]
    if not ahead:
        return (*said, f"{state.challenger} is on trial.")
    count = f"{min(over, ahead[0])} of {ahead[0]} windows are over"
    return (*said, f"{state.challenger} is on trial; nothing is decided yet: {count}.")


def better_on_holdout(fit: Shelved) -> tuple[bool, str]:
    """Say whether a fit did better than the baseline on its hold-out, and in what words."""
    board, name = fit.holdout.leaderboard, fit.blend.name
    scores = {} if board.empty else dict(zip(board["model"], board["CRPS"], strict=True))
    own, usual = scores.get(name), scores.get(BASELINE)
    if own is None or usual is None or not np.isfinite([own, usual]).all():
        return (
            True,
            f"There was no hold-out to compare {name} with {BASELINE} on: it is used until windows have passed.",
        )
    ahead = bool(own <= usual)
    size = abs(own / usual - 1) if usual else 0.0
    first, second = (name, BASELINE) if ahead else (BASELINE, name)
    crps = f"CRPS of {name} {100 * size:.1f} % {'lower' if ahead else 'higher'} than that of {BASELINE}"
    if size < _PRINTED:
        crps = f"the CRPS of both is the same to within {100 * 2 * _PRINTED:.1f} %"
    rest = "it has yet to prove itself on bars that came later"
    return ahead, f"Provisionally: {first} did better than {second} on the hold-out ({crps}); {rest}."


def nothing_else(error: Exception) -> str:
    """Say why the baseline is installed where no fit could be made."""
    return f"Provisionally: nothing else could be fitted ({error}); the next fit will challenge it."


def without_transformer(why: str) -> str:
    """Add to the reason of a first model that its transformer failed."""
    return f"{why} Its transformer failed, so that it is not kept and the next fit will challenge it."


def dropped(target: str, members: Mapping[str, str]) -> list[str]:
    """Say which members a fit dropped, and why."""
    return [f"{target}: {name} was dropped: {cause}" for name, cause in members.items()]


def on_trial_at_once(seat: Seat) -> str:
    """Say why a first fit that the baseline beat goes on trial."""
    return f"{seat} goes on trial against {BASELINE}, which did better on the hold-out."


def on_trial(seat: Seat, why: str) -> str:
    """Say that a fit goes on trial."""
    return f"{seat} goes on trial: {why}."


def none_on_trial(every: int) -> str:
    """Say why a new fit is wanted: it is time."""
    return f"a new fit is made every {every} sessions, and none is on trial"


def drifting(champion: Seat, challenger: Seat) -> str:
    """Say why a new fit is wanted: the one in use is losing its touch."""
    return f"{champion} shows drift, and {challenger} was fitted before that"


def cycles_changed(challenger: Seat, changed: Sequence[str]) -> str:
    """Say why a new fit is wanted: cycles came or went."""
    return f"the cycles changed since {challenger} was fitted ({'; '.join(changed)})"


def fallen_back(verdict: str) -> str:
    """Say why the baseline is used from now on."""
    return f"{verdict} {BASELINE} is used until it recovers or a challenger proves itself."


def confirmed(verdict: str) -> str:
    """Say why a champion is provisional no longer."""
    return f"No longer provisional: {verdict}"


def outlasted(challenger: Seat) -> str:
    """Say why the baseline is provisional no longer."""
    return f"No longer provisional: {BASELINE} outlasted the trial of {challenger}."


def lost(seat: Seat) -> str:
    """Say why a trial ends."""
    return f"{seat} cannot be had any more."


def moved_in_registry(seat: Seat) -> str:
    """Say why a model is in use that a person named in the registry."""
    return f"The alias champion was moved to {seat} in the registry."


def no_such_fit(target: str, version: str) -> str:
    """Say why an alias is not followed: what it names is not there."""
    return f"{_alias(target, version)} is no fit of these settings that can be had; it is ignored."


def knows_the_future(target: str, version: str) -> str:
    """Say why an alias is not followed: what it names would know the answer."""
    return f"{_alias(target, version)} has learned from bars after this night; it is ignored."


def due_already(until: pd.Timestamp) -> str:
    """Say that a fit is due, and could not be put on trial tonight."""
    return f"a fit of the bars up to {until:%Y-%m-%d} is due, and the next night tries to make it"


def new_fit_failed(target: str, error: Exception) -> str:
    """Say that a newer fit could not be made."""
    return f"{target}: the new fit failed, and is tried again: {error}."


def new_fit_is_bare(target: str) -> str:
    """Say that a newer fit is not worth a trial."""
    return f"{target}: the new fit lacks its transformer; it is not put on trial."


def stands_in(target: str, error: DamagedBookError) -> str:
    """Say in a note that the baseline stands in, for the book cannot be read."""
    where = f"line {error.line} of {error.file}" if error.line else str(error.file)
    return f"{target}: {BASELINE} stands in for the model in use: {where} cannot be read."


def fit_is_lost(target: str, champion: Seat, lack: str) -> str:
    """Say in a note that the baseline stands in, for the files of the model in use cannot be had, and what to do."""
    return f"{target}: {_lost(champion, lack)}. {_RESTORE}."


def unknown_champion(error: DamagedBookError) -> tuple[str, ...]:
    """Say why it is not known which model is in use, and what to do about it."""
    said = str(error)
    return (
        f"{BASELINE} stands in tonight, for it cannot be said which model is in use.",
        f"{said[:1].upper()}{said[1:].rstrip('.')}.",
    )


def _lost(champion: Seat, lack: str) -> str:
    return f"{BASELINE} stands in for {champion}: {lack}"


def _alias(target: str, version: str) -> str:
    return f"{target}: the alias champion in the registry names {version}, which"
