"""Settings of the application, read from YAML: every key is known, or it is an error."""

from fints.settings.backtest import BacktestSettings, Entry, TransformerEntry, WorkerSettings
from fints.settings.nightly import BandSettings, CombinationSettings, HoldoutSettings, NightlySettings
from fints.settings.reading import load_settings, read_settings
from fints.settings.section import DataSettings, PeriodSettings, Section, TrackingSettings

__all__ = [
    "BacktestSettings",
    "BandSettings",
    "CombinationSettings",
    "DataSettings",
    "Entry",
    "HoldoutSettings",
    "NightlySettings",
    "PeriodSettings",
    "Section",
    "TrackingSettings",
    "TransformerEntry",
    "WorkerSettings",
    "load_settings",
    "read_settings",
]
