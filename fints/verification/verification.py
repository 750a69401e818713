"""What became of earlier forecasts, as a night finds it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from fints.verification.alert import resolved_in_words
from fints.verification.wording import in_short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.verification.alert import Alert
    from fints.verification.scorecard import Scorecard

DIGITS = 15


def _empty() -> pd.DataFrame:
    return pd.DataFrame()


@dataclass(frozen=True, slots=True, eq=False)
class TargetVerification:
    """What became of the forecasts of one target.

    Parameters
    ----------
    target : str
    live : bool
        Whether the figures are those of forecasts that were made before their bars were over.
    counts : mapping of str to int
        Forecasts by what became of them.
    table, by_series, by_step, over_time : pandas.DataFrame
        As those of `fints.verification.Scorecard`; empty where nothing is scored.
    """

    target: str
    live: bool
    counts: Mapping[str, int]
    table: pd.DataFrame = field(default_factory=_empty)
    by_series: pd.DataFrame = field(default_factory=_empty)
    by_step: pd.DataFrame = field(default_factory=_empty)
    over_time: pd.DataFrame = field(default_factory=_empty)

    @classmethod
    def of(cls, card: Scorecard) -> TargetVerification:
        """Sum a scorecard up."""
        if card.scored.empty:
            return cls(card.target, card.live, card.counts)
        return cls(
            card.target, card.live, card.counts, card.table(), card.by_series(), card.by_step(), card.over_time()
        )

    @property
    def scored(self) -> bool:
        """Whether there is any figure."""
        return bool(len(self.table))

    @property
    def sentences(self) -> tuple[str, ...]:
        """How good the forecasts were, in three sentences at most."""
        return in_short(self)


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """What became of earlier forecasts, as a night finds it.

    Parameters
    ----------
    as_of : pandas.Timestamp
        Of the night that looks back.
    targets : tuple of TargetVerification
    alerts : tuple of Alert
        Promises that are broken.
    resolved : tuple of str
        Keys of alerts of earlier nights that stand no more.
    warnings : tuple of str
        What went wrong in looking back, or in telling of alerts.
    """

    as_of: pd.Timestamp
    targets: tuple[TargetVerification, ...] = ()
    alerts: tuple[Alert, ...] = ()
    resolved: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Alerts first, then how good the forecasts of each target were."""
        return (
            *(f"ALERT {alert.rule}: {alert.sentence}" for alert in self.alerts),
            *(f"{said[:1].upper()}{said[1:]}." for said in self.resolutions),
            *(sentence for target in self.targets for sentence in target.sentences),
        )

    @property
    def resolutions(self) -> tuple[str, ...]:
        """Say of each alert that is resolved what holds again."""
        return tuple(map(resolved_in_words, self.resolved))

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Every table by name, such as ``log_volume`` (windows and stretches) and ``log_volume_by_series``."""
        return {
            f"{target.target}{suffix}": table
            for target in self.targets
            for suffix, table in (
                ("", target.table),
                ("_by_series", target.by_series),
                ("_by_step", target.by_step),
                ("_over_time", target.over_time),
            )
            if len(table)
        }

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "alerts": [alert.to_json() for alert in self.alerts],
            "resolved": list(self.resolved),
            "warnings": list(self.warnings),
            "targets": {
                target.target: {
                    "live": target.live,
                    "counts": dict(target.counts),
                    "said": list(target.sentences),
                    "figures": _records(target.table),
                    "by_series": _records(target.by_series),
                    "by_step": _records(target.by_step),
                    "over_time": _records(target.over_time),
                }
                for target in self.targets
            },
        }


def _records(frame: pd.DataFrame) -> list[dict[str, object]]:
    text = frame.to_json(orient="records", date_format="iso", double_precision=DIGITS)
    records: list[dict[str, object]] = json.loads(text)
    return records
