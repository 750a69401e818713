"""Settings of the application, read from YAML: every key is known, or it is an error."""

from fints.settings.backtest import BacktestSettings, Entry, TransformerEntry, WorkerSettings
from fints.settings.nightly import BandSettings, CombinationSettings, HoldoutSettings, NightlySettings
from fints.settings.periods import CycleSettings, PeriodSettings
from fints.settings.reading import load_settings, read_settings
from fints.settings.section import DataSettings, Section, TrackingSettings
from fints.settings.tune import TuneSettings

__all__ = [
    "BacktestSettings",
    "BandSettings",
    "CombinationSettings",
    "CycleSettings",
    "DataSettings",
    "Entry",
    "HoldoutSettings",
    "NightlySettings",
    "PeriodSettings",
    "Section",
    "TrackingSettings",
    "TransformerEntry",
    "TuneSettings",
    "WorkerSettings",
    "load_settings",
    "read_settings",
]
