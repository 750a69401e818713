import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from fints.combination import Scored, learn
from fints.combination.scored import pinball
from fints.errors import ModelError, SeriesError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES

SHAPE = norm.ppf(QUANTILES)


def rows(model, point, y, spread):
    """Forecasts of one model: normal around a point per origin and step."""
    origins, h = y.shape
    frame = pd.DataFrame(
        (point[..., None] + spread * SHAPE).reshape(-1, len(QUANTILES)), columns=list(QUANTILE_COLUMNS)
    )
    frame["unique_id"], frame["model"], frame["y"] = "A", model, y.ravel()
    frame["cutoff"] = pd.Timestamp("2001-01-01") + pd.to_timedelta(np.repeat(np.arange(origins), h), "D")
    frame["step"] = np.tile(np.arange(1, h + 1), origins)
    frame["ds"] = frame["cutoff"] + pd.to_timedelta(frame["step"], "D")
    return frame


def planted(errors, origins=30, h=8, seed=0):
    """What several models forecast that err by given standard deviations; ``noise`` does not know the truth at all."""
    rng = np.random.default_rng(seed)
    truth = 3 * rng.normal(size=(origins, h))
    parts = []
    for model, error in errors.items():
        point = rng.normal(size=truth.shape) * error + (0 if model == "noise" else truth)
        parts.append(rows(model, point, truth, error))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("seed", range(3))
def test_noise_gets_no_weight(seed):
    learned = learn(Scored.of(planted({"good": 0.5, "other": 0.6, "noise": 3.0}, seed=seed)), (3,))
    assert (learned.weights.of(["good", "other", "noise"]).values[:, 2] < 0.05).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_clearly_better_of_two_gets_nearly_all(seed):
    learned = learn(Scored.of(planted({"bad": 1.2, "good": 0.3}, seed=seed)))
    assert learned.weights.of(["bad", "good"]).values[0, 1] > 0.8


def test_equals_share_alike():
    learned = learn(Scored.of(planted({"a": 0.5, "b": 0.5, "c": 0.5})))
    assert learned.weights.values == pytest.approx(np.full((1, 3), 1 / 3), abs=0.05)


def test_what_a_member_is_good_at_counts_where_it_is_good():
    near, far = (planted({"a": a, "b": b}, seed=4) for a, b in ((0.2, 1.5), (1.5, 0.2)))
    frame = pd.concat([near[near["step"] <= 4], far[far["step"] > 4]], ignore_index=True)
    weights = learn(Scored.of(frame), (4,)).weights.of(["a", "b"]).values
    assert weights[0, 0] > 0.8
    assert weights[1, 1] > 0.8


def test_the_value_of_a_member_is_what_is_lost_without_it():
    value = learn(Scored.of(planted({"good": 0.3, "bad": 1.2, "noise": 3.0}))).value.set_index("member")
    assert value["without"].idxmax() == "good"
    assert value.loc["good", "without"] > 0.5
    assert value.loc["noise", "without"] == pytest.approx(0, abs=0.02)
    assert value.loc["noise", "alone"] > value.loc["bad", "alone"] > value.loc["good", "alone"]


def test_weights_do_not_depend_on_the_unit():
    frame = planted({"a": 0.4, "b": 0.7})
    scaled = frame.copy()
    scaled[["y", *QUANTILE_COLUMNS]] = 100 + 7 * scaled[["y", *QUANTILE_COLUMNS]]
    first, second = (learn(Scored.of(f)).weights.values for f in (frame, scaled))
    assert first == pytest.approx(second, abs=1e-3)


def test_the_same_forecasts_give_the_same_weights():
    frame = planted({"a": 0.4, "b": 0.7})
    shuffled = frame.sample(frac=1, random_state=1).sort_values("model", kind="stable")
    first, second = (learn(Scored.of(f)).weights.values for f in (frame, shuffled))
    assert np.array_equal(first, second)


@settings(max_examples=5)
@given(st.integers(0, 1000), st.integers(2, 4))
def test_weights_are_a_point_of_the_simplex(seed, members):
    errors = dict(zip("abcd", np.random.default_rng(seed).uniform(0.2, 2, members), strict=False))
    weights = learn(Scored.of(planted(errors, origins=8, h=4, seed=seed)), (2,)).weights
    assert weights.values.shape == (2, members)
    assert (weights.values >= 0).all()
    assert np.allclose(weights.values.sum(axis=1), 1)


def test_no_single_weight_beats_the_learned_ones_on_what_they_were_learned_from():
    scored = Scored.of(planted({"a": 0.3, "b": 0.9}, origins=60))
    weights = learn(scored).weights.values[0]
    loss = [pinball(scored.y, scored.mixed(np.array([w, 1 - w]))).mean() for w in np.linspace(0, 1, 21)]
    assert pinball(scored.y, scored.mixed(weights)).mean() < min(loss) * 1.01


def test_a_member_without_some_windows_is_named():
    frame = planted({"a": 0.4, "b": 0.7})
    short = frame[(frame["model"] != "b") | (frame["cutoff"] > frame["cutoff"].min())]
    with pytest.raises(ModelError, match=r"b has 232 forecasts and a 240 \(1 windows are missing\)"):
        Scored.of(short)


def test_a_single_origin_is_too_little():
    with pytest.raises(SeriesError, match="two origins"):
        learn(Scored.of(planted({"a": 0.4, "b": 0.7}, origins=1)))


def test_a_member_on_its_own_has_all_the_weight():
    learned = learn(Scored.of(planted({"a": 0.4})))
    assert learned.weights.values.tolist() == [[1.0]]
    assert learned.value["without"].isna().all()
