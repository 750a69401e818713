import numpy as np
import pytest

import fints
from fints.combination import Combination, Tail, Weights
from fints.errors import BundleError, ConfigError, ModelError, NotFittedError, SeriesError
from fints.forecast import Forecaster
from fints.transformer import NetworkConfig, TrainingConfig

TAIL = Tail(origins=6)


def made(level, **options):
    members = [level("good"), level("bad", off=4.0)]
    return Combination(members, tail=TAIL, ends=(2,), **options)


def test_it_is_a_forecaster(level, panel):
    combination = made(level)
    assert isinstance(combination, Forecaster)
    assert fints.Combination is Combination
    wide = combination.fit(panel).predict()
    assert {"Combination", "Combination-lo-80", "Combination-hi-95"} <= set(wide.columns)
    assert wide.groupby("unique_id").size().to_dict() == {"A": 5, "B": 5}


def test_the_better_member_carries_the_forecast(level, panel):
    combination = made(level).fit(panel)
    assert (combination.fitted.weights.of(["good", "bad"]).values[:, 0] > 0.8).all()
    forecast = combination.forecast()
    assert forecast.mean[:5] == pytest.approx(np.full(5, 10), abs=0.9)


def test_its_quantiles_are_the_weighted_average_where_they_are_not_corrected(level, panel):
    combination = made(level, calibrate=False).fit(panel)
    parts = [member.forecast(panel) for member in combination.fitted.members]
    shares = combination.fitted.weights.at(parts[0].frame["step"].to_numpy())
    expected = shares[:, [0]] * parts[0].quantiles + shares[:, [1]] * parts[1].quantiles
    assert np.allclose(combination.forecast().quantiles, expected)


def test_its_bands_hold_where_those_of_its_members_do_not(level, panel):
    members = [level("a", spread=0.3), level("b", spread=0.4)]
    widths = {}
    for calibrate in (False, True):
        lower, upper = Combination(members, tail=Tail(origins=20), calibrate=calibrate).fit(panel).forecast().band(80)
        widths[calibrate] = float((upper - lower).mean())
    assert widths[False] < 1.1
    assert widths[True] == pytest.approx(2 * 1.2816, rel=0.2)


def test_members_are_fitted_again_on_everything_unless_told_otherwise(level, panel):
    rows = {refit: [m.rows for m in made(level, refit=refit).fit(panel).fitted.members] for refit in (True, False)}
    assert rows[True] == [len(panel)] * 2
    assert rows[False] == [len(panel) - 2 * 6 * 5] * 2


def test_a_transformer_stays_in_when_the_members_are_fitted_again(panel):
    network, training = NetworkConfig(dim=8, n_heads=1), TrainingConfig(max_steps=2, batch_size=8)
    model = fints.CycleTransformer(5, 30, "rope").with_settings(network, training)
    combination = Combination([model, fints.HAR(5, spans=(1, 5))], tail=TAIL).fit(panel)
    assert not combination.failures
    assert [member.name for member in combination.fitted.members] == ["CycleTransformer", "HAR-1-5"]


def test_the_callers_members_stay_as_they_are(level, panel):
    combination = made(level)
    combination.fit(panel)
    assert [member.rows for member in combination.members] == [0, 0]


def test_nothing_in_the_tail_reaches_a_member_that_forecasts_it(level, panel):
    """A perturbation: whatever the last session of the tail was, weights from the origins before it do not differ."""
    changed = panel.copy()
    last = changed["ds"] > changed["ds"].max() - np.timedelta64(4, "D")
    changed.loc[last, "y"] += 1000.0
    tails = [TAIL.forecast(p, [level("a")]) for p in (panel, changed)]
    before = [t.frame.drop(columns="y") for t in tails]
    assert before[0].equals(before[1])
    assert not tails[0].frame["y"].equals(tails[1].frame["y"])


def test_a_forecast_from_a_history_knows_nothing_after_it(level, panel):
    combination = made(level).fit(panel[panel["ds"] <= "2017-12-29"])
    history = panel[panel["ds"] <= "2018-06-29"]
    later = panel.assign(y=np.where(panel["ds"] > "2018-06-29", 1e6, panel["y"]))
    first = combination.forecast(history)
    second = combination.forecast(later[later["ds"] <= "2018-06-29"])
    assert np.array_equal(first.quantiles, second.quantiles)


def test_a_member_that_fails_on_the_tail_is_dropped_and_named(level, panel):
    members = [level("good"), level("broken", fails_from=1)]
    with pytest.warns(UserWarning, match="broken left the combination: ValueError: told to fail"):
        combination = Combination(members, tail=TAIL).fit(panel)
    assert dict(combination.failures) == {"broken": "ValueError: told to fail"}
    assert combination.fitted.weights.members == ("good",)


def test_a_member_that_fails_when_fitted_again_leaves_its_weight_to_the_others(level, panel):
    members = [level("good"), level("tired", fails_from=len(panel))]
    with pytest.warns(UserWarning, match="tired left"):
        combination = Combination(members, tail=TAIL).fit(panel)
    assert combination.fitted.weights.values == pytest.approx(1.0)


def test_nothing_is_left_where_every_member_fails(level, panel):
    with pytest.raises(ModelError, match="every member of Combination failed: a: ValueError"):
        Combination([level("a", fails_from=1)], tail=TAIL).fit(panel)


def test_weights_from_a_store_need_no_tail(level, panel):
    weights = Weights(("good", "bad"), (2,), np.array([[0.75, 0.25], [0.5, 0.5]]))
    short = panel.groupby("unique_id").tail(20).reset_index(drop=True)
    combination = made(level).with_weights(Weights.from_plain(weights.to_plain())).fit(short)
    parts = [member.forecast(short).mean for member in combination.fitted.members]
    mixed = np.where(combination.forecast().frame["step"] <= 2, 0.25, 0.5)
    assert combination.forecast().mean == pytest.approx((1 - mixed) * parts[0] + mixed * parts[1])


def test_weights_of_strangers_are_refused(level):
    with pytest.raises(ConfigError, match="stranger"):
        made(level).with_weights(Weights.equal(["good", "stranger"]))


@pytest.mark.parametrize(
    ("members", "said"),
    [([], "at least one"), ([("a", 5), ("a", 5)], "names of their own"), ([("a", 5), ("b", 6)], "a 5, b 6")],
)
def test_members_that_do_not_go_together_are_refused(level, members, said):
    with pytest.raises(ConfigError, match=said):
        Combination([level(name, h=h) for name, h in members])


def test_a_panel_without_room_for_a_tail_is_refused(level, panel):
    with pytest.raises(SeriesError, match="no room for two forecasts of 5 bars"):
        made(level).fit(panel.groupby("unique_id").tail(20).reset_index(drop=True))


def test_it_says_so_when_it_was_not_fitted(level):
    with pytest.raises(NotFittedError, match=r"call fit\(panel\) first"):
        made(level).forecast()


def test_another_name_makes_another_column(level, panel):
    named = made(level).named("Mix").fit(panel)
    assert "Mix-lo-80" in named.predict().columns


def test_a_comparison_takes_it_like_any_other_model(level, panel):
    result = fints.cross_validation(panel, [made(level), level("bad", off=4.0)], h=5, n_windows=3, step_size=5)
    assert dict(result.failures) == {}
    assert result.leaderboard()["model"].tolist() == ["Combination", "bad"]


def test_it_is_saved_where_its_members_can_be(level, panel, tmp_path):
    class Kept(type(level())):
        def save(self, path):
            path.mkdir()
            (path / "name").write_text(self.label)

        @classmethod
        def load(cls, path):
            return cls((path / "name").read_text())

    members = [Kept("a"), Kept("b", off=0.1)]
    combination = Combination(members, tail=TAIL, refit=False).fit(panel)
    combination.save(tmp_path / "kept")
    again = Combination(members, tail=TAIL).load(tmp_path / "kept")
    assert np.array_equal(again.fitted.weights.values, combination.fitted.weights.values)
    assert [member.name for member in again.fitted.members] == ["a", "b"]
    with pytest.raises(NotFittedError, match="keeps no history"):
        again.forecast()
    with pytest.raises(BundleError, match="has b"):
        Combination([Kept("a")]).load(tmp_path / "kept")


def test_it_says_which_members_cannot_be_saved(level, panel, tmp_path):
    with pytest.raises(ModelError, match="good, bad cannot be saved"):
        made(level, refit=False).fit(panel).save(tmp_path / "kept")


def test_a_folder_without_a_combination_is_refused(level, tmp_path):
    with pytest.raises(BundleError, match="no combination that can be read"):
        made(level).load(tmp_path)
