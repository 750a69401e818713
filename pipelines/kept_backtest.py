"""A backtest on disk: its page, its tables, and all that is needed to take it up again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pandas as pd

from fints.backtest import CrossValidation, Extrapolation, Folds
from fints.errors import FintsError, StoreError
from fints.plan import FrequencyPlan
from fints.report import backtest_markdown, render_backtest
from fints.series import SeriesProblem
from fints.settings import BacktestSettings
from pipelines.asof import AsOf
from pipelines.backtest import Backtest, TargetBacktest, verdicts
from pipelines.files import draft_beside, write_text
from pipelines.fitted import PanelFacts
from pipelines.report import backtest_report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.home import Home

FORMAT = 1
RESULT, PAGE, TEXT = "result.json", "index.html", "report.md"
_FRAMES = ("frame", "void", "timeline", "jobs")


def folder_of(done: Backtest, home: Home) -> Path:
    """Return where a backtest is kept: one folder for every dataset, as-of, settings and data version."""
    decisive = f"{done.settings.digest} {done.data_version}"
    name = f"{done.settings.dataset}-{done.as_of}-{hashlib.sha256(decisive.encode()).hexdigest()[:8]}"
    return home.reports / "backtests" / name


def keep(done: Backtest, home: Home) -> Path:
    """Write a backtest to disk; one with the same settings and data is replaced.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    StoreError
        If the folder cannot be written.
    """
    folder = folder_of(done, home)
    report = backtest_report(done)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for found in done.targets:
            _write_frames(found, folder / found.target)
        write_text(folder / TEXT, backtest_markdown(report))
        write_text(folder / PAGE, render_backtest(report))
        said = [f"{found.target}: {found.headlines()[0]}" for found in report.targets]
        plain = {"made": report.created_at.isoformat(), "verdict": said, **_plain(done)}
        write_text(folder / RESULT, json.dumps(plain, indent=1, allow_nan=False) + "\n")
    except (OSError, ValueError) as error:  # a value that JSON or Parquet does not take must not lose the rest either
        raise StoreError(
            f"the backtest cannot be kept in {folder}: {error}; if there is no room, free space or set FINTS_HOME"
        ) from error
    return folder / PAGE


def note_run(folder: Path, run_id: str) -> None:
    """Write down under which MLflow run a kept backtest was logged."""
    value = _read(folder)
    write_text(folder / RESULT, json.dumps({**value, "run_id": run_id}, indent=1, allow_nan=False) + "\n")


def load(folder: Path) -> Backtest:
    """Take a kept backtest up again.

    Parameters
    ----------
    folder : Path
        See `folder_of`.

    Returns
    -------
    Backtest
        With the scores, tests and verdicts that it had; without the fitted models.

    Raises
    ------
    StoreError
        If it is damaged, or was kept by another version of fints that wrote it otherwise.
    """
    value = _read(folder)
    try:
        settings = BacktestSettings.model_validate(value["settings"])
        stored = value["as_of"]
        as_of = AsOf(pd.Timestamp(stored["stamp"]), pd.Timestamp(stored["known_at"]), tuple(stored["notes"]))
        targets = tuple(_target(name, said, folder / name) for name, said in value["targets"].items())
        return Backtest(
            settings,
            as_of,
            int(value["data_version"]),
            targets,
            dict(value["failed"]),
            value["run_id"],
            tuple(value["warnings"]),
        )
    except (FintsError, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise StoreError(
            f"the backtest kept in {folder} cannot be read ({type(error).__name__}: {error}); it is damaged or of "
            "another version of fints: run it again"
        ) from error


def _read(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / RESULT).read_text("utf-8"))
        kept = value["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"there is no backtest in {folder}, or it is damaged: {error}; run it again") from error
    if kept != FORMAT:
        raise StoreError(f"the backtest in {folder} has format {kept} and this version reads {FORMAT}; run it again")
    return dict(value)


def _plain(done: Backtest) -> dict[str, object]:
    settings = done.settings.model_dump(mode="json")
    # an entry's own keys lie over those of the backtest: those that it never named stay out
    settings["models"] = [
        {"kind": entry.kind, **entry.model_dump(mode="json", exclude_unset=True)} for entry in done.settings.models
    ]
    as_of = done.as_of
    return {
        "format": FORMAT,
        "dataset": done.settings.dataset,
        "settings": settings,
        "as_of": {"stamp": as_of.stamp.isoformat(), "known_at": as_of.known_at.isoformat(), "notes": list(as_of.notes)},
        "data_version": done.data_version,
        "failed": done.failed,
        "run_id": done.run_id,
        "warnings": list(done.warnings),
        "targets": {found.target: _plain_target(found) for found in done.targets},
    }


def _plain_target(found: TargetBacktest) -> dict[str, object]:
    result, folds = found.result, found.result.folds
    return {
        "against": found.against,
        "baseline": found.baseline,
        "panel": None if found.panel is None else asdict(found.panel),
        "plan": found.plan.to_dict(),
        "problems": [[p.unique_id, p.reason, p.left_out] for p in found.problems],
        "failures": dict(result.failures),
        "scales": {str(name): _known(value) for name, value in result.scales.items()},
        "seconds": dict(result.seconds),
        "curves": {
            model: {name: [[step, _known(value)] for step, value in curve.items()] for name, curve in of_model.items()}
            for model, of_model in result.curves.items()
        },
        "folds": {
            "cutoffs": _iso(folds.cutoffs),
            "h": folds.h,
            "step_size": folds.step_size,
            "purge": folds.purge,
            "embargo": folds.embargo,
            "input_size": folds.input_size,
            "warm_up": folds.warm_up,
            "local": {exchange: _iso(stamps) for exchange, stamps in folds.local.items()},
        },
    }


def _target(name: str, said: Mapping[str, Any], folder: Path) -> TargetBacktest:
    folds = dict(said["folds"])
    cutoffs = {exchange: tuple(map(pd.Timestamp, stamps)) for exchange, stamps in folds.pop("local").items()}
    stamps = tuple(map(pd.Timestamp, folds.pop("cutoffs")))
    frames = {part: pd.read_parquet(folder / f"{part}.parquet") for part in _FRAMES}
    result = CrossValidation(
        **frames,
        folds=Folds(stamps, local=cutoffs, **folds),
        scales=pd.Series({key: _number(value) for key, value in said["scales"].items()}, dtype="float64"),
        failures=dict(said["failures"]),
        models={},
        seconds=dict(said["seconds"]),
        curves={
            model: {key: {int(step): _number(value) for step, value in points} for key, points in of_model.items()}
            for model, of_model in said["curves"].items()
        },
        target=name,
    )
    beyond = folder / "extrapolation.parquet"
    return TargetBacktest(
        name,
        FrequencyPlan.from_dict(said["plan"]),
        result,
        verdicts(result, said["against"], said["baseline"]),
        tuple(SeriesProblem(*problem) for problem in said["problems"]),
        Extrapolation(pd.read_parquet(beyond)) if beyond.exists() else None,
        said["against"],
        said["baseline"],
        PanelFacts(**said["panel"]) if said["panel"] is not None else None,
    )


def _write_frames(found: TargetBacktest, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    frames = {part: getattr(found.result, part) for part in _FRAMES}
    if found.extrapolation is not None:
        frames["extrapolation"] = found.extrapolation.rows
    for name, frame in frames.items():
        draft = draft_beside(folder / f"{name}.parquet")
        try:
            frame.to_parquet(draft, index=False)
            draft.replace(folder / f"{name}.parquet")
        finally:
            draft.unlink(missing_ok=True)


def _iso(stamps: tuple[pd.Timestamp, ...]) -> list[str]:
    return [stamp.isoformat() for stamp in stamps]


def _known(value: float) -> float | None:
    """Return a number as JSON holds it: what is unknown is null."""
    return float(value) if pd.notna(value) else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
