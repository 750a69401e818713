"""What a night says of the model in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.champion import BASELINE

if TYPE_CHECKING:
    from fints.champion import Rules, Seat, Standing
    from pipelines.shelf import Shelved


def sentences(state: Standing, seat: Seat, over: int, rules: Rules) -> tuple[str, ...]:
    """Say why a model is in use, and how its challenger stands.

    Parameters
    ----------
    state : Standing
    seat : Seat
        What is shipped: the champion, or what stands in for it.
    over : int
        Windows of the trial that are over.
    rules : Rules
    """
    grounds = ", provisionally" if state.provisional else ""
    said = [f"{state.champion} is in use since {state.since:%Y-%m-%d}{grounds}. {state.why}"]
    if seat != state.champion:
        said.append(f"It cannot be had tonight, so that {BASELINE} stands in for it.")
    if state.fallen is not None:
        said.append(f"{state.fallen} fell on {state.fell:%Y-%m-%d}; it is watched, and may come back.")
    if state.challenger is None:
        return (*said, "There is no challenger.")
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
    rest = "it has yet to prove itself on bars that came later"
    return ahead, f"Provisionally: {first} did better than {second} on the hold-out ({crps}); {rest}."
