"""What is not in order beside a night that stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.doctor import Patient
from pipelines.doctor_nights import books, models, promises

if TYPE_CHECKING:
    import pandas as pd

    from fints.settings import NightlySettings
    from pipelines.home import Home

_CHECKS = {"decisions about models": books, "fitted models": models, "promises of earlier nights": promises}
"""What a night reads that one which stands does not: by what it is called, how the doctor looks at it."""


def not_in_order(settings: NightlySettings, home: Home, now: pd.Timestamp) -> tuple[str, ...]:
    """Say which books and models that the next night reads are damaged, and what to do about it.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
    now : pandas.Timestamp
        The clock, UTC.
    """
    patient = Patient(settings, home, now, offline=True)
    looked = ((what, look(patient)) for what, look in _CHECKS.items())
    return tuple(
        f"this night stands as it was made, but the {what} are not in order: {found.sentence}. {found.cure}."
        for what, found in looked
        if found.state != "ok"
    )
