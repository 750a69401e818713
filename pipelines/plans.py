"""The frequency plans of past nights, and what became of the last one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import PlanError
from fints.plan import FrequencyPlan, plan_diff
from pipelines.files import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from fints.settings import NightlySettings
    from pipelines.asof import AsOf
    from pipelines.home import Home


@dataclass(frozen=True, slots=True)
class PlanBook:
    """The plans of one dataset and interval, by target and night.

    Parameters
    ----------
    folder : pathlib.Path
        ``plans/<dataset>/<interval>``, with a file ``<target>/<as-of>.json`` for each.
    """

    folder: Path

    @classmethod
    def under(cls, home: Home, settings: NightlySettings) -> PlanBook:
        """Return the book of a night's dataset."""
        return cls(home.plans / settings.dataset / settings.interval)

    def keep(self, target: str, as_of: AsOf, plan: FrequencyPlan) -> None:
        """Enter the plan of a night; one repeated is replaced."""
        folder = self.folder / target
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / f"{as_of}.json", json.dumps(plan.to_dict(), indent=1))

    def changes(self, target: str, as_of: AsOf, plan: FrequencyPlan) -> tuple[str, ...]:
        """Say what changed since the last night before; nothing if there is none, or its file is damaged."""
        earlier = [path for path in (self.folder / target).glob("*.json") if path.stem < str(as_of)]
        last = max(earlier, key=lambda path: path.stem, default=None)
        if last is None:
            return ()
        try:
            before = FrequencyPlan.from_dict(json.loads(last.read_text("utf-8")))
        except (PlanError, OSError, ValueError, AttributeError, RecursionError):
            return ()
        changed = [str(change) for change in plan_diff(before, plan) if change.kind != "same"]
        if not changed:
            return (f"The same cycles as in the night of {last.stem}.",)
        return (f"Since the night of {last.stem}: {'; '.join(changed)}.",)
