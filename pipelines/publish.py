"""Where the results of a night go: the forecasts table, the page, JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from fints import __version__
from fints.report import NightlyReport, TargetReport, render_nightly
from fints.report.champion import stood_in_for
from fints.series import TARGETS
from fints.sessions import calendar_version
from fints.verification import Alert
from pipelines.behind import newest_over
from pipelines.files import DIGITS, write_text
from pipelines.night_identity import hashes_of
from pipelines.rebased import Rebased

if TYPE_CHECKING:
    from pathlib import Path

    from fints.champion import Ruling
    from fints.settings import NightlySettings
    from fints.verification import Verification
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.target import TargetNight

_PACKAGES = ("torch", "pandas", "pandas-market-calendars", "mlflow")


@dataclass(frozen=True, slots=True, eq=False)
class Night:
    """Everything that a night found out.

    Parameters
    ----------
    settings : NightlySettings
    as_of : AsOf
    targets : tuple of TargetNight
    data_version : int
        Of the bars in the store.
    findings : pandas.DataFrame
        Of the data checks, for the symbols forecast.
    problems : pandas.DataFrame
        ``unique_id, target, reason, left_out``: series left out, or shortened.
    created_at : pandas.Timestamp
        UTC.
    failed : mapping of str to str
        Symbols that the source did not deliver, with the cause.
    misplaced : mapping of str to str
        Symbols whose exchange is doubted, with the reason.
    remarks : tuple of str
        What the ingest has to say though nothing failed: notes, inactive symbols, restatements.
    changes : dict of str to tuple of str
        By target, what became of the plan of the night before, in sentences.
    verification : Verification, optional
        What became of earlier forecasts.
    left : pandas.DataFrame, optional
        Stored forecasts of this night that stay as they were first made; the others alone are stored.
    shown_again : bool
        Whether the night is done, and its report alone is written again: all that is stored of it stays.
    rebased : Rebased
        What becomes of the forecasts in `left` where they are shown: they are stored as they were made.
    """

    settings: NightlySettings
    as_of: AsOf
    targets: tuple[TargetNight, ...]
    data_version: int
    findings: pd.DataFrame
    problems: pd.DataFrame
    created_at: pd.Timestamp
    failed: dict[str, str] = field(default_factory=dict)
    misplaced: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    changes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    verification: Verification | None = None
    left: pd.DataFrame | None = None
    shown_again: bool = False
    rebased: Rebased = field(default_factory=Rebased)

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """What is wrong with the night itself."""
        ruled = [(t.target, t.ruling) for t in self.targets if t.ruling is not None]
        books = [Alert("book", target, _stood_in(target, ruling)) for target, ruling in ruled if ruling.damage]
        lost = [(target, ruling) for target, ruling in ruled if not ruling.damage and stood_in_for(ruling) is not None]
        return (*books, *(Alert("fit", target, f"{target}: {ruling.sentences[0]}") for target, ruling in lost))

    def forecasts(self) -> pd.DataFrame:
        """Return the rows for the table ``forecasts``."""
        made = pd.concat([forecast_rows(target) for target in self.targets], ignore_index=True)
        rows = made.assign(
            dataset=self.settings.dataset,
            as_of=self.as_of.stamp,
            interval=self.settings.interval,
            data_version=self.data_version,
            created_at=self.created_at,
        )
        if self.left is None:
            return rows
        return rows[~_among(rows, self.left) & (not self.shown_again)].reset_index(drop=True)

    def stands(self) -> pd.DataFrame:
        """Return the forecasts of the night as they stand once it is stored: made now, or left as they were."""
        rows = self.forecasts()
        if self.left is None or self.left.empty:
            return rows
        both = pd.concat([part for part in (self.left[rows.columns], rows) if len(part)], ignore_index=True)
        return both.sort_values(["target", "unique_id", "step"], kind="stable", ignore_index=True)

    def of_target(self, target: TargetNight) -> pd.DataFrame:
        """Return what `stands` of one target, with the columns of `fints.Forecast.to_long`."""
        made = target.forecast.to_long()
        if self.left is None:
            return made
        rows = self.stands()
        return rows.loc[rows["target"] == target.target, list(made.columns)].reset_index(drop=True)

    def shown(self, target: TargetNight) -> pd.DataFrame:
        """Return the same on the basis of the bars, as it is shown beside them."""
        rows = self.of_target(target)
        return rows if self.left is None else self.rebased.shown(target.target, rows)


def nightly_report(night: Night) -> NightlyReport:
    """Fill the report of a night."""
    notes = [
        *night.as_of.notes,
        *night.remarks,
        *night.rebased.sentences(),
        *(note for t in night.targets for note in t.notes),
    ]
    stated = night.settings.periods.told()
    return NightlyReport(
        as_of=night.as_of.stamp,
        created_at=night.created_at,
        interval=night.settings.interval,
        h=night.settings.h,
        targets=tuple(_target_report(t, night.shown(t), stated, night) for t in night.targets),
        findings=night.findings,
        problems=night.problems,
        facts=_facts(night),
        notes=tuple(dict.fromkeys(notes)),
        title=f"Nightly forecast of {night.settings.dataset}",
        verification=night.verification,
        failed=night.failed,
        misplaced=night.misplaced,
    )


def write_page(night: Night, report: NightlyReport, home: Home) -> Path:
    """Write the page of a night, all of it or nothing; return its path."""
    path = home.reports / "nightly" / page_name(night.settings, night.as_of)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_nightly(report))
    return path


def page_name(settings: NightlySettings, as_of: AsOf) -> str:
    """Name the page of a night; those of a home lie side by side."""
    return f"{settings.dataset}-{settings.interval}-{as_of}.html"


def machine_readable(night: Night, page: Path, run_id: str | None) -> dict[str, object]:
    """Return the night as plain values for ``--json``."""
    return {
        "as_of": night.as_of.stamp.isoformat(),
        "known_at": night.as_of.known_at.isoformat(),
        "dataset": night.settings.dataset,
        "settings": hashes_of(night.settings),
        "data_version": night.data_version,
        "notes": list(night.as_of.notes),
        "forecasts": forecast_records(night.stands()),
        "rebased": night.rebased.to_json(),
        "holdout": {
            t.target: {
                "leaderboard": _records(t.holdout.leaderboard),
                "verdicts": list(t.holdout.verdicts),
                "coverage": _records(t.holdout.coverage),
                "events": _records(t.holdout.events),
            }
            for t in night.targets
        },
        "combination": {
            t.target: {
                "name": t.name,
                "weights": _records(t.blend.weights.to_frame()),
                "value": _records(t.blend.value),
                "dropped": dict(t.blend.dropped),
                "carried": list(t.carried),
            }
            for t in night.targets
        },
        "models": {t.target: t.ruling.to_json() for t in night.targets if t.ruling is not None},
        "plans": {t.target: t.plan.to_dict()["cycles"] for t in night.targets},
        "plan_changes": {target: list(said) for target, said in night.changes.items()},
        "problems": json.loads(night.problems.to_json(orient="records")),
        "failed": night.failed,
        "misplaced": night.misplaced,
        "findings": json.loads(night.findings.to_json(orient="records", date_format="iso")),
        "verification": night.verification.to_json() if night.verification is not None else None,
        "report": str(page),
        "mlflow_run": run_id,
        "seconds": {t.target: t.seconds for t in night.targets},
    }


def forecast_rows(night: TargetNight) -> pd.DataFrame:
    """Return the forecasts of one target as rows of the table ``forecasts``, but for what all targets share."""
    rows = night.forecast.to_long()
    return rows.assign(target=night.target, model=night.name, model_version=night.version)


def forecast_records(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows of the table ``forecasts`` as plain values."""
    plain = json.loads(rows.to_json(orient="records", date_format="iso", double_precision=DIGITS))
    return [{**p, "ds": ds.isoformat()} for p, ds in zip(plain, rows["ds"], strict=True)]


def _stood_in(target: str, ruling: Ruling) -> str:
    return f"{target}: {ruling.in_use} stands in for the model in use. {ruling.damage}."


def _records(frame: pd.DataFrame) -> list[dict[str, object]]:
    records: list[dict[str, object]] = json.loads(frame.to_json(orient="records", double_precision=DIGITS))
    return records


def _among(rows: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """Say of every row whether there are others of its target and series."""
    key = ["target", "unique_id"]
    found = pd.MultiIndex.from_frame(rows[key]).isin(pd.MultiIndex.from_frame(others[key]))
    return pd.Series(found, index=rows.index)


def _target_report(night: TargetNight, forecast: pd.DataFrame, stated: str, whole: Night) -> TargetReport:
    return TargetReport(
        target=night.target,
        description=TARGETS[night.target].doc,
        model=night.name,
        history=night.panel[["unique_id", "ds", "y"]],
        forecast=forecast,
        leaderboard=night.holdout.leaderboard,
        by_step=night.holdout.by_step,
        verdicts=night.holdout.verdicts,
        carried=night.carried,
        found=night.found,
        plan=night.plan.to_frame(),
        stated=stated,
        changes=whole.changes.get(night.target, ()),
        weights=night.blend.weights.to_frame(),
        value=night.blend.value,
        dropped=night.blend.dropped,
        coverage=night.holdout.coverage,
        events=night.holdout.events,
        ruling=night.ruling,
        over=newest_over(forecast, night.panel, whole.as_of),
        remarks=whole.rebased.of_series(night.target),
    )


def _facts(night: Night) -> dict[str, dict[str, str]]:
    versions = {"fints": __version__, "calendar": calendar_version()}
    versions |= {name: importlib.metadata.version(name) for name in _PACKAGES}
    run = {
        "data version": str(night.data_version),
        "configuration": night.settings.digest,
        "random seed": str(night.settings.random_seed),
        "calendar known at": f"{night.as_of.known_at:%Y-%m-%d %H:%M}",
        "processors": str(os.cpu_count()),
    }
    run |= {f"model of {t.target}": t.version + (", fitted earlier" if t.reused else "") for t in night.targets}
    durations = {
        f"{t.target}: {stage}": f"{seconds:.1f} s" for t in night.targets for stage, seconds in t.seconds.items()
    }
    return {"Versions": versions, "Run": run, "Durations": durations}
