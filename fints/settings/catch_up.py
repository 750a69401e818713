"""What becomes of nights that were missed, and of those whose bars came late."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fints.settings.section import Section


class CatchUpSettings(Section):
    """What a night of a live source does about earlier ones, before its own forecast.

    Attributes
    ----------
    missed : {"run", "skip"}
        Nights since the last one that is done: run each at its own as-of, oldest first; or enter them as skipped.
    late : {"rerun", "leave"}
        Nights that are done and lacked bars that have come since: make the forecasts of the symbols that lacked them
        again at the same as-of; or leave them.
    most : int
        Nights of each kind that one run makes up for: the newest ones.
    """

    missed: Literal["run", "skip"] = "run"
    late: Literal["rerun", "leave"] = "rerun"
    most: int = Field(default=10, ge=1, le=260)
