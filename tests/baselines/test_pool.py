from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fints.baselines.features import LEAST_SESSIONS, PastFeatures
from fints.baselines.history import History
from fints.baselines.pool import Pairs, Pool

if TYPE_CHECKING:
    import pandas as pd

H = 4


def members(panel: pd.DataFrame) -> tuple[tuple[History, PastFeatures], ...]:
    histories = [History.of(rows) for _, rows in panel.groupby("unique_id")]
    return tuple((h, PastFeatures.of(h, (1, 5, 60), 252, list(h.covariates.columns))) for h in histories)


def test_features_are_the_past_in_units_of_the_window_and_the_calendar_of_the_target(daily: pd.DataFrame) -> None:
    (history, features), _ = members(daily)
    y, origin, step = history.y, 400, 3
    row = features.matrix(np.array([origin]), np.array([origin + step]), np.array([step]))[0]
    centre, spread = y[origin - 4 : origin + 1].mean(), y[origin - 251 : origin + 1].std()
    values = [
        y[origin],
        y[origin - 4],
        y[origin - 59],
        *(y[origin + 1 - n : origin + 1].mean() for n in (5, 22, 63, 252)),
    ]
    expected = [*((np.array(values) - centre) / spread), step, *history.covariates.iloc[origin + step]]
    np.testing.assert_allclose(row, expected, atol=1e-9)


def test_intraday_features_know_the_time_of_day_of_the_target(hourly: pd.DataFrame) -> None:
    history = History.of(hourly)
    features = PastFeatures.of(history, (1,), 20, [])
    origin = 500
    for step in (1, 5, 9):
        row = features.matrix(np.array([origin]), np.array([origin + step]), np.array([step]))[0]
        same = [history.y[j] for j in range(origin + 1) if history.ds[j].time() == history.ds[origin + step].time()]
        assert row[-2] * features.spread[origin] + features.centre[origin] == pytest.approx(np.mean(same[-20:]))


def test_nothing_after_an_origin_changes_its_features(daily: pd.DataFrame) -> None:
    (history, features), _ = members(daily)
    changed = daily.copy()
    changed.loc[changed["ds"] > history.ds[300], "y"] = 1e6
    (_, other), _ = members(changed)
    origins, steps = np.full(H, 300), np.arange(1, H + 1)
    np.testing.assert_array_equal(
        features.matrix(origins, origins + steps, steps), other.matrix(origins, origins + steps, steps)
    )


def test_a_constant_window_has_a_spread_of_one(daily: pd.DataFrame) -> None:
    (_, features), _ = members(daily.assign(y=7.25))
    assert set(features.spread) == {1.0}
    assert np.nanmax(np.abs(features.past)) == 0


def test_all_pairs_are_every_origin_with_every_step(daily: pd.DataFrame) -> None:
    both = members(daily)
    pairs = Pairs(both, (100, 60), H)
    first = LEAST_SESSIONS - 1
    assert pairs.counts == [(100 - H - first) * H, (60 - H - first) * H]
    x, y = pairs.drawn(10**6, 0)
    assert len(x) == len(y) == pairs.count
    (history, features), _ = both
    # the last pair of the first series is the last origin with the last step, and its target is the last row allowed
    origin = 100 - H - 1
    last = pairs.counts[0] - 1
    assert y[last] * features.spread[origin] + features.centre[origin] == pytest.approx(history.y[99])


def test_a_draw_takes_different_pairs_evenly_and_again_the_same(daily: pd.DataFrame) -> None:
    pairs = Pool(members(daily), H).before(None)
    x, y = pairs.drawn(500, 3)
    again, _ = pairs.drawn(500, 3)
    np.testing.assert_array_equal(x, again)
    assert len(x) == len(y) == 500
    assert len(np.unique(x, axis=0)) == 500
    assert not np.array_equal(x, pairs.drawn(500, 4)[0])
    steps = np.bincount(x[:, 7].astype(int), minlength=H + 1)[1:]
    assert steps.min() > 80


def test_what_is_held_out_lies_after_one_date_for_all_series(daily: pd.DataFrame) -> None:
    # the second series ends early: its own last fifth would lie where the first one is learnt from
    panel = daily[(daily["unique_id"] == "A") | (daily["ds"] < "2017-03-01")].reset_index(drop=True)
    pool = Pool(members(panel), H)
    split = pool.date_at(0.8)
    for (history, _), stop in zip(pool.members, pool.before(split).stops, strict=True):
        assert (history.ds[:stop] < split).all()
        assert (history.ds[stop:] >= split).all()
    errors = pool.errors_since(split, lambda x: np.zeros(len(x)), 10**6)
    history, features = pool.members[0]
    first = int((history.ds < split).sum()) - 1
    assert set(errors) == {"A"}
    assert errors["A"].shape == (len(history.y) - H - first, H)
    expected = (history.y[first + 1 : first + 1 + H] - features.centre[first]) / features.spread[first]
    np.testing.assert_allclose(errors["A"][0], expected)
    thinned = pool.errors_since(split, lambda x: np.zeros(len(x)), 100)["A"]
    assert 20 <= len(thinned) <= 40
