"""Nights of one symbol whose market changes: a model that was good, a fall, a fit that knows the new market."""

import io

import numpy as np
import pandas as pd
from rich.console import Console

from fints.bars.store import BarStore
from fints.sessions import get_calendar
from fints.settings import load_settings
from pipelines.home import Home
from pipelines.model_book import ModelBook
from pipelines.nightly import run_nightly
from pipelines.progress import stages
from pipelines.replay import run_replay

CHANGE = "2016-11-16"
NIGHTS = ("2016-11-14", "2017-05-10", "2017-07-10")
SETTINGS = [
    "symbols=[T]",
    "targets=[log_volume]",
    "h=8",
    "input_size=30",
    "network.dim=16",
    "network.n_heads=1",
    "training.max_steps=4",
    "training.batch_size=8",
    "training.validate_every=2",
    "training.validation_windows=16",
    "holdout.n_windows=4",
    "combination.members=[har_calendar]",
    "workers.count=1",
    "periods.detect=false",
    "tracking.enabled=false",
    "champion.looks=[3, 5]",
    "champion.least=3",
    "champion.recent=5",
    "champion.level=0.2",
    "champion.alarm=0.02",
]


def write_bars(path):
    """Write volume that knows its weekday; from one day on the week runs the other way round, which HAR never knew."""
    days = get_calendar("XNYS").sessions("2016-05-16", "2017-07-31")
    rng = np.random.default_rng(3)
    red = np.zeros(len(days))
    for i, shock in enumerate(rng.normal(size=len(days)) * 0.15):
        red[i] = 0.6 * red[i - 1] + shock
    week = np.array([0.6, 0.3, 0.0, -0.3, -0.6])[days.day_of_week]
    week = np.where(days < pd.Timestamp(CHANGE), week, -4 * week)
    close = 100 * np.exp(np.cumsum(rng.normal(size=len(days)) * 0.01))
    prices = {"open": close, "high": close * 1.01, "low": close * 0.99, "close": close, "adj_close": close}
    volume = np.exp(14 + red + week).round().astype(int)
    pd.DataFrame({"session": days.strftime("%Y-%m-%d"), **prices, "volume": volume}).to_csv(path, index=False)


class Play:
    """Nights in a home of their own."""

    def __init__(self, root, bars):
        self.root, self.home, self.bars = root, Home(root), bars
        source = f"{{kind: files, path: {bars}, symbol: T, exchange: XNYS, columns: {{date: session}}}}"
        self.stated = [f"source={source}", *SETTINGS]
        self.settings = load_settings(None, self.stated)

    def night(self, day, **how):
        done = self.night_alone(day, **how)
        return done.night.targets[0], done

    def night_alone(self, day, **how):
        with stages(Console(file=io.StringIO())) as shown:
            return run_nightly(self.settings, self.home, pd.Timestamp(day), shown, **how).tonight

    def replay(self, day, known_at):
        with stages(Console(file=io.StringIO())) as shown:
            return run_replay(self.settings, self.home, pd.Timestamp(day), known_at, shown)

    def stored(self, day):
        return BarStore(self.home.store).read_forecasts(as_of=day)

    @property
    def models(self):
        return ModelBook(self.settings, self.home, "log_volume")
