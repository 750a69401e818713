import numpy as np
import pytest

from fints.combination import Scored, alike, judged, learn
from fints.combination.learning import BLOCKS, PENALTIES, _path
from fints.combination.scored import pinball
from tests.combination.test_learning import planted


@pytest.fixture(scope="module")
def frame():
    rows = planted({"good": 0.4, "bad": 0.9})
    return rows.assign(mean=rows["q50"], seed=0)


def test_a_combination_stands_beside_its_members_row_by_row(frame):
    learned = learn(Scored.of(frame), (3,))
    rows = judged(frame.sample(frac=1, random_state=0), learned, "Mix")
    member = frame[frame["model"] == "good"].reset_index(drop=True)
    assert set(rows["model"]) == {"Mix"}
    assert rows[["unique_id", "cutoff", "ds", "step", "y"]].equals(member[["unique_id", "cutoff", "ds", "step", "y"]])
    assert list(rows.columns) == list(frame.columns)


def test_points_and_quantiles_have_the_same_weights(frame):
    """Here the mean of a member is its median, so that of the average is too."""
    rows = judged(frame, learn(Scored.of(frame), (3,)))
    assert rows["mean"].to_numpy() == pytest.approx(rows["q50"].to_numpy())


def test_no_block_of_time_helps_to_weigh_its_own_forecasts(frame):
    """Reference: weights learned on a frame that the block was cut from, under the penalty that was chosen."""
    scored = Scored.of(frame)
    learned = learn(scored)
    path = PENALTIES[: PENALTIES.index(learned.penalties[0]) + 1]
    number = scored.blocks(BLOCKS)
    cutoffs = scored.keys["cutoff"].to_numpy()
    for block in range(BLOCKS):
        held = np.unique(cutoffs[number == block])
        elsewhere = Scored.of(frame[~frame["cutoff"].isin(held)])
        assert np.allclose(learned.shares[number == block], _path(elsewhere, path)[-1])


def test_shares_are_weights_and_make_the_quantiles(frame):
    scored = Scored.of(frame)
    learned = learn(scored, (3,))
    assert learned.shares.sum(axis=1) == pytest.approx(1)
    by_hand = learned.shares[:, [0]] * scored.quantiles[:, 0] + learned.shares[:, [1]] * scored.quantiles[:, 1]
    assert learned.out_of_block == pytest.approx(by_hand)


def test_members_that_nothing_is_known_of_count_the_same(frame):
    scored = Scored.of(frame)
    learned = alike(scored)
    assert learned.weights.values.tolist() == [[0.5, 0.5]]
    assert pinball(scored.y, learned.out_of_block) == pytest.approx(pinball(scored.y, scored.quantiles.mean(axis=1)))
    assert judged(frame, learned)["mean"].to_numpy() == pytest.approx(scored.quantiles[..., 7].mean(axis=1))
