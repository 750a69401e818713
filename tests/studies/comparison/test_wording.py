import numpy as np

from fints.studies.comparison import sentence
from fints.studies.comparison.wording import ruled, tally

RNG = np.random.default_rng(0)
AROUND = 1 + 0.3 * RNG.random(5)


def within(results):
    return results.contrasts[0]


def test_a_difference_is_said_with_its_interval_and_corrected_p(make_results):
    results = make_results({"cycle": 0.5 * AROUND * (1 + 0.02 * RNG.random(5)), "rope": AROUND})
    said = sentence(within(results), results)
    assert said.startswith("cycle has 0.5")
    assert "up to the trained horizon on a wave: lower (5 seeds, Holm p = < 0.001)." in said


def test_what_cannot_be_told_says_how_many_seeds_would(make_results):
    results = make_results({"cycle": AROUND, "rope": AROUND[::-1] * 1.03})
    said = sentence(within(results), results)
    assert "not distinguishable" in said
    assert "seeds needed for a power of 80 %" in said
    assert "for 2 %" in said


def test_a_small_difference_that_stands_is_called_small(make_results):
    level = 1 + 0.001 * RNG.random(5)
    assert ruled(within(make_results({"cycle": 0.99 * level, "rope": AROUND * 0 + 1}))) == "lower, but within 5 %"
    assert ruled(within(make_results({"cycle": AROUND, "rope": AROUND}))) == "identical"


def test_only_the_quick_budget_says_that_it_cannot_tell(make_results):
    errors = {"cycle": AROUND, "rope": AROUND[::-1]}
    assert "The quick budget cannot tell these" in tally(make_results(errors, budget="quick"))
    assert "quick budget" not in tally(make_results(errors))
    assert "quick budget" not in tally(make_results({"cycle": AROUND, "rope": AROUND}, budget="quick"))
