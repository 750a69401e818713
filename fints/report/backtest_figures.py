"""Figures of a backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.extrapolation import BANDS
from fints.backtest.metrics import LEVELS
from fints.report.backtest_curves import ceiling, joined_steps, reached, taken_together, within_reach
from fints.report.backtest_svg import WIDTH, Axes, Canvas, Picture, Scale, axes, spanning

if TYPE_CHECKING:
    from fints.backtest import CrossValidation
    from fints.backtest.skill import Skill
    from fints.report.backtest import ComparedTarget

MOST_SERIES = 24
ROW = 26.0
SPANS = {
    "train": "#9fb4c7",
    "history": "#dfe6ec",
    "purge": "#b42d87",
    "embargo": "#874b00",
    "test": "#d55e00",
}
PART_WORDS = {
    "train": "learned from",
    "history": "read, not learned from",
    "purge": "purged",
    "embargo": "embargo",
    "test": "forecast",
}
LEAST_WINDOWS = 3
MOST_POINTS = 8


def by_step(found: ComparedTarget, steps: pd.DataFrame, word: str) -> Picture:
    """Draw the RMSE of every model by steps ahead."""
    joined, together = joined_steps(steps)
    drawn, beyond = within_reach(joined)
    pair = axes(steps["step"], drawn["RMSE"].clip(upper=ceiling(drawn)))
    pair.frame(f"{word}s ahead", f"RMSE of {found.target}", _number)
    _lines(pair, found, drawn, "RMSE")
    mean = steps.groupby("model")["RMSE"].mean()
    best = str(mean.idxmin())
    lowest = f"Averaged over steps, {found.call(best)} is lowest with {mean.min():.4f}."
    alt = f"RMSE by {word}s ahead of {_listed(found)}. {lowest}"
    caption = f"Error by distance{taken_together(together, word)}; lower is better." + _left_out(found, beyond)
    return Picture(pair.canvas.drawn(alt), alt, caption)


def against_baseline(found: ComparedTarget, steps: pd.DataFrame, word: str) -> Picture | None:
    """Draw each model's RMSE by steps ahead relative to the baseline's; None without a baseline that finished."""
    against = found.comparison.against
    joined, together = joined_steps(steps)
    table = joined.pivot_table(index="step", columns="model", values="RMSE")
    if against is None or against not in table.columns:
        return None
    change = 100 * (table.div(table[against], axis=0) - 1)
    frame = change.melt(ignore_index=False, value_name="change").reset_index()
    drawn = frame[frame["model"].isin(reached(steps))]
    most = ceiling(drawn, "change")
    pair = axes(steps["step"], [*drawn["change"].clip(-most, most), 0.0])
    pair.frame(f"{word}s ahead", f"RMSE relative to {found.call(against)}, %", _percent)
    pair.canvas.rule((pair.x.start, pair.x.end), (pair.y(0), pair.y(0)), "mark")
    _lines(pair, found, drawn, "change")
    won = change.drop(columns=against).lt(0).mean().sort_values(ascending=False)
    alt = f"Change of RMSE over {found.call(against)} by {word}s ahead. " + (
        f"{found.call(str(won.index[0]))} lies below it at {100 * won.iloc[0]:.0f} % of the distances, more often "
        "than any other."
        if len(won)
        else ""
    )
    beyond = [str(name) for name in table.columns if name not in set(drawn["model"])]
    below = f"Below the line of {found.call(against)} a model is better than it{taken_together(together, word)}."
    caption = below + _left_out(found, beyond)
    return Picture(pair.canvas.drawn(alt), alt, caption)


def skills(found: ComparedTarget) -> Picture | None:
    """Draw the skill of every model over the baseline with its interval; None without a baseline."""
    rows = sorted(found.comparison.skills.items(), key=lambda item: -item[1].value)
    rows = [(name, skill) for name, skill in rows if np.isfinite(skill.value)]
    against = found.comparison.against
    if not rows or against is None:
        return None
    height = 2 * ROW + ROW * len(rows) + 24
    ends = [100 * v for _, s in rows for v in (s.value, s.low, s.high) if np.isfinite(v)]
    low = max(min([*ends, 0.0]), -60.0)
    canvas = Canvas(WIDTH, height)
    scale = spanning([low, max([*ends, 0.0])], 150.0, WIDTH - 10)
    canvas.text(0, 12, f"RMSE saved over {found.call(against)}, %", kind="title")
    bottom = height - 24
    for value in scale.ticks():
        canvas.rule((scale(value), scale(value)), (22, bottom))
        canvas.text(scale(value), bottom + 16, _percent(value), "middle")
    canvas.rule((scale(0), scale(0)), (22, bottom), "mark")
    for place, (name, skill) in enumerate(rows):
        _interval(canvas, scale, 22 + ROW * (place + 0.8), found.looks[name].colour, skill)
        canvas.text(0, 26 + ROW * (place + 0.8), _shortened(found.call(name)), kind="name")
    name, skill = rows[0]
    unsure = skill.reason or (f"{100 * skill.level:g} % interval {100 * skill.low:.1f} to {100 * skill.high:.1f} %")
    share = f"{_percent(round(100 * skill.value, 1))} % of its RMSE ({unsure})"
    alt = f"Share of the RMSE of {found.call(against)} that each model saves. {found.call(name)} does best: {share}."
    told = (
        "Intervals stand each for itself; the verdict allows for the number of models"
        if not skill.reason
        else f"No intervals: {skill.reason}"
    )
    return Picture(canvas.drawn(alt), alt, f"Right of the line a model is better than {found.call(against)}. {told}.")


def _interval(canvas: Canvas, scale: Scale, at: float, colour: str, skill: Skill) -> None:
    low, high = (max(100 * v, scale.low) if np.isfinite(v) else np.nan for v in (skill.low, skill.high))
    if 100 * skill.value >= scale.low and np.isfinite(skill.value):
        canvas.line([scale(low), scale(high)], [at, at], colour, width=2.4)
        canvas.dot(scale(100 * skill.value), at, colour)
    else:
        canvas.text(scale.start + 4, at + 4, f"◂ {_percent(round(100 * skill.value, 1))}", kind="tick")


def beyond_horizon(found: ComparedTarget) -> Picture | None:
    """Draw the error by distance in trained horizons; None where nothing lies beyond the first."""
    if found.extrapolation is None:
        return None
    bands = found.extrapolation.by_band()
    names = [name for *_, name in BANDS if name in set(bands["band"])]
    place = {name: i for i, name in enumerate(names)}
    frame = bands.assign(place=bands["band"].map(place)).sort_values("place")
    drawn, beyond = within_reach(frame)
    pair = axes([0, len(names) - 1], drawn["RMSE"])
    pair = Axes(pair.canvas, Scale(-0.25, len(names) - 0.75, pair.x.start, pair.x.end), pair.y)
    pair.frame("distance in trained horizons", "RMSE in standard deviations of the context", _number, x_ticks=False)
    for name, i in place.items():
        pair.canvas.text(pair.x(i), pair.y.start + 16, name, "middle")
    for name, look in found.looks.items():
        own = drawn[drawn["model"] == name]
        pair.line(own["place"], own["RMSE"], look.colour, look.dash, 2.0)
        for at, value in zip(own["place"], own["RMSE"], strict=True):
            pair.canvas.dot(pair.x(at), pair.y(value), look.colour, 2.6)
    last = frame[frame["place"] == len(names) - 1].set_index("model")["RMSE"]
    alt = f"RMSE by distance in trained horizons. At {names[-1]} {found.call(str(last.idxmin()))} is lowest."
    return Picture(
        pair.canvas.drawn(alt), alt, "Error beyond the trained horizon; lower is better." + _left_out(found, beyond)
    )


def coverage_by_step(found: ComparedTarget, steps: pd.DataFrame, level: int, word: str) -> Picture:
    """Draw the share of values inside a band by steps ahead."""
    # single steps have few values: neighbours are taken together
    width = int(np.ceil(steps["step"].max() / MOST_POINTS))
    several = ["model", (steps["step"] - 1) // width]
    grouped = steps.assign(share=100 * steps[f"cov{level}"]).groupby(several)[["step", "share"]].mean()
    grouped = grouped.droplevel(1).reset_index()
    pair = axes(grouped["step"], [*grouped["share"], level])
    pair.frame(f"{word}s ahead", f"values inside the {level} % band, %", lambda value: f"{value:g}")
    pair.canvas.rule((pair.x.start, pair.x.end), (pair.y(level), pair.y(level)), "mark")
    _lines(pair, found, grouped, "share")
    off = (100 * steps.groupby("model")[f"cov{level}"].mean() - level).abs().sort_values()
    alt = (
        f"Coverage of the {level} % band by {word}s ahead; {found.call(str(off.index[0]))} comes closest to {level} %."
    )
    return Picture(pair.canvas.drawn(alt), alt, f"Below the line of {level} % bands are too narrow.")


def reliability(found: ComparedTarget) -> Picture:
    """Draw the share of values inside each band against what the band promises."""
    board = found.result.leaderboard(levels=LEVELS)
    board = board[board["problem"] == ""].set_index("model")
    pair = axes([0, 100], [0, 100])
    pair.frame("band, %", "values inside, %", lambda value: f"{value:g}")
    pair.canvas.marks.append(
        f'<line class="mark" x1="{pair.x(0):.1f}" y1="{pair.y(0):.1f}" x2="{pair.x(100):.1f}" y2="{pair.y(100):.1f}"/>'
    )
    nominal = sorted(LEVELS)
    off = {}
    for name, look in found.looks.items():
        if name in board.index:
            held = [100 * float(board[f"cov{level:g}"][name]) for level in nominal]
            pair.line(nominal, held, look.colour, look.dash)
            off[name] = float(np.mean(np.abs(np.subtract(held, nominal))))
    best = min(off, key=lambda name: off[name])
    alt = (
        f"Share of values inside each band against its level; {found.call(best)} comes closest, off by {off[best]:.1f} "
        "points on average."
    )
    return Picture(pair.canvas.drawn(alt), alt, "On the diagonal, bands hold what they promise; below it, too little.")


def by_window(found: ComparedTarget) -> Picture | None:
    """Draw how much squared error each model has saved over the baseline, window after window."""
    against = found.comparison.against
    rows = found.result.shared()
    table = rows.pivot_table(index="cutoff", columns="model", values="squared")
    if against is None or against not in table.columns or len(table) < LEAST_WINDOWS:
        return None
    saved = (-table.sub(table[against], axis=0)).cumsum()
    unit = float(table[against].sum())
    share = 100 * saved / unit if unit > 0 else saved * np.nan
    kept = reached(found.board())
    frame = share[kept].melt(ignore_index=False, value_name="saved").reset_index()
    order = {cutoff: i for i, cutoff in enumerate(table.index)}
    frame["place"] = frame["cutoff"].map(order)
    pair = axes([0, len(order) - 1], [*frame["saved"], 0.0])
    pair.frame("", f"squared error saved over {found.call(against)}, %", _percent, x_ticks=False)
    shown = _spread(len(order), 4)
    for i in shown:
        anchor = "start" if i == shown[0] else "end" if i == shown[-1] else "middle"
        pair.canvas.text(pair.x(i), pair.y.start + 17, f"{table.index[i]:%b %Y}", anchor)
    pair.canvas.rule((pair.x.start, pair.x.end), (pair.y(0), pair.y(0)), "mark")
    for name, look in found.looks.items():
        own = frame[frame["model"] == name]
        pair.line(own["place"], own["saved"], look.colour, look.dash)
    best = str(share.iloc[-1].drop(against).idxmax()) if share.shape[1] > 1 else against
    alt = (
        f"Squared error saved over {found.call(against)} up to each window, in percent of all that it loses; "
        f"{found.call(best)} ends highest."
    )
    beyond = [str(name) for name in table.columns if name not in kept]
    caption = "A line that rises all along wins often; one jump is one lucky window." + _left_out(found, beyond)
    return Picture(pair.canvas.drawn(alt), alt, caption)


def per_series(found: ComparedTarget, word: str) -> tuple[Picture, ...]:
    """Draw the RMSE by steps ahead of every series, small; of many series, the first ones by name."""
    table = found.result.scores("unique_id", "step")
    drawings = []
    for name in sorted(table["unique_id"].unique())[:MOST_SERIES]:
        own = table[table["unique_id"] == name]
        drawn, beyond = within_reach(joined_steps(own)[0])
        pair = axes(own["step"], drawn["RMSE"].clip(upper=ceiling(drawn)))
        pair.frame(f"{word}s ahead", f"{name}: RMSE", _number)
        _lines(pair, found, drawn, "RMSE")
        mean = own.groupby("model")["RMSE"].mean()
        best = found.call(str(mean.idxmin()))
        alt = f"RMSE on {name} by {word}s ahead; {best} is lowest on average."
        drawings.append(Picture(pair.canvas.drawn(alt), alt, f"Lowest: {best}." + _left_out(found, beyond)))
    return tuple(drawings)


def timeline(result: CrossValidation) -> Picture | None:
    """Draw what each window learns from, keeps apart and forecasts."""
    spans = result.timeline
    if spans.empty:
        return None
    first, last = (pd.Timestamp(t) for t in (spans.loc[spans["part"] == "test", "start"].min(), spans["end"].max()))
    oldest = pd.Timestamp(spans["start"].min())
    # of a long past only the end is drawn, or windows would be too thin to be seen
    begin = max(oldest, first - 0.6 * (last - first))
    folds = int(spans["fold"].max()) + 1
    row = float(np.clip(220 / folds, 3, 16))
    canvas = Canvas(WIDTH, 56 + row * folds)
    scale = Scale(begin.timestamp(), last.timestamp(), 6.0, WIDTH - 6)
    for line in spans[spans["end"] >= begin].to_dict("records"):
        at = 26 + row * int(line["fold"])
        start = scale(max(pd.Timestamp(line["start"]), begin).timestamp())
        # a span ends with its last bar: at least as wide as can be seen
        end = max(scale(pd.Timestamp(line["end"]).timestamp()), start + 1.5)
        canvas.box((start, end), (at, at + row - min(2.0, row / 3)), SPANS[str(line["part"])])
    for place, anchor in zip((0, 1 / 3, 2 / 3, 1), ("start", "middle", "middle", "end"), strict=True):
        moment = begin + place * (last - begin)
        canvas.text(scale(moment.timestamp()), canvas.height - 8, f"{moment:%b %Y}", anchor)
    at = 6.0
    for part in (part for part in SPANS if part in set(spans["part"])):
        canvas.box((at, at + 10), (4, 14), SPANS[part])
        canvas.text(at + 14, 13.5, PART_WORDS[part], kind="name")
        at += 26 + 7.0 * len(PART_WORDS[part])
    alt = (
        f"{folds} windows from {first:%Y-%m-%d} to {last:%Y-%m-%d}; models learn from rows since {oldest:%Y-%m-%d}, "
        "always before what they forecast."
    )
    return Picture(
        canvas.drawn(alt), alt, f"One row for each window, the oldest on top. Training begins on {oldest:%Y-%m-%d}."
    )


def _lines(pair: Axes, found: ComparedTarget, frame: pd.DataFrame, column: str) -> None:
    """Draw a line for each model, baselines first, so that what is compared lies on top."""
    ordered = sorted(found.looks.items(), key=lambda item: not item[1].dash)
    for name, look in ordered:
        own = frame[frame["model"] == name].sort_values("step")
        if len(own):
            pair.line(own["step"], own[column], look.colour, look.dash, 1.6 if look.dash else 2.1)


def _left_out(found: ComparedTarget, names: list[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(found.call(name) for name in names)
    return f" Too far above to be drawn: {listed}."


def _listed(found: ComparedTarget) -> str:
    return ", ".join(found.call(name) for name in found.looks if name not in found.result.failures)


def _shortened(name: str, most: int = 22) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _spread(count: int, most: int) -> list[int]:
    return sorted({round(i) for i in np.linspace(0, count - 1, min(most, count))})


def _number(value: float) -> str:
    return f"{value:.4g}"


def _percent(value: float) -> str:
    return f"{'−' if value < 0 else '+' if value > 0 else ''}{abs(value):g}"
