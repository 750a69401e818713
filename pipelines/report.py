"""The report of a backtest: from what was found out to a page and to Markdown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pandas as pd
import yaml

from fints import __version__
from fints.report import BacktestReport, ComparedTarget
from fints.report.colours import looks
from fints.sessions import calendar_version, parse_interval
from fints.settings.backtest import TransformerEntry
from pipelines.terminal import counted

if TYPE_CHECKING:
    from fints.baselines.config import BaselineConfig
    from fints.encodings import EncodingConfig
    from fints.report.colours import Look
    from fints.settings import BacktestSettings, Entry
    from pipelines.backtest import Backtest, TargetBacktest


def backtest_report(done: Backtest) -> BacktestReport:
    """Fill the report of a backtest."""
    settings = done.settings
    return BacktestReport(
        dataset=settings.dataset,
        as_of=str(done.as_of),
        created_at=pd.Timestamp.now("UTC"),
        h=settings.h,
        bar_word="session" if parse_interval(settings.interval) is None else "bar",
        targets=tuple(_compared(found, settings) for found in done.targets),
        how=how_it_was_done(done),
        facts=_facts(done),
        settings=yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True),
        failed=done.failed,
        warnings=done.warnings,
        trained_h=None if settings.learned_h == settings.h else settings.learned_h,
        stated=settings.periods.told(),
    )


def model_looks(settings: BacktestSettings) -> dict[str, Look]:
    """Return how every model of a backtest is drawn, by its label: the same colours wherever it is shown."""
    return looks({entry.label: _what(entry) for entry in settings.models})


def how_it_was_done(done: Backtest) -> str:
    """Say in a sentence which windows there were and when models were fitted."""
    folds, refit = done.targets[0].result.folds, done.settings.refit
    # False and True count as 0 and 1
    fitted = {0: "once, before the first", 1: "anew in each"}.get(refit, f"anew every {refit} windows")
    seeds = f", with {done.settings.seeds} seeds" if done.settings.seeds > 1 else ""
    return (
        f"{counted(len(folds), 'window')} of {counted(folds.h, 'bar')}, {folds.step_size} apart, from "
        f"{folds.cutoffs[0]:%Y-%m-%d} on; models were fitted {fitted}{seeds}."
    )


def _what(entry: Entry) -> EncodingConfig | BaselineConfig:
    return entry.encoding if isinstance(entry, TransformerEntry) else entry


def _compared(found: TargetBacktest, settings: BacktestSettings) -> ComparedTarget:
    return ComparedTarget(
        target=found.target,
        result=found.result,
        looks=model_looks(settings),
        comparison=found.result.comparison(found.baseline),
        plan=found.plan.to_frame(),
        verdicts=tuple(verdict.sentence for verdict in found.verdicts),
        left_out=tuple((p.unique_id, p.reason, p.left_out) for p in found.problems),
        extrapolation=found.extrapolation,
    )


def _facts(done: Backtest) -> dict[str, dict[str, str]]:
    settings = done.settings
    data = {
        "series": str(sum(found.result.frame["unique_id"].nunique() for found in done.targets[:1])),
        "interval": settings.interval,
        "data version": str(done.data_version),
        "calendar known at": f"{done.as_of.known_at:%Y-%m-%d %H:%M}",
    }
    windows = {
        "windows": str(settings.windows),
        "bars ahead": str(settings.h),
        "bars apart": str(settings.step),
        "purge": str(done.targets[0].result.folds.purge),
        "embargo": str(settings.embargo),
        "seeds": str(settings.seeds),
    }
    run = {
        "fints": __version__,
        "calendar": calendar_version(),
        "configuration": settings.digest,
        "first seed": str(settings.random_seed),
        "processors": str(os.cpu_count()),
    }
    return {"Data": data, "Windows": windows, "Run": run}
