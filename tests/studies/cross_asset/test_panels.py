import numpy as np
import pytest

from fints.series import validate_panel
from fints.studies.cross_asset.panels import LEADER, Led

LED, APART = Led(led=True), Led(led=False)


@pytest.mark.parametrize("source", [LED, APART], ids=["led", "apart"])
def test_it_is_a_panel_and_fewer_bars_of_a_seed_begin_more_of_them(source):
    few, many = source.draw(50, 1), source.draw(80, 1)
    validate_panel(few.panel)
    assert few.panel["unique_id"].nunique() == 4
    assert few.panel["unique_id"].iloc[0] == LEADER
    starts = many.panel.groupby("unique_id", sort=False).head(50)
    assert few.panel["y"].to_numpy() == pytest.approx(starts["y"].to_numpy())


def test_followers_show_the_leaders_residual_later_and_exactly():
    _, residuals, _ = LED.parts(300, 7)
    for follower in residuals[1:]:
        assert follower[LED.lag :] == pytest.approx(residuals[0, : -LED.lag])


def test_where_nothing_crosses_residuals_have_nothing_in_common():
    _, residuals, _ = APART.parts(20_000, 7)
    for lag in (0, LED.lag):
        corr = np.corrcoef(residuals[0, : 20_000 - lag], residuals[1, lag:])[0, 1]
        assert abs(corr) < 0.05


def test_each_series_by_itself_has_one_law_in_both_panels():
    parts = [source.parts(20_000, 3) for source in (LED, APART)]
    assert parts[0][0] == pytest.approx(parts[1][0])
    for _, residuals, noise in parts:
        assert residuals.std(axis=1) == pytest.approx(0.7, abs=0.05)
        assert noise.std(axis=1) == pytest.approx(0.4, abs=0.02)
        for own in residuals:
            assert np.corrcoef(own[1:], own[:-1])[0, 1] == pytest.approx(0.8, abs=0.03)


def test_the_truth_is_cycle_and_residual_and_followers_are_told_from_the_leader():
    drawn, (cycles, residuals, noise) = LED.draw(60, 2), LED.parts(60, 2)
    assert drawn.truth == pytest.approx((cycles + residuals).ravel())
    assert drawn.panel["y"].to_numpy() - drawn.truth == pytest.approx(noise.ravel())
    assert set(drawn.panel["unique_id"][~LED.followed(60)]) == {LEADER}


def test_what_decides_a_panel_is_in_its_settings():
    assert len({str(one.settings()) for one in (LED, APART, Led(led=True, lag=3), Led(led=True, period=21.0))}) == 4
