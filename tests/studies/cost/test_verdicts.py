import numpy as np
import pytest

from fints.studies.cost.chapters import chapters
from fints.studies.cost.loads import CONTROL
from fints.studies.cost.results import Timings
from fints.studies.cost.verdicts import verdict
from fints.studies.cost.work import MEASURES

PRICES = {CONTROL: 1.0, "none": 0.9, "cycle": 1.01, "clock": 1.02, "t_rope": 1.08, "time_rab": 1.6}


def make(prices=PRICES, *, repeats=8, spread=0.004, wall=1.0, budget="full", loads=("nightly", "large")):
    rng, units = np.random.default_rng(0), {}
    for load in loads:
        for name, price in prices.items():
            measures = [m for m in MEASURES if name not in ("none", "time_rab") or not m.startswith("rotate")]
            units[load, name] = []
            for _ in range(repeats):
                cpu = {m: float(price * np.exp(spread * rng.standard_normal())) for m in measures}
                times = {m: wall * ratio for m, ratio in cpu.items()}
                units[load, name].append({"cpu": cpu, "wall": times, "rope": dict.fromkeys(cpu, 0.02), "seconds": 2.0})
    return Timings(budget, units)


def line(said, start):
    return next(sentence for sentence in said if sentence.startswith(start))


def test_prices_are_told_from_the_cheapest_to_the_dearest():
    said = verdict(make())
    assert "step 1.01" in said[0]
    step = line(said, "A training step of the nightly model")
    assert "(none)" in step.split(" to ")[1] or "(none)" in step
    assert "(time_rab) RoPE's time" in step
    assert "dearer are t_rope (1.08), time_rab (1.60)" in step
    assert "equal within 5 % in 12 of 12" in line(said, "Plain RoPE against itself")


@pytest.mark.parametrize(
    ("price", "said"),
    [(1.08, "within the reported"), (1.01, "less than the reported"), (1.5, "more than the reported")],
)
def test_the_throughput_of_t_rope_is_held_against_what_was_reported(price, said):
    found = line(verdict(make(PRICES | {"t_rope": price})), "T-RoPE changes the training throughput of the nightly")
    assert said in found


def test_an_interval_over_an_end_of_what_was_reported_is_no_answer_but_a_number_of_repeats():
    found = line(verdict(make(PRICES | {"t_rope": 1.037}, spread=0.02)), "T-RoPE changes")
    assert "reaches over an end" in found
    assert "repeats needed" in found


def test_what_cannot_be_told_in_the_quick_budget_is_said():
    said = verdict(make(spread=0.3, repeats=5, budget="quick"))
    assert "The quick budget cannot tell these" in said[-1]
    assert "would need, in repeats" in said[-1]
    assert "The quick budget" not in verdict(make())[-1]


def test_a_machine_that_was_unevenly_busy_is_told_by_the_wall():
    assert "both agree" in line(verdict(make()), "Plain RoPE against itself")
    assert "do not agree" in line(verdict(make(wall=1.5)), "Plain RoPE against itself")


def test_one_repeat_decides_nothing_and_still_makes_a_page():
    timings = make(repeats=1, loads=("nightly",))
    assert not any(contrast.differs for contrast in timings.contrasts.values())
    assert "one repeat cannot tell" in line(verdict(timings), "T-RoPE changes")
    assert chapters(timings, 1.0)


def test_the_tables_hold_every_encoding_and_leave_out_rotations_that_are_none():
    every = chapters(make(), 10.0)
    results = next(chapter for chapter in every if chapter.title == "Results")
    assert len(results.tables) == len(results.charts) == 2
    frame = results.tables[0].frame.set_index("encoding")
    assert frame.loc["`none`", "rotate"] == ""
    assert frame.loc["`cycle`", "rotate"].startswith("1.0")
    assert frame.loc["RoPE, in ms", "step"] == "20"
    assert frame.loc["`time_rab`", "throughput"].startswith("-37")
