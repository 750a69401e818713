"""An explanation in words: every number is measured, and what chance can explain is said to be so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.explain.dividing import divide
from fints.explain.explanation import groups_in, held_out
from fints.explain.gain import HAR, REST
from fints.explain.groups import OTHER_DAYS
from fints.explain.history import History
from fints.explain.measured import SURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fints.explain.attention import Attention
    from fints.explain.explanation import Explanation
    from fints.explain.gain import Gain, Part
    from fints.explain.measured import Measured
    from fints.transformer import CycleTransformer

NEGLIGIBLE = 1e-3
"""Part of a loss that is not worth a sentence, however sure it is."""

LEAST_ATTENTION = 0.1
"""The same for attention beyond an even spread."""

BRIEF_WINDOWS, BRIEF_LEARNED, BRIEF_GROUPS = 48, 2000, 3


def sentences(explanation: Explanation) -> tuple[str, ...]:
    """Say what carries a model's gain, what its planes are worth, and where its attention looks."""
    gain = explanation.gain
    return (*gain_sentences(gain), *_planes(gain), *_attention(explanation.attention))


def gain_sentences(gain: Gain, loss: str = "RMSE") -> tuple[str, ...]:
    """Say how large a gain is and what carries it.

    Parameters
    ----------
    gain : Gain
    loss : {"RMSE", "CRPS"}
    """
    total, parts = gain.total[loss], gain.parts[loss]
    trained = "not trained on" if gain.unseen else "trained on in part"
    measured = f"{gain.windows} forecasts of {gain.first:%Y-%m-%d} to {gain.last:%Y-%m-%d} (bars {trained})"
    over = f"Over {measured}, the {loss} of the transformer alone"
    against = f"that of {'a ' if gain.reference == HAR else ''}{gain.reference}"
    if not gain.found(loss):
        side, size = ("below", total) if total.value >= 0 else ("above", total * -1)
        lesson = "no gain" if total.told else "nothing that can be told from chance"
        return (f"{over} is {share(size)} {side} {against}: {lesson} to divide.",)
    said = [f"{over} is {share(total)} below {against}."]
    carrying = sorted((p for p in parts if p.value.told and p.value.value > 0), key=lambda p: -p.value.value)
    costing = [p for p in parts if p.value.told and p.value.value < 0]
    silent = [p for p in parts if not p.value.told]
    if carrying:
        first, *others = carrying
        verb = "carry" if _plural(first) else "carries"
        listed = [f"{_named(first)} {verb} {share(first.share)} of this gain"]
        listed += [f"{_named(part)} {share(part.share)}" for part in others]
        said.append(_sentence(_joined(listed)))
    for part in costing:
        verb = "make" if _plural(part) else "makes"
        said.append(_sentence(f"{_named(part)} {verb} it smaller, by {share(part.share * -1)} of it"))
    if silent:
        verb = "add" if len(silent) > 1 or _plural(silent[0]) else "adds"
        said.append(_sentence(f"what {_joined([_named(part) for part in silent])} {verb} cannot be told from chance"))
    return tuple(said)


def cycle_sentences(model: CycleTransformer, panel: pd.DataFrame) -> tuple[str, ...]:
    """Say in two or three sentences what carries the gain of a fitted model, at little cost.

    The strongest cycle is looked at, the other cycles together, and single days, on a few dozen forecasts of the
    validation tail.

    Parameters
    ----------
    model : CycleTransformer
        Fitted.
    panel : pandas.DataFrame
        The rows that it was fitted on, and later ones if there are any.

    Raises
    ------
    NotFittedError, SchemaError, SeriesError
        See `fints.explain.explain`.
    """
    history = History.of(model, panel)
    groups = groups_in(history, most=BRIEF_GROUPS)
    ablation, after = held_out(history, groups, learned=BRIEF_LEARNED)
    return gain_sentences(divide(ablation, after, BRIEF_WINDOWS))


def percent(part: float) -> str:
    """Write a part as percent, with as many digits as tell something."""
    if not np.isfinite(part):
        return "unknown"
    size = abs(100 * part)
    return f"{100 * part:.0f} %" if size >= 10 else f"{100 * part:.1f} %" if size >= 1 else f"{100 * part:.2g} %"


def share(measured: Measured) -> str:
    """Write a share with its standard error: ``31 % (± 4 %)``."""
    return f"{percent(measured.value)} (± {percent(measured.error)})"


def _planes(gain: Gain) -> list[str]:
    """Say what holding still the planes of each cycle costs."""
    turning = [(part, part.still) for part in gain.parts["RMSE"] if part.still is not None]
    telling = [(part, still) for part, still in turning if still.told and abs(still.value) > NEGLIGIBLE]
    said = []
    for part, still in telling:
        turned = "raises" if still.value > 0 else "lowers"
        size = share(still * np.sign(still.value))
        said.append(f"Holding still the planes of {_named(part)} in the attention {turned} RMSE by {size}.")
    quiet = [_named(part) for part, still in turning if (part, still) not in telling]
    if quiet:
        said.append(
            f"Holding still the planes of {_joined(quiet)} in the attention changes RMSE by no more than chance does, "
            f"or by less than {percent(NEGLIGIBLE)}."
        )
    return said


def _attention(attention: Attention) -> list[str]:
    """Say how much more attention bars at the same place of a cycle get."""
    if not attention.kept:
        return ["Nothing of what attention learned is kept: its validation tail could not tell it from chance."]
    said, quiet = [], []
    for phase in attention.by_phase:
        heads = [(layer, head, m) for layer, row in enumerate(phase.same) for head, m in enumerate(row)]
        layer, head, most = max(heads, key=lambda item: item[2].value)
        if most.value - 1 > max(SURE * most.error, LEAST_ATTENTION):
            said.append(
                f"Head {head + 1} of layer {layer + 1} attends {most.value:.2f} (± {most.error:.2f}) times as much to "
                f"bars at the same place of the {phase.name} ({phase.cycle}) as an even spread would."
            )
        else:
            quiet.append(f"the {phase.name}")
    if quiet:
        said.append(f"No head attends much more than evenly to bars at the same place of {_joined(quiet)}.")
    return said


def _named(part: Part) -> str:
    return part.name if part.name in {REST, OTHER_DAYS} else f"the {part.name}"


def _plural(part: Part) -> bool:
    return part.name != REST and part.name.endswith("s")


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
