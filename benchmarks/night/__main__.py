"""Warm nights of many symbols: after a cold one, the next two sessions' in fresh processes; and the sample's.

Run ``python -m benchmarks.night`` on an idle machine. The result is written to ``benchmarks/results/<date>-night.md``.
The first fit is a cheap one, so that the cold night says nothing; warm nights do what any one does. The first of them
fills what nights keep beside a fit, the second is an ordinary one. The combination of all members is shipped, which
costs most, whatever the hold-out says.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import tempfile
from pathlib import Path

from benchmarks.night.market import Market
from benchmarks.night.process import Measured, night

RESULTS = Path(__file__).parents[1] / "results"
SAMPLE = ("2018-11-20", "2018-11-21")
"""Two sessions of the sample between which nothing is fitted."""

CHEAP = ("training.max_steps=30", "holdout.n_windows=4", "training.validation_windows=64")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, default=500)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--targets", default="log_volume,log_range")
    parser.add_argument("--workers", type=int, default=1, help="targets side by side")
    parser.add_argument("--keep", type=Path, help="folder for the homes, empty or new; thrown away without it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as away:
        place = chosen.keep or Path(away)
        market = Market(place / "incoming", chosen.symbols, chosen.years)
        first, many = of_market(market, place / "home", chosen.targets, chosen.workers)
        sample = of_sample(place / "sample")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    text = page(today, chosen, (first, many, sample))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-night.md").write_text(text, encoding="utf-8")
    print(text)


def of_market(market: Market, home: Path, targets: str, workers: int) -> tuple[Measured, Measured]:
    """Run the cold night and two warm ones of a made-up market; return the latter."""
    home.mkdir(parents=True)
    source = f"source={{kind: folder, path: {market.folder}, quiet: 0, exchange: XNYS}}"
    chosen = ("dataset=market", "symbols=null", f"targets=[{targets}]", source, f"workers.count={workers}", *CHEAP)
    arguments = [f"--set={one}" for one in (*chosen, "champion.enabled=false")]
    night(home, arguments, market.deliver_history(2))
    return night(home, arguments, market.deliver_night(1)), night(home, arguments, market.deliver_night(0))


def of_sample(home: Path) -> Measured:
    """Run two nights of the sample with its own settings, of which the second is warm."""
    home.mkdir(parents=True)
    cold, warm = SAMPLE
    night(home, ["--as-of", cold], None)
    return night(home, ["--as-of", warm], None)


def page(today: datetime.date, chosen: argparse.Namespace, nights: tuple[Measured, Measured, Measured]) -> str:
    """Write the results down."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    many = f"{chosen.symbols} symbols"
    rows = (
        ("wall time of the process, s", "wall", 1),
        ("CPU time of all its processes, s", "cpu", 1),
        ("peak memory of all its processes, GB", "peak", 2),
        ("page, MB", "page", 1),
    )
    table = [f"| {what} | {' | '.join(f'{getattr(one, name):.{n}f}' for one in nights)} |" for what, name, n in rows]
    head = f"""# A warm night, {today}

CPython {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load}.

{many} with {chosen.years} years of daily bars of XNYS from a folder, {chosen.targets}, {chosen.workers} at a time; the
settings are those of `configs/nightly.yaml` but for a cheap first fit ({", ".join(CHEAP)}) and for the combination,
which is shipped whatever the hold-out says (champion.enabled=false). The nights lie in the middle between two fits. The
sample has its own settings throughout.

| a warm night | {many}, the first | {many}, an ordinary one | sample |
| --- | --- | --- | --- |
"""
    _, ordinary, sample = nights
    return head + "\n".join(table) + "\n" + stages(ordinary, many) + stages(sample, "the sample")


def stages(measured: Measured, whose: str) -> str:
    """Write the stages of a night down; those of the targets run side by side, in processes of their own."""
    own = [f"| {name} | {wall:.1f} | {cpu:.1f} |" for name, (wall, cpu) in measured.stages.items() if ": " not in name]
    parts = [
        f"| {target}: {name} | {seconds:.1f} | |"
        for target, laps in measured.targets.items()
        for name, seconds in laps.items()
    ]
    lines = [f"\n| stage, {whose} | wall, s | CPU, s |", "| --- | --- | --- |", *own, *parts]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
