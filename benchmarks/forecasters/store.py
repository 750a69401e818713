"""What has been run: forecasts, and what they took."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from benchmarks.forecasters.jobs import Job

ROOT = Path(__file__).parents[2]
DEFAULT = ROOT / "reports" / "benchmarks" / "forecasters"
_DECISIVE = ("transformer", "encodings", "plan", "series", "baselines")


def code_digest() -> str:
    """Short hash of the code that decides a forecast."""
    paths = sorted(path for name in _DECISIVE for path in (ROOT / "fints" / name).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:8]


@dataclass(frozen=True)
class Cost:
    """What a run took.

    Parameters
    ----------
    cpu : float
        Seconds of processor time, user and system, of all threads.
    memory : float
        Highest resident memory in MiB.
    wall : float
        Seconds.
    code : str
        Digest of the code that was run.
    """

    cpu: float
    memory: float
    wall: float
    code: str = ""


@dataclass(frozen=True)
class Store:
    """A folder of results, each named after its settings; what code it comes from is kept, but decides nothing.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    def has(self, job: Job) -> bool:
        """Whether a job has been run to its end."""
        return self._cost(job).exists()

    def cost(self, job: Job) -> Cost | None:
        """Read what a job took; None if it has not been run."""
        return Cost(**json.loads(self._cost(job).read_text("utf-8"))) if self.has(job) else None

    def codes(self, model: str) -> set[str]:
        """Digests of the code that a model was run with."""
        costs = (json.loads(path.read_text("utf-8")) for path in self.folder.glob(f"*-{model}-*.json"))
        return {cost.get("code", "") for cost in costs}

    def forecasts(self, job: Job) -> pd.DataFrame | None:
        """Read the forecasts of a job; None if it has not been run."""
        import pandas as pd

        return pd.read_parquet(self._frame(job)) if self.has(job) else None

    def keep(self, job: Job, frame: pd.DataFrame, cost: Cost) -> None:
        """Write the forecasts, then what they took: the second file says that the first is whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(self._frame(job))
        self._cost(job).write_text(json.dumps(vars(cost)), encoding="utf-8")

    def panel(self, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Read a panel, made once."""
        import pandas as pd

        path = self.folder / f"panel-{name}.parquet"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            make().to_parquet(path)
        return pd.read_parquet(path)

    def _frame(self, job: Job) -> Path:
        return self.folder / f"{job.key}.parquet"

    def _cost(self, job: Job) -> Path:
        return self.folder / f"{job.key}.json"
