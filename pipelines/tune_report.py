"""The report of a search: from what was found out to a page, to settings and to plain values."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pandas as pd
import yaml

from fints import __version__
from fints.report import TuningReport
from fints.sessions import calendar_version, parse_interval
from fints.settings import CycleSettings, NightlySettings
from pipelines.files import DIGITS
from pipelines.terminal import counted

if TYPE_CHECKING:
    from fints.backtest.skill import Skill
    from fints.settings import TuneSettings
    from pipelines.tune import Tuning

BEST = "best.yaml"

_TAKEN_OVER = ("source", "symbols", "interval", "exchange", "tracking")
"""Keys of a search that mean the same for a night."""


def tuning_report(done: Tuning, best: str) -> TuningReport:
    """Fill the report of a search.

    Parameters
    ----------
    done : Tuning
    best : str
        As `best_yaml` gives it.
    """
    settings = done.settings
    return TuningReport(
        dataset=settings.dataset,
        target=settings.target,
        as_of=str(done.as_of),
        created_at=pd.Timestamp.now("UTC"),
        result=done.result,
        priors=settings.periods.priors,
        how=how_it_was_done(done),
        facts=_facts(done),
        settings=yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True),
        best=best,
        command=f"fints nightly --config {BEST}",
        left_out=tuple((p.unique_id, p.reason, p.left_out) for p in done.problems)
        + tuple((symbol, cause, True) for symbol, cause in done.failed.items()),
        warnings=done.warnings,
    )


def how_it_was_done(done: Tuning) -> str:
    """Say in a sentence what a trial is."""
    settings, folds = done.settings, done.settings.folds
    bars = "session" if parse_interval(settings.interval) is None else "bar"
    beyond = (
        f"scored beyond the {counted(settings.trained_h, bars)} that it is trained for, up to {settings.h}"
        if settings.h > settings.trained_h
        else f"scored on the next {counted(settings.h, bars)}"
    )
    return (
        f"A trial fits {counted(folds.n_folds, 'time')}, forecasts from {counted(folds.block, 'origin')} after each, "
        f"and is {beyond}. The best are fitted again on {counted(folds.confirm_folds, 'later fold')}, and what they "
        f"end in is judged once on {counted(folds.test_windows, 'window')} at the end."
    )


def best_settings(done: Tuning) -> NightlySettings:
    """Return the settings of a night with what the search ended in.

    Where no gain was confirmed, the plan is made each night as the settings of the search say, and not frozen.
    """
    settings, chosen = done.settings, done.result.chosen
    own: dict[str, Any] = {key: getattr(settings, key) for key in _TAKEN_OVER if key in settings.model_fields_set}
    cycles = [CycleSettings.of(cycle).model_dump(mode="json", exclude_defaults=True) for cycle in chosen.plan]
    periods = {"cycles": cycles} if done.result.confirmation.accepted else _said(settings, "periods")
    return NightlySettings.model_validate(
        {
            **own,
            "dataset": settings.dataset,
            "targets": settings.targets,
            "h": settings.trained_h,
            "input_size": settings.input_size,
            "periods": periods,
            "encoding": chosen.encoding.model_dump(mode="json", exclude_defaults=True) | {"kind": chosen.encoding.kind},
            "network": {**_said(settings, "network"), **chosen.network},
            "training": {**_said(settings, "training"), **chosen.training},
            "random_seed": settings.random_seed,
        }
    )


def best_yaml(done: Tuning) -> str:
    """Write `best_settings`, the verdict on top, as a file that ``fints nightly --config`` takes."""
    said = [
        done.result.confirmation.sentence,
        f"Made by fints tune (study {done.result.name}, data up to {done.as_of}); fints nightly --config {BEST}",
    ]
    head = "".join(f"# {line}\n" for sentence in said for line in sentence.splitlines())
    plain = best_settings(done).model_dump(mode="json", exclude_unset=True)
    return head + yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)


def plain_tuning(done: Tuning) -> dict[str, object]:
    """Return a search as plain values, for machines."""
    result, test = done.result, done.result.test
    return {
        "study": result.name,
        "storage": done.store.location,
        "dataset": done.settings.dataset,
        "target": done.settings.target,
        "as_of": done.as_of.stamp.isoformat(),
        "data_version": done.data_version,
        "accepted": result.confirmation.accepted,
        "verdict": result.confirmation.sentence,
        "gain": _skill(result.confirmation.gain),
        "confirmation": _records(result.confirmation.rows),
        "test": None
        if test is None
        else {
            "sentence": test.sentence,
            "rows": _records(test.rows),
            "rmse": _skill(test.rmse),
            "crps": _skill(test.crps),
        },
        "best": {"trial": result.best.number, "value": result.best.value, "params": dict(result.best.params)},
        "untuned": result.untuned.to_dict(),
        "tuned": result.tuned.to_dict(),
        "chosen": result.chosen.to_dict(),
        "importance": dict(result.importance),
        "diagnostics": list(result.diagnostics),
        "trials": _records(result.trials),
        "problems": [{"unique_id": p.unique_id, "reason": p.reason, "left_out": p.left_out} for p in done.problems],
        "failed": done.failed,
        "warnings": list(done.warnings),
        "mlflow_run": done.run_id,
    }


def _said(settings: TuneSettings, section: str) -> dict[str, Any]:
    """Return the keys of a section that were set."""
    plain: dict[str, Any] = getattr(settings, section).model_dump(mode="json", exclude_unset=True)
    return plain


def _skill(gain: Skill) -> dict[str, object]:
    numbers = {name: getattr(gain, name) for name in ("value", "low", "high")}
    known = {name: value if pd.notna(value) else None for name, value in numbers.items()}
    return {**known, "level": gain.level, "windows": gain.windows, "reason": gain.reason}


def _records(frame: pd.DataFrame) -> list[dict[str, object]]:
    records: list[dict[str, object]] = json.loads(
        frame.to_json(orient="records", double_precision=DIGITS, date_format="iso", default_handler=str)
    )
    return records


def _facts(done: Tuning) -> dict[str, dict[str, str]]:
    settings = done.settings
    data = {
        "series": str(done.panel.series),
        "interval": settings.interval,
        "bars": str(done.panel.rows),
        "data version": str(done.data_version),
        "calendar known at": f"{done.as_of.known_at:%Y-%m-%d %H:%M}",
    }
    search = {
        "study": done.result.name,
        "trials in": done.store.location,
        "score": settings.objective.score.upper(),
        "sampler": settings.sampler,
        "encoding": settings.encoding.kind,
        "workers": str(settings.wanted_workers),
    }
    run = {
        "fints": __version__,
        "calendar": calendar_version(),
        "configuration": settings.digest,
        "seed": str(settings.random_seed),
        "processors": str(os.cpu_count()),
    }
    return {"Data": data, "Search": search, "Run": run}
