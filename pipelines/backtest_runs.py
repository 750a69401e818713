"""A backtest in MLflow: a parent run with the tables, and one child for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.settings.backtest import TransformerEntry, in_short
from fints.tracking import Tracking, flat

if TYPE_CHECKING:
    import pandas as pd

    from fints.settings import BacktestSettings, Entry
    from fints.tracking import Run
    from pipelines.backtest import Backtest, TargetBacktest
    from pipelines.home import Home


def experiment_name(dataset: str) -> str:
    """Name the MLflow experiment of a dataset's backtests."""
    return f"fints/backtests/{dataset}"


def track(done: Backtest, home: Home) -> str:
    """Log a backtest; return the id of the parent run."""
    from fints.sessions import calendar_version

    settings = done.settings
    tracking = Tracking(home.root, settings.tracking.uri)
    experiment = experiment_name(settings.dataset)
    tracking.sweep(experiment)
    tags = {
        "fints.kind": "backtest",
        "fints.as_of": str(done.as_of),
        "fints.data_version": str(done.data_version),
        "fints.calendar_version": calendar_version(),
        "fints.config_hash": settings.digest,
    }
    with tracking.run(experiment, f"{done.as_of} {settings.dataset}", tags) as parent:
        parent.describe(_description(done))
        parent.log_params(flat(settings.model_dump(mode="json", exclude={"models"})))
        for found in done.targets:
            parent.log_table(found.result.leaderboard(), f"tables/{found.target}_leaderboard.json")
            parent.log_table(found.result.significance(), f"tables/{found.target}_significance.json")
            parent.log_table(found.result.by_step(), f"tables/{found.target}_by_step.json")
        parent.log_text(settings.model_dump_json(indent=2), "config.json")
        for entry in settings.models:
            child_tags = tags | _tags(entry) | {"mlflow.parentRunId": parent.run_id, "fints.backtest_id": parent.run_id}
            with tracking.run(experiment, entry.label, child_tags) as child:
                _log_model(child, entry, settings, done.targets)
        return parent.run_id


def _tags(entry: Entry) -> dict[str, str]:
    encoding = {"fints.encoding": in_short(entry.encoding)} if isinstance(entry, TransformerEntry) else {}
    return {"fints.model": entry.kind, **encoding}


def _log_model(run: Run, entry: Entry, settings: BacktestSettings, targets: tuple[TargetBacktest, ...]) -> None:
    params = entry.model_dump(mode="json")
    if isinstance(entry, TransformerEntry):
        params["network"] = settings.network_of(entry).model_dump(mode="json")
        params["training"] = settings.training_of(entry).model_dump(mode="json")
    run.log_params(flat(params))
    said = []
    for found in targets:
        run.log_curves(_curves(found, entry.label))
        if entry.label in found.result.failures:
            said.append(f"**{found.target}** failed: {found.result.failures[entry.label]}")
        said += [f"**{found.target}**: {sentence}" for sentence in found.said_of(entry.label)]
    run.describe("\n\n".join(said))


def _curves(found: TargetBacktest, name: str) -> dict[str, dict[int, float]]:
    """Collect the figures of one model on one target."""
    result, target = found.result, found.target
    if name in result.failures:
        return {}
    scores = result.leaderboard().set_index("model")[["RMSE", "MAE", "MASE", "CRPS", "cov80", "cov95"]]
    own_scores = scores.astype(float).to_dict("index")[name]
    curves = {f"headline/{target}.{str(metric).lower()}": {0: value} for metric, value in own_scores.items()}
    curves[f"headline/{target}.seconds"] = {0: result.seconds[name]}
    steps = result.by_step()
    own = steps[steps["model"] == name]
    curves[f"by_horizon/{target}.rmse"] = dict(zip(own["step"].astype(int), own["RMSE"].astype(float), strict=True))
    rows = result.shared()
    by_window = rows[rows["model"] == name].groupby("cutoff")["squared"].mean().to_numpy(float) ** 0.5
    curves[f"by_fold/{target}.rmse"] = dict(enumerate(by_window.tolist()))
    of_training = {key.replace("/", f"/{target}.", 1): dict(c) for key, c in result.curves.get(name, {}).items()}
    return curves | of_training


def _description(done: Backtest) -> str:
    verdicts = [f"**{t.target}**: {verdict.sentence}" for t in done.targets for verdict in t.verdicts]
    boards = [f"\n### {t.target}\n\n{markdown(t.result.leaderboard())}" for t in done.targets]
    return "\n\n".join([*verdicts, *boards])


def markdown(board: pd.DataFrame) -> str:
    """Write the scores of a leaderboard as a table."""
    shown = ["model", "RMSE", "MAE", "MASE", "CRPS", "cov80", "cov95"]
    rows = [[str(row[c]) if c == "model" else f"{row[c]:.4f}" for c in shown] for _, row in board.iterrows()]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [shown, ["---"] * len(shown), *rows])
