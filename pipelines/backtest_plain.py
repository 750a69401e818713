"""A backtest as plain values, for machines."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING

from pipelines.files import DIGITS

if TYPE_CHECKING:
    import pandas as pd

    from pipelines.backtest import TargetBacktest


def plain(found: TargetBacktest) -> dict[str, object]:
    """Return what was found out about a target, as JSON holds it."""
    result, beyond = found.result, found.extrapolation
    frames = {
        "leaderboard": result.leaderboard(against=found.baseline),
        "significance": result.significance(),
        "by_step": result.by_step(),
        "by_series": result.by_series(),
        "timeline": result.timeline,
        "jobs": result.jobs,
    }
    distances = beyond and {"by_band": beyond.by_band(), "by_step": beyond.by_step(), "slopes": beyond.slopes()}
    return {
        **{name: _records(frame) for name, frame in frames.items()},
        "comparison": _compared(found),
        "extrapolation": distances and {name: _records(frame) for name, frame in distances.items()},
        "verdicts": [verdict.sentence for verdict in found.verdicts],
        "cutoffs": [cutoff.isoformat() for cutoff in result.folds.cutoffs],
        "plan": found.plan.to_dict()["cycles"],
        "problems": [{"unique_id": p.unique_id, "reason": p.reason, "left_out": p.left_out} for p in found.problems],
        "seconds": dict(result.seconds),
    }


def _compared(found: TargetBacktest) -> dict[str, object]:
    compared = found.result.comparison(found.baseline)
    superior = compared.superior
    return {
        "against": compared.against,
        "sentences": list(compared.sentences()),
        "pairs": _records(compared.family.pairs),
        "confidence_set": list(compared.best.models),
        "superior": None if superior is None else {"p_value": _number(superior.p_value), "better": superior.better},
    }


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


def _records(frame: pd.DataFrame) -> object:
    return json.loads(frame.to_json(orient="records", double_precision=DIGITS, date_format="iso"))
