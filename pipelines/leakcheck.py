"""The leak check of a backtest: its models, plan and panel in two futures, cut short."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pandas as pd
from rich.console import Group
from rich.text import Text

from fints.backtest.leakage import Recipe, check_leakage
from fints.bars.store import BarStore
from fints.series import get_target, make_panel
from fints.settings import TransformerEntry
from pipelines.gathered import gather
from pipelines.learnable import learnable, place_folds
from pipelines.model import detected_plan
from pipelines.roster import make_models
from pipelines.terminal import counted, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fints.backtest import Folds
    from fints.backtest.leakage import LeakageReport
    from fints.forecast import Forecaster
    from fints.settings import BacktestSettings, Entry
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages

SMALL: tuple[str, ...] = (
    "h=5", "input_size=40", "step_size=5", "refit=true", "network.dim=16", "network.n_heads=1",
)  # fmt: skip
"""Settings where no configuration is given."""

_WINDOWS = 2
_TRAINING = {"max_steps": 4, "batch_size": 8, "validate_every": 2, "validation_windows": 16}
_ROOM = 250
"""Bars kept besides what the models need: enough for the baselines and to look for cycles."""


@dataclass(frozen=True, slots=True, eq=False)
class LeakCheck:
    """What a leak check of a backtest found.

    Parameters
    ----------
    settings : BacktestSettings
        As checked: cut short.
    targets : dict of str to LeakageReport
    keeps_versions : bool
        Whether the store still gives the bars as they were before some were restated.
    """

    settings: BacktestSettings
    targets: dict[str, LeakageReport]
    keeps_versions: bool

    @property
    def leaks(self) -> bool:
        """Whether anything knew its future."""
        return not self.keeps_versions or any(r.leaks or r.unsteady for r in self.targets.values())

    @property
    def complete(self) -> bool:
        """Whether every model could be checked."""
        return not any(report.failures for report in self.targets.values())

    def sentences(self) -> list[str]:
        """Say what is wrong; nothing if all is tight."""
        store = [] if self.keeps_versions else ["the store: bars that were restated later replaced the earlier ones"]
        return store + [f"{name}, {said}" for name, report in self.targets.items() for said in report.sentences()]

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "dataset": self.settings.dataset,
            "leaks": self.leaks,
            "complete": self.complete,
            "store_keeps_versions": self.keeps_versions,
            "targets": {
                target: {
                    "cutoffs": [cutoff.isoformat() for cutoff in report.cutoffs],
                    "models": json.loads(report.to_frame().to_json(orient="records", date_format="iso")),
                }
                for target, report in self.targets.items()
            },
        }


def run_leakcheck(settings: BacktestSettings, home: Home, stages: Stages) -> LeakCheck:
    """Bring the store up to date as a backtest does, and check its models on the latest bars.

    Parameters
    ----------
    settings : BacktestSettings
        Models train for a few steps on two windows: a leak does not depend on their number.
    home : Home
    stages : Stages

    Raises
    ------
    FintsError
        If no series is long enough, or the bars cannot be had.
    """
    short = shortened(settings)
    for target in short.targets:
        get_target(target)
    with home.locked():
        gathered = gather(short, home, stages)
    as_of = gathered.as_of
    bars = gathered.bars.groupby("symbol", sort=False).tail(_rows(short)).reset_index(drop=True)
    targets = {}
    for target in short.targets:
        with stages.stage(f"{target}: {counted(len(short.models), 'model')} in two futures") as stage:
            targets[target] = check_leakage(bars, recipe(target, short, as_of), stage)
    return LeakCheck(short, targets, keeps_versions(bars))


def shortened(settings: BacktestSettings) -> BacktestSettings:
    """Return the settings with two windows and hardly any training."""
    update = {
        "n_windows": _WINDOWS,
        "test_size": None,
        "refit": bool(settings.refit),
        "training": settings.training.model_copy(update=_TRAINING),
        "models": tuple(map(_shortened, settings.models)),
    }
    return settings.model_copy(update=update)


def _shortened(entry: Entry) -> Entry:
    if not isinstance(entry, TransformerEntry):
        return entry
    said = {name: value for name, value in _TRAINING.items() if name in entry.training.model_fields_set}
    return entry.model_copy(update={"training": entry.training.model_copy(update=said)})


def _rows(settings: BacktestSettings) -> int:
    return settings.least_rows() + settings.h + settings.step + settings.embargo + _ROOM


def recipe(target: str, settings: BacktestSettings, as_of: AsOf) -> Recipe:
    """Return how a backtest makes its panel, windows, plan and models from bars."""

    def panel(bars: pd.DataFrame) -> pd.DataFrame:
        return learnable(make_panel(bars, target, known_at=as_of.known_at), settings)[0]

    def models(whole: pd.DataFrame, folds: Folds) -> list[Forecaster]:
        _, plan = detected_plan(folds.training(whole, folds.cutoffs[0]), settings.periods)
        return make_models(settings, plan)

    return Recipe(models, partial(place_folds, settings=settings), panel, settings.refit)


def keeps_versions(bars: pd.DataFrame) -> bool:
    """Tell whether bars that are restated later leave those read by their version as they were."""
    earlier = bars.iloc[: len(bars) // 2]
    restated = bars.assign(volume=bars["volume"] + 1, close=bars["low"], fetched_at=pd.Timestamp.now("UTC"))
    with TemporaryDirectory(prefix="fints-leakcheck-") as folder:
        store = BarStore(folder)
        version = store.commit(earlier).version
        before = store.read(version=version, interval=str(bars["interval"].iloc[0]))
        store.commit(restated)
        after = store.read(version=version, interval=str(bars["interval"].iloc[0]))
    return before.equals(after)


def leak_tables(found: LeakCheck) -> RenderableType:
    """Lay out a leak check, with what is wrong in words below."""
    parts: list[RenderableType] = []
    for target, report in found.targets.items():
        frame = report.to_frame().rename(columns={"stage": "comes in at", "follows": "moved with it"})
        frame = frame[["model", "verdict", "compared"]] if report.tight else frame
        changed = " and ".join(f"{cutoff:%Y-%m-%d}" for cutoff in report.cutoffs)
        title = f"Leak check of {found.settings.dataset}, {target}: everything after {changed} changed"
        parts.append(plain_table(frame, title))
    parts += [Text(said, style="red") for said in found.sentences()]
    if not parts or not found.sentences():
        parts.append(Text("No forecast and no fitted state knew its future; the store keeps what was restated."))
    return Group(*parts)
