from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from arch.bootstrap import MCS, SPA
from scipy.stats import spearmanr
from statsmodels.stats.multitest import multipletests

from fints.backtest import CrossValidation, Folds
from fints.backtest.significance import DieboldMariano
from fints.backtest.significance.bootstrap import REPETITIONS
from fints.backtest.spans import Spans
from fints.backtest.verdict import Pairwise, in_words, relative
from fints.errors import UnknownNameError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES

H = 4
SCALES = {"A": 1.0, "B": 3.0}


def backtest(windows: int, seeds: dict[str, int] | None = None, **size: float) -> CrossValidation:
    """Errors of so many standard deviations, a third of them common to all models, on two series."""
    rng = np.random.default_rng(3)
    cutoffs = tuple(pd.Timestamp("2018-01-01") + pd.Timedelta(days=10 * w) for w in range(windows))
    keys = pd.DataFrame(
        [
            (name, cutoff, cutoff + pd.Timedelta(days=step), step)
            for name in SCALES
            for cutoff in cutoffs
            for step in range(1, H + 1)
        ],
        columns=["unique_id", "cutoff", "ds", "step"],
    )
    scale = keys["unique_id"].map(SCALES).to_numpy()
    y, common = rng.normal(size=len(keys)), rng.normal(size=len(keys))
    frames = []
    for model, by in size.items():
        for seed in range((seeds or {}).get(model, 1)):
            error = scale * by * (common + 1.4 * rng.normal(size=len(keys))) / np.sqrt(3)
            mean = y + error
            spread = {c: mean + scale * (p - 0.5) for c, p in zip(QUANTILE_COLUMNS, QUANTILES, strict=True)}
            frames.append(keys.assign(y=y, model=model, seed=seed, mean=mean, **spread))
    return CrossValidation(
        frame=pd.concat(frames, ignore_index=True),
        folds=Folds(cutoffs, h=H, step_size=H),
        scales=pd.Series(SCALES),
        failures={},
        void=pd.DataFrame(columns=["model", "unique_id", "cutoff", "ds", "step", "reason"]),
        models={},
        seconds={},
    )


@pytest.fixture(scope="module")
def cv() -> CrossValidation:
    return backtest(24, HAR=1.0, Cycle=0.5, Rope=0.55, Naive=2.0)


def window_losses(cv: CrossValidation) -> pd.DataFrame:
    """Mean squared error of every model in every window, worked out anew."""
    frame = cv.frame.assign(loss=(cv.frame["y"] - cv.frame["mean"]) ** 2)
    return frame.groupby(["cutoff", "model"])["loss"].mean().unstack("model")


def test_models_share_a_letter_exactly_where_their_pair_could_not_be_told_apart(cv: CrossValidation) -> None:
    pairs = cv.comparison().family.pairs
    letters = cv.leaderboard().set_index("model")["letters"]
    assert {frozenset(pair) for pair in pairs[["model", "against"]].to_numpy()} == {
        frozenset(pair) for pair in combinations(letters.index, 2)
    }
    differ = pairs["p_holm"] < 0.05
    assert 0 < differ.sum() < len(pairs)
    for different, line in zip(differ, pairs.itertuples(), strict=True):
        assert bool(set(letters[line.model]) & set(letters[line.against])) != different
    assert letters.iloc[0].startswith("a")


@pytest.mark.parametrize(("cycle", "doubtful"), [(0.5, False), (0.9, True)])
def test_the_set_is_that_of_arch_on_the_losses_of_the_windows(cycle: float, doubtful: bool) -> None:
    cv = backtest(24, HAR=1.0, Cycle=cycle, Rope=cycle + 0.02, Naive=2.0)
    losses = window_losses(cv)
    test = MCS(losses, 0.1, reps=REPETITIONS, block_size=2, method="max", seed=0)
    test.compute()
    assert test.pvalues["Pvalue"].between(0.1, 0.5).any() == doubtful
    board = cv.leaderboard().set_index("model")["in_set"]
    assert set(board.index[board.astype(bool)]) == set(test.included)
    assert 0 < board.astype(bool).sum() < len(board)


def test_whether_the_baseline_is_beaten_is_what_arch_says(cv: CrossValidation) -> None:
    losses = window_losses(cv)
    superior = cv.comparison("HAR").superior
    order = [name for name in cv.leaderboard()["model"] if name != "HAR"]
    test = SPA(losses["HAR"].to_numpy(), losses[order].to_numpy(), block_size=2, reps=REPETITIONS, seed=0)
    test.compute()
    assert superior.p_value == pytest.approx(test.pvalues["consistent"])
    assert set(superior.better) == {"Cycle", "Rope"}


def test_the_skill_is_the_share_of_the_baselines_rmse_in_the_leaderboard_whatever_the_seeds() -> None:
    cv = backtest(20, {"Cycle": 3}, HAR=1.0, Cycle=0.8, Naive=2.0)
    board = cv.leaderboard(against="HAR").set_index("model")
    expected = 1 - board["RMSE"] / board["RMSE"]["HAR"]
    np.testing.assert_allclose(board["skill"].drop("HAR"), expected.drop("HAR"))
    assert np.isnan(board["skill"]["HAR"])
    others = board.drop("HAR")
    assert (others["skill_low"] < others["skill"]).all()
    assert (others["skill"] < others["skill_high"]).all()
    assert board["seeds"].to_dict() == {"Cycle": 3, "HAR": 1, "Naive": 1}


def test_windows_with_forecasts_that_could_not_be_scored_weigh_less_in_the_skill() -> None:
    cv = backtest(20, HAR=1.0, Cycle=0.8)
    void = (cv.frame["cutoff"] < cv.folds.cutoffs[5]) & (cv.frame["unique_id"] == "A") & (cv.frame["step"] > 1)
    board = replace(cv, frame=cv.frame[~void]).leaderboard(against="HAR").set_index("model")
    assert board["skill"]["Cycle"] == pytest.approx(1 - board["RMSE"]["Cycle"] / board["RMSE"]["HAR"])


def test_without_a_baseline_there_is_no_skill(cv: CrossValidation) -> None:
    assert "skill" not in cv.leaderboard().columns
    assert cv.comparison().superior is None
    with pytest.raises(UnknownNameError, match="unknown model 'ARIMA'"):
        cv.leaderboard(against="ARIMA")


def test_the_sentences_begin_with_the_baseline(cv: CrossValidation) -> None:
    first, second, third = cv.comparison("HAR").sentences()
    skill = cv.comparison("HAR").skills["Cycle"]
    assert first.startswith("Cycle and Rope are better than HAR over 24 windows (superior predictive ability p ")
    assert first.endswith(
        f"Cycle has the lowest RMSE: {100 * skill.value:.1f} % less than HAR "
        f"(90 % interval {100 * skill.low:.1f} to {100 * skill.high:.1f} %)."
    )
    assert "(90 % model confidence set)" in second
    assert "with at most 5 % chance of any false find (Holm)" in third
    assert cv.comparison().sentences() == (second, third)


def test_a_baseline_that_is_the_best_is_said_to_be(cv: CrossValidation) -> None:
    said = cv.comparison("Cycle").sentences()[0]
    assert said.startswith("No model is shown to be better than Cycle")
    assert said.endswith("Cycle itself has the lowest RMSE.")


@pytest.fixture(scope="module")
def disputed() -> CrossValidation:
    """Eleven models, of which some are better than HAR, if that is all that is asked."""
    return backtest(25, HAR=1.0, Cycle=0.6, **{f"Rope {i}": 0.75 for i in range(9)})


def test_where_the_pairs_take_back_what_the_test_against_the_baseline_says_it_is_explained(
    disputed: CrossValidation,
) -> None:
    compared = disputed.comparison("HAR")
    pair = compared.family.pairs.set_index(["model", "against"]).loc[("Cycle", "HAR")]
    assert compared.superior.better[0] == compared.order[0] == "Cycle"
    assert pair["p_holm"] >= 0.05
    first, *_, last = compared.sentences()
    assert first.startswith("Cycle")
    assert "The difference of Cycle" in last
    assert "from HAR is not among them: so many pairs at once ask for more evidence" in last
    assert "not among them" not in " ".join(disputed.comparison().sentences())
    pairs = [("Cycle", "HAR"), *((f"Rope {i}", f"Rope {j}") for i, j in combinations(range(9), 2))]
    alone, beside = (disputed.verdicts(pairs, baseline=baseline) for baseline in (None, "HAR"))
    changed = [new for old, new in zip(alone, beside, strict=True) if new != old]
    assert len(changed) == 1
    assert changed[0].startswith("As one of 37 pairs, Cycle is not distinguishable from HAR: RMSE ")
    assert changed[0].endswith("the test of all models against HAR, which asks less at once, names it as better.")


def test_where_the_pairs_go_beyond_the_test_against_the_baseline_it_is_explained(cv: CrossValidation) -> None:
    found = cv.comparison("HAR")
    silent = replace(found, superior=replace(found.superior, better=("Rope",)))
    assert "Cycle and HAR are among them, though the test of all models against HAR does not" in silent.sentences()[-1]
    assert "among them" not in found.sentences()[-1]
    withheld = replace(found, superior=replace(found.superior, better=(), reason="7 windows are too few"))
    assert "among them" not in withheld.sentences()[-1]


@pytest.mark.parametrize(
    ("statistic", "named", "told"),
    [
        (-3.0, None, "A is better than B: RMSE 2.0 % lower over 25 windows (Diebold–Mariano p = 0.010)."),
        (-3.0, True, "A is better than B: RMSE 2.0 % lower over 25 windows (Diebold–Mariano p = 0.010)."),
        (-3.0, False, "p = 0.010); the test of all models against B does not name it."),
        (3.0, False, "A is worse than B: RMSE 2.0 % higher over 25 windows (Diebold–Mariano p = 0.010)."),
    ],
)
def test_a_pair_says_where_the_test_against_the_baseline_finds_otherwise(
    statistic: float, named: bool | None, told: str
) -> None:
    test = DieboldMariano(statistic, 0.01, 25, 1)
    assert Pairwise("A", "B", test, 0.02 * np.sign(statistic), 0.01, named=named).sentence().endswith(told)


def test_asking_for_the_same_bars_more_often_adds_no_evidence(cv: CrossValidation) -> None:
    later = pd.Timedelta(days=1)
    again = cv.frame.assign(cutoff=cv.frame["cutoff"] + later, ds=cv.frame["ds"] + later)
    cutoffs = tuple(c + shift for c in cv.folds.cutoffs for shift in (0 * later, later))
    twice = replace(
        cv, frame=pd.concat([cv.frame, again], ignore_index=True), folds=Folds(cutoffs, h=H, step_size=H // 2)
    )
    once, often = cv.comparison("HAR"), twice.comparison("HAR")
    pd.testing.assert_frame_equal(often.family.pairs, once.family.pairs)
    assert often.best == once.best
    assert often.superior == once.superior
    assert [s.value for s in often.skills.values()] == pytest.approx([s.value for s in once.skills.values()])
    assert [s.low for s in often.skills.values()] == pytest.approx([s.low for s in once.skills.values()])
    assert often.sentences()[1] == "There are 48 windows, which overlap and count as 24 in every test."
    assert "over 48 windows, which overlap and count as 24 (Diebold–Mariano" in twice.verdict("Cycle", "HAR")
    assert twice.leaderboard()["windows"].tolist() == [48] * 4


@pytest.mark.parametrize(
    ("windows", "step", "counted", "lag"),
    [(25, 5, 6, 1), (25, 20, 25, 1), (25, 30, 25, 1), (12, 15, 12, 2), (3, 5, 1, 1)],
)
def test_no_window_is_left_out_of_the_spans(windows: int, step: int, counted: int, lag: int) -> None:
    cutoffs = tuple(pd.Timestamp("2018-01-01") + pd.Timedelta(days=w) for w in range(windows))
    spans = Spans.of(Folds(cutoffs, h=20, step_size=step))
    begins = [spans.begin[cutoff] for cutoff in cutoffs]
    assert begins == sorted(begins)
    sizes = pd.Series(begins).value_counts()
    assert (len(sizes), spans.lag) == (counted, lag)
    assert sizes.max() - sizes.min() <= 1


def test_with_too_few_windows_every_test_is_withheld_and_it_is_said() -> None:
    cv = backtest(7, HAR=1.0, Cycle=0.5)
    board = cv.leaderboard(against="HAR")
    assert board["letters"].tolist() == ["", ""]
    assert board["in_set"].tolist() == [None, None]
    assert np.isfinite(board["skill"].iloc[0])
    assert board[["skill_low", "skill_high"]].isna().all(axis=None)
    first, second, third = cv.comparison("HAR").sentences()
    assert "was not tested: 7 windows are too few for a test to mean anything; it needs 15." in first
    assert first.endswith("less than HAR (which may be chance).")
    assert "7 windows are too few" in second
    assert "7 windows are too few for a test to mean anything; it needs 8" in third


def test_a_model_that_failed_has_a_row_with_the_cause_and_no_letters(cv: CrossValidation) -> None:
    failed = replace(cv, failures={"Bad": "TrainingError: no loss"})
    board = failed.leaderboard(against="HAR")
    last = board.iloc[-1]
    assert (last["model"], last["letters"], last["problem"]) == ("Bad", "", "TrainingError: no loss")
    assert np.isnan(last["RMSE"])
    assert board["letters"].iloc[:-1].tolist() == cv.leaderboard()["letters"].tolist()
    against = failed.comparison("Bad")
    assert against.sentences()[0] == "Whether any model is better than Bad was not tested: Bad has no scores."
    assert failed.leaderboard(against="Bad")["skill"].isna().all()


def test_the_rows_of_significance_are_held_together_by_holm(cv: CrossValidation) -> None:
    table = cv.significance("HAR")
    np.testing.assert_allclose(table["p_holm"], multipletests(table["p_value"], method="holm")[1])
    for line in table.itertuples():
        verdict = "not distinguishable" if line.p_holm >= 0.05 else "better" if line.statistic < 0 else "worse"
        assert f"{line.model} is {verdict}" in line.sentence
        assert "for 3 comparisons" in line.sentence


def test_a_difference_that_one_of_many_tests_would_show_by_chance_is_not_claimed() -> None:
    cv = backtest(24, HAR=1.0, Cycle=0.65, **{f"Rope {i}": 1.0 for i in range(5)})
    alone = cv.compare("Cycle", "HAR").p_value
    table = cv.significance("HAR").set_index("model")
    assert alone < 0.05 <= table["p_holm"]["Cycle"]
    assert "is better than" in cv.verdict("Cycle", "HAR")
    assert "is not distinguishable from" in table["sentence"]["Cycle"]


def test_only_variances_have_a_qlike_and_only_returns_a_direction(cv: CrossValidation) -> None:
    own = {
        target: set(replace(cv, target=target).leaderboard().columns) - set(cv.leaderboard().columns)
        for target in ("log_volume", "log_range", "log_return")
    }
    assert own == {"log_volume": set(), "log_range": {"QLIKE"}, "log_return": {"hit", "IC", "IC_cross"}}


def test_direction_and_information_coefficient_are_those_of_the_returns(cv: CrossValidation) -> None:
    returns = replace(cv, target="log_return")
    board = returns.leaderboard().set_index("model")
    for model, rows in cv.frame.groupby("model"):
        right = (np.sign(rows["y"]) == np.sign(rows["mean"])).groupby(rows["unique_id"]).mean().mean()
        assert board["hit"][model] == pytest.approx(right)
        each = [spearmanr(g["y"], g["mean"])[0] for _, g in rows.groupby(["unique_id", "step"])]
        assert board["IC"][model] == pytest.approx(np.mean(each))
    # two series cannot be ranked
    assert board["IC_cross"].isna().all()


def test_across_series_forecasts_are_ranked_window_by_window(cv: CrossValidation) -> None:
    third = cv.frame[cv.frame["unique_id"] == "A"].assign(unique_id="C", y=lambda f: f["y"] + 2)
    cv = replace(cv, frame=pd.concat([cv.frame, third], ignore_index=True), target="log_return")
    board = cv.leaderboard().set_index("model")
    for model, rows in cv.frame.groupby("model"):
        each = [spearmanr(g["y"], g["mean"])[0] for _, g in rows.groupby(["cutoff", "step"])]
        assert board["IC_cross"][model] == pytest.approx(np.mean(each))


def test_scores_of_finer_groups_average_to_those_of_coarser_ones(cv: CrossValidation) -> None:
    fine = cv.scores("unique_id", "step")
    assert len(fine) == 4 * len(SCALES) * H
    coarse = fine.groupby(["model", "step"])["MAE"].mean()
    pd.testing.assert_series_equal(coarse, cv.by_step().set_index(["model", "step"])["MAE"])


def test_what_was_worked_out_before_is_not_changed_by_its_readers(cv: CrossValidation) -> None:
    before = cv.leaderboard()
    rows = cv.shared()
    rows["squared"] = 0.0
    pd.testing.assert_frame_equal(cv.leaderboard(), before)


def test_models_that_share_no_forecast_have_tables_without_scores_and_sentences_that_say_so(
    cv: CrossValidation,
) -> None:
    apart = replace(cv, frame=cv.frame[(cv.frame["model"] == "HAR") == (cv.frame["unique_id"] == "A")])
    assert apart.leaderboard(against="HAR").empty
    assert apart.by_step().empty
    assert apart.comparison("HAR").sentences()[0].endswith("was not tested: HAR has no scores.")
    assert "no forecast in common" in apart.verdict("HAR", "Cycle")


@pytest.mark.parametrize(
    ("pair", "change", "words"),
    [
        ((0.98, 1.0), -0.02, "RMSE 2.0 % lower"),
        ((1.0, 0.0), np.inf, "RMSE above one of zero"),
        ((None, 1.0), np.nan, "RMSE unknown"),
        ((0.0, 0.0), 0.0, "the same RMSE to within 0.1 %"),
    ],
)
def test_a_change_of_the_rmse_in_words(pair: tuple[float, float], change: float, words: str) -> None:
    assert relative(*pair) == pytest.approx(change, nan_ok=True)
    assert in_words(relative(*pair)) == words
