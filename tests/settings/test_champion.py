"""Rules of the succession that can never decide are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.champion import BASELINE, Trial, degradation, recovery
from fints.errors import ConfigError
from fints.settings import load_settings
from fints.settings.champion import ChampionSettings
from pipelines.shadow import apart, of_whole

H, APART = 20, 5


@pytest.mark.parametrize("line", ["champion={least: 10, recent: 5}", "champion.least=13", "champion.recent=5"])
def test_a_look_that_needs_more_windows_than_it_takes_is_refused(line):
    with pytest.raises(ConfigError, match=r"no champion would ever be judged; set `recent` to \d+ or more"):
        load_settings(None, [line])


def test_a_look_may_need_all_the_windows_that_it_takes():
    assert load_settings(None, ["champion={least: 7, recent: 7}"]).champion.rules.least == 7


@pytest.mark.parametrize("looks", ["[]", "[6, 6]", "[12, 6]", "[2, 6]", "[0]"])
def test_looks_that_cannot_be_taken_in_order_are_refused(looks):
    with pytest.raises(ConfigError, match="looks"):
        load_settings(None, [f"champion.looks={looks}"])


@pytest.mark.parametrize("margin", [0.8, 0.9])
def test_a_band_is_never_farther_off_than_its_share(margin):
    with pytest.raises(ConfigError, match="margin"):
        load_settings(None, [f"champion.margin={margin}"])


@given(st.integers(3, 30), st.integers(0, 30))
def test_every_champion_is_judged_in_the_end_and_comes_back_in_the_end(least, more):
    rules = ChampionSettings(least=least, recent=least + more).rules
    windows = 4 * rules.recent
    usual = 1 + 0.1 * np.random.default_rng(0).normal(size=1 + (windows - 1) * H // APART)
    for factor, verdict in ((3.0, degradation), (1 / 3, recovery)):
        whole = Trial("it", factor * usual, {BASELINE: usual}, APART, H)
        assert whole.windows == windows
        assert verdict(whole.last(rules.recent), rules).outcome == "yes"


@pytest.mark.parametrize("h", [*range(1, 41), 59])
def test_a_look_that_takes_no_more_windows_than_it_needs_is_taken_at_any_horizon(h):
    """A quarter of nine bars is two: the windows of six side by side end before the sixth is whole."""
    rules = ChampionSettings(least=6, recent=6).rules
    usual = 1 + 0.1 * np.random.default_rng(0).normal(size=2000)
    taken = len(of_whole([None] * 2000, h, rules.recent))
    trial = Trial("it", 3 * usual[:taken], {BASELINE: usual[:taken]}, apart(h), h)
    assert degradation(trial, rules).outcome != "open"
    less = Trial("it", 3 * usual[: taken - 1], {BASELINE: usual[: taken - 1]}, apart(h), h)
    assert degradation(less, rules).outcome == "open"
    assert recovery(less, rules).outcome == "open"


def test_the_widest_margin_that_is_taken_still_sees_a_band_that_holds_nothing():
    rules = ChampionSettings(margin=0.79).rules
    rng = np.random.default_rng(1)
    loss, usual = 1 + 0.1 * rng.normal(size=(2, 45))
    inside = np.where(rng.random(45) < 0.02, 0.01, 0.0)
    trial = Trial("it", loss, {BASELINE: usual}, APART, H, inside, np.full(45, 0.8))
    assert degradation(trial, rules).outcome == "yes"
