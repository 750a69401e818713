import pytest

from fints.studies.kernel_width.chapters import chapters
from fints.studies.kernel_width.verdicts import verdict


def test_an_optimum_at_the_routines_width_is_a_yes(swept):
    said = verdict(swept(lambda own: own))
    assert said[0].startswith("Yes")
    assert "the exponent with which it follows the routine is 1.00 (1.00 to 1.00)" in said[0]
    assert sum(line.startswith("Off the optimum") for line in said) == 3


def test_an_optimum_that_stays_where_it_is_is_a_no(swept):
    said = verdict(swept(lambda _: 12.0))
    assert said[0].startswith(
        "No: 2 of 3 optima are shown not to be where the theory of kernels puts them, all of them at"
    )
    assert "though they move" not in said[0]
    (line,) = [line for line in said if line.startswith("No harmonics")]
    assert line.count("identical") == 3


def test_an_optimum_that_moves_beside_the_theory_is_a_no_with_that_said(swept):
    assert (
        "though they move with the routine" in verdict(swept(lambda own: {48.0: 24.0, 24.0: 12.0, 12.0: 7.5}[own]))[0]
    )


def test_a_flat_error_cannot_tell(swept):
    assert verdict(swept(lambda own: own, steep=0.0, spread=0.2))[0].startswith("8 seeds cannot tell")


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_seed_or_few_in_much_luck_tell_nothing(swept, seeds):
    said = verdict(swept(lambda _: 12.0, spread=0.5, seeds=seeds))[0]
    assert said.startswith(f"{seeds} seeds cannot tell")
    assert ("seeds needed" in said) == (seeds > 1)


@pytest.mark.parametrize(("short", "said"), [(1.3, "in 5 of 5"), (1.0, "in 0 of 5")])
def test_what_truncation_costs_is_held_against_the_theory(swept, short, said):
    assert any(said in line for line in verdict(swept(lambda own: own, short=short)) if line.startswith("A truncation"))


def test_without_the_grid_only_the_sweep_is_shown(swept):
    page = chapters(swept(lambda own: own, truncations=(12,)))
    assert len(page[0].tables) == 1
    assert len(page[0].charts) == 1


@pytest.mark.parametrize(("best", "said"), [(lambda own: own, "is wrong for narrower"), (lambda _: 12.0, "stays")])
def test_what_follows_is_computed(swept, best, said):
    page = chapters(swept(best))
    assert len(page[0].tables) == 4
    assert said in page[1].text
    assert ("is worth a search" in page[1].text) == (said != "stays")
    assert ("wider than the routine is shown to be better" in page[1].text) == (said == "stays")
