"""What is aimed at, and whether it is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.forecasters import reference
from benchmarks.forecasters.jobs import OURS
from benchmarks.forecasters.scores import BANDS, band_scores, daily_scores
from benchmarks.forecasters.tables import TITLES, markdown, spreads, zero_of

if TYPE_CHECKING:
    from benchmarks.forecasters.results import Results

SECONDS = 2.0
STATISTICAL = ("har", "har_calendar", "har_long_calendar", "ets", "arima")
OVER_ZERO = 1.001


@dataclass(frozen=True)
class Target:
    """A figure and the bound that it is to keep below.

    Parameters
    ----------
    name : str
    found : float, optional
        None where it has not been run.
    bound : float, optional
        None where what it is compared with has not been run.
    digits : int
    """

    name: str
    found: float | None
    bound: float | None
    digits: int = 4

    @property
    def row(self) -> tuple[str, ...]:
        """Row of the table."""
        if self.found is None or self.bound is None:
            return (self.name, _written(self.found, self.digits), _written(self.bound, self.digits), "not run")
        met = "met" if self.found <= self.bound else "**missed**"
        return (self.name, _written(self.found, self.digits), _written(self.bound, self.digits), met)


def target_list(results: Results) -> str:
    """Say which targets are met, by the mean over the seeds."""
    every = [*_daily(results), *_hourly(results), *_costs(results)]
    return "## Targets\n\n" + markdown(("", "found", "at most", ""), [target.row for target in every])


def _daily(results: Results) -> list[Target]:
    every = []
    for (target, measure), bound in reference.BOUNDS_DAILY.items():
        frames = results.ours("daily", target, "cycle")
        found = spreads(frames, daily_scores)[measure].mean if frames else None
        every.append(Target(f"daily {TITLES[target]}, {measure}", found, bound))
    every += [_own_best(results, "log_volume", measure) for measure in ("RMSE", "CRPS")]
    frames = results.ours("daily", "log_return", "cycle")
    name = "daily log return, RMSE, of zero's and 0.1 %"
    if not frames:
        return [*every, Target(name, None, None, 6)]
    zero = daily_scores(zero_of(frames)[0])["RMSE"]
    return [*every, Target(name, spreads(frames, daily_scores)["RMSE"].mean, OVER_ZERO * zero, 6)]


def _own_best(results: Results, target: str, measure: str) -> Target:
    """Hold ours against the best statistical model of the package itself."""
    others = results.others("daily", target)
    scored = {name: spreads(others[name], daily_scores)[measure].mean for name in STATISTICAL if name in others}
    best = min(scored, key=lambda name: scored[name], default="")
    frames = results.ours("daily", target, "cycle")
    found = spreads(frames, daily_scores)[measure].mean if frames else None
    label = f"daily {TITLES[target]}, {measure}, the best of our statistical models{f' ({best})' if best else ''}"
    return Target(label, found, scored.get(best))


def _hourly(results: Results) -> list[Target]:
    every = []
    for encoding in ("cycle", "clock"):
        frames = results.ours("hourly", "log_volume", encoding)
        found = spreads(frames, band_scores) if frames else {}
        for band, bound in zip(BANDS, reference.BOUNDS_HOURLY, strict=True):
            value = found[band].mean if found else None
            every.append(Target(f"hourly, {encoding}, bars {band}, RMSE", value, bound))
    return every


def _costs(results: Results) -> list[Target]:
    ours, peer, took = results.cost(OURS), results.cost("PatchTST"), results.inference()
    return [
        Target("CPU seconds of the daily protocol, PatchTST's", ours and ours.cpu, peer and peer.cpu, 0),
        Target("peak memory of the daily protocol in MiB, PatchTST's", ours and ours.memory, peer and peer.memory, 0),
        Target(
            "seconds to forecast 500 series × 20", None if took is None else float(took["wall"].median()), SECONDS, 2
        ),
    ]


def _written(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
