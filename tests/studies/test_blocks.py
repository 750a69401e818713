import numpy as np
import pytest

from fints.studies.blocks import BLOCK, FEWEST, by_blocks


def test_a_point_is_the_root_mean_square_of_a_block_at_its_middle():
    errors = np.concatenate((np.full((FEWEST, BLOCK), 3.0), np.full((FEWEST, 4), 0.5)), axis=1)
    line = by_blocks("x", errors)
    np.testing.assert_allclose(line.y, [3.0, 0.5])
    np.testing.assert_allclose(line.x, [(1 + BLOCK) / 2, BLOCK + 2.5])
    np.testing.assert_allclose(line.low, line.y)


@pytest.mark.parametrize(("seeds", "drawn"), [(FEWEST - 1, False), (FEWEST, True)])
def test_too_few_seeds_have_no_interval(seeds, drawn):
    errors = np.random.default_rng(0).normal(size=(seeds, 2 * BLOCK))
    line = by_blocks("x", errors, marks=True)
    assert line.marks
    assert (line.low is not None) == drawn
    if drawn:
        assert (line.low < line.y).all()
        assert (line.y < line.high).all()
