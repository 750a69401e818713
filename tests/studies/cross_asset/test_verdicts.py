import numpy as np
import pytest

from fints.studies.comparison import BARE, WHOLE, Results
from fints.studies.comparison.sample import SAMPLE
from fints.studies.cross_asset.chapters import panel_chapters
from fints.studies.cross_asset.gains import ENCODINGS, interactions
from fints.studies.cross_asset.study import ARMS, PAIRS
from fints.studies.cross_asset.tasks import APART, LED
from fints.studies.cross_asset.verdicts import verdict


def make(gains, *, seeds=8, spread=0.01, tasks=(LED, APART), modes=(BARE,)):
    """Results in which the others leave so much of the error, by task and encoding; all of it elsewhere."""
    rng, units = np.random.default_rng(3), {}
    for task in tasks:
        for mode in modes:
            for arm in ARMS:
                made = units[task.name, mode.name, arm.name] = []
                left = gains.get((task.name, arm.name.split(" ")[0]), 1.0) if "others" in arm.name else 1.0
                for luck in np.exp(spread * rng.standard_normal(seeds)):
                    horizon = task.shape.horizon
                    parts = [] if task is SAMPLE else [0.5 * left] * horizon
                    squared = [float((left * luck) ** 2)] * horizon
                    made.append({"squared": squared, "residual": parts, "cycle": parts, "learned": {}, "seconds": 1.0})
    return Results(
        budget="full",
        arms={arm.name: arm for arm in ARMS},
        tasks={task.name: task for task in tasks},
        modes={mode.name: mode for mode in modes},
        units=units,
        pairs=PAIRS,
    )


@pytest.mark.parametrize(
    ("cycle", "rope", "none", "word"),
    [
        (0.6, 0.9, 0.9, "Yes"),
        (0.6, 0.9, 0.6, "In part"),
        (0.9, 0.6, 0.9, "No: attention across series gains less"),
        (0.8, 0.8, 0.8, "No: attention across series gains as much"),
    ],
)
def test_the_answer_is_that_of_the_interaction(cycle, rope, none, word):
    gains = {("led", "cycle"): cycle, ("led", "rope"): rope, ("led", "none"): none}
    assert verdict(make(gains))[0].startswith(word)


def test_what_cannot_be_told_needs_seeds():
    said = verdict(make({}, spread=0.4))[0]
    assert said.startswith("Cannot be told")
    assert "seeds needed" in said


def test_an_interaction_is_a_ratio_of_ratios_with_the_cycle_first():
    found = interactions(make({("led", "cycle"): 0.6, ("led", "rope"): 0.9}, spread=1e-4))
    over = {(c.place.task, c.second): c.times.mean for c in found}
    assert over["led", "rope"] == pytest.approx(0.6 / 0.9, rel=1e-3)
    assert over["led", "none"] == pytest.approx(0.6, rel=1e-3)
    assert over["apart", "rope"] == pytest.approx(1.0, rel=1e-3)
    assert all(c.p_holm >= c.p for c in found)


def test_gains_on_both_panels_and_on_real_bars_have_sentences():
    said = verdict(make({("led", kind): 0.7 for kind in ENCODINGS}, tasks=(LED, APART, SAMPLE), modes=(BARE, WHOLE)))
    assert any("two bars, attending to the others leaves of the error: 0.7" in line for line in said)
    assert any(
        "nothing crosses, attending to the others leaves of the error: 1.0" in line or "0.99" in line for line in said
    )
    assert any("on daily log volume of two indices (whole)" in line for line in said)
    assert any("Interaction on daily log volume" in line for line in said)


def test_the_chapter_holds_interactions_and_parts():
    (chapter,) = panel_chapters(make({("led", "cycle"): 0.6}))
    interaction, parts = (table.frame for table in chapter.tables)
    assert len(interaction) == 4
    assert len(parts) == 12
    assert [chart.slug for chart in chapter.charts] == ["interaction", "led-residual"]
    best = chapter.charts[1].lines[-1].y
    assert best[:2] == pytest.approx(1.0)
    assert best[2] == pytest.approx(0.64)
