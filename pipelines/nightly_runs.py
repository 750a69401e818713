"""Nights in MLflow."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

import pandas as pd

from fints.sessions import calendar_version
from fints.tracking import Tracking, flat

if TYPE_CHECKING:
    from pathlib import Path

    from fints.settings import NightlySettings
    from pipelines.home import Home
    from pipelines.publish import Night
    from pipelines.target import TargetNight


def begin_tracking(settings: NightlySettings, home: Home) -> None:
    """Load MLflow and make its database while models are fitted; what goes wrong, `track` meets again."""

    def prepare() -> None:
        with suppress(Exception):
            Tracking(home.root, settings.tracking.uri).warm_up()

    Thread(target=prepare, daemon=True, name="fints-tracking").start()


def track(night: Night, page: Path, home: Home) -> str:
    """Log a night to MLflow; return the id of its run."""
    settings = night.settings
    tracking = Tracking(home.root, settings.tracking.uri)
    experiment = experiment_name(settings.dataset)
    tracking.sweep(experiment)
    tags = {
        "fints.kind": "nightly",
        "fints.as_of": str(night.as_of),
        "fints.data_version": str(night.data_version),
        "fints.calendar_version": calendar_version(),
        "fints.config_hash": settings.digest,
        "fints.encoding": settings.encoding.kind,
    }
    with tracking.run(experiment, f"{night.as_of} {settings.dataset}", tags) as run:
        run.describe(_description(night))
        run.log_params(flat(settings.model_dump(mode="json")))
        for target in night.targets:
            run.log_curves(_curves(target))
            run.log_table(target.holdout.leaderboard, f"tables/{target.target}_holdout.json")
            run.log_table(night.of_target(target), f"tables/{target.target}_forecast.json")
            run.log_table(target.blend.weights.to_frame(), f"tables/{target.target}_weights.json")
            for name, table in (("coverage", target.holdout.coverage), ("events", target.holdout.events)):
                if len(table):
                    run.log_table(table, f"tables/{target.target}_{name}.json")
        for name, table in (night.verification.tables if night.verification is not None else {}).items():
            run.log_table(table, f"tables/verification_{name}.json")
        run.log_text(page.read_text("utf-8"), "report/index.html")
        run.log_text(settings.model_dump_json(indent=2), "config.json")
        return run.run_id


def experiment_name(dataset: str) -> str:
    """Name the MLflow experiment of a dataset's nights."""
    return f"fints/nightly/{dataset}"


def _description(night: Night) -> str:
    lines = [f"**{t.target}**: {sentence}" for t in night.targets for sentence in t.holdout.verdicts]
    boards = [
        f"\n### {t.target}\n\n{_markdown(t.holdout.leaderboard)}" for t in night.targets if len(t.holdout.leaderboard)
    ]
    return "\n\n".join([*lines, *boards])


def _markdown(board: pd.DataFrame) -> str:
    shown = [c for c in board.columns if c in {"model", "RMSE", "MAE", "MASE", "CRPS"} or c.startswith("cov")]
    rows = [[str(row[c]) if c == "model" else f"{row[c]:.4f}" for c in shown] for _, row in board.iterrows()]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [shown, ["---"] * len(shown), *rows])


def _curves(night: TargetNight) -> dict[str, dict[int, float]]:
    board, steps = night.holdout.leaderboard, night.holdout.by_step
    curves: dict[str, dict[int, float]] = {}
    for _, row in board.iterrows():
        own = row["model"] == night.name
        for metric in ("RMSE", "MAE", "MASE", "CRPS", "cov80", "cov95"):
            if metric in board.columns and pd.notna(row[metric]):
                group = "members" if row["model"] in night.blend.weights.members else "baselines"
                place = f"headline/{night.target}" if own else f"{group}/{night.target}.{row['model']}"
                curves[f"{place}.{metric.lower()}"] = {0: float(row[metric])}
    if len(steps):
        own = steps[steps["model"] == night.name]
        curves[f"by_horizon/{night.target}.rmse"] = dict(
            zip(own["step"].astype(int), own["RMSE"].astype(float), strict=True)
        )
    fitted = night.model.fitted if night.model is not None else None
    if fitted is not None and fitted.records:
        curves[f"train/{night.target}.validation_crps"] = dict(fitted.records[0].validation)
    return curves
