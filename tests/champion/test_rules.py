import numpy as np
import pytest

from benchmarks.champion.power import APART, EQUAL, TEN, H, losses, promoted, switches
from fints.champion import Rules, Trial, degradation, promotion, recovery

RULES = Rules()
N = 1 + (12 - 1) * H // APART


def trial(change=0.0, noise=0.1, inside=0.8, usual=0.8, n=N, seed=0):
    rng = np.random.default_rng(seed)
    common, own = 1 + 0.3 * rng.normal(size=n), noise * rng.normal(size=n)
    held = [np.clip(level + 0.05 * rng.normal(size=n), 0, 1) for level in (inside, usual)]
    return Trial("it", common * (1 + change) + own, {"HAR": common}, APART, H, *held)


def test_windows_are_counted_side_by_side():
    assert trial().windows == 12
    assert trial(n=N - 1).windows == 11
    assert trial().last(6).windows == 6
    assert len(trial().last(6).loss) == 21


def test_a_level_is_spent_in_proportion_to_the_windows():
    assert sum(RULES.spent(look) for look in RULES.looks) == pytest.approx(RULES.level)
    assert RULES.due(13, 6) == (12,)
    assert RULES.due(30, 0) == RULES.looks
    assert RULES.due(5, 0) == ()


def test_a_challenger_has_to_beat_the_champion_and_the_baseline():
    won = promotion(trial(-0.3), RULES, 12)
    assert won.outcome == "yes"
    assert "better over 12 windows" in won.sentence
    both = trial(-0.3)
    beaten = Trial("it", both.loss, {"the champion": both.loss * 0.99, **both.against}, APART, H)
    assert promotion(beaten, RULES, 12).outcome == "open"
    assert promotion(beaten, RULES, max(RULES.looks)).outcome == "no"


def test_a_champion_that_is_worse_than_the_baseline_falls_and_one_that_is_not_stays():
    assert degradation(trial(0.3), RULES).outcome == "yes"
    assert degradation(trial(-0.3), RULES).outcome == "no"
    assert degradation(trial(0.3, n=20), RULES).outcome == "open"


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_band_that_held_nothing_or_everything_throughout_is_no_better_than_one_that_nearly_did(share):
    usual = trial()
    never, nearly = np.full(N, share), np.r_[np.full(N - 1, share), 0.9 * share + 0.05]
    told = [
        degradation(Trial("it", usual.loss, usual.against, APART, H, inside, usual.usual), RULES)
        for inside in (never, nearly)
    ]
    assert [verdict.outcome for verdict in told] == ["yes", "yes"]
    assert all(verdict.figures["drift"] for verdict in told)
    # of twelve bars, all inside may be chance
    short = Trial("it", usual.loss[:12], {"HAR": usual.loss[:12]}, 1, 1, np.full(12, share), np.full(12, 0.8))
    figures = degradation(short, RULES).figures
    assert figures["coverage_p"] == pytest.approx(2 * (0.8 if share else 0.2) ** 12)


def test_a_band_that_does_not_hold_costs_the_seat_unless_the_model_is_better_all_the_same():
    assert degradation(trial(0.0, inside=0.5), RULES).outcome == "yes"
    assert degradation(trial(0.0, inside=0.5, usual=0.5), RULES).outcome == "no"  # the baseline's is no better
    kept = degradation(trial(-0.3, inside=0.99), RULES)
    assert (kept.outcome, kept.figures["drift"]) == ("no", 1.0)


def test_a_model_that_fell_comes_back_on_evidence_alone():
    assert recovery(trial(-0.3), RULES).outcome == "yes"
    assert recovery(trial(0.0), RULES).outcome == "no"
    assert recovery(trial(-0.3, n=20), RULES).outcome == "open"


def test_losses_that_are_the_same_decide_nothing():
    same = Trial("it", np.ones(N), {"HAR": np.ones(N)}, APART, H)
    assert promotion(same, RULES, 12).outcome == "open"
    assert degradation(same, RULES).outcome == "no"


def test_an_equally_good_challenger_is_hardly_ever_promoted_and_a_much_better_one_mostly():
    rng = np.random.default_rng(1)
    runs = 60
    shares = []
    for size in (EQUAL, TEN):
        loss, _ = losses(rng, runs, max(RULES.looks), (size, EQUAL))
        shares.append(np.mean([promoted(loss[:, run], RULES) > 0 for run in range(runs)]))
    assert shares[0] <= 0.12
    assert shares[1] > 0.55


def test_noise_does_not_make_the_seat_change_hands_again_and_again():
    rng = np.random.default_rng(2)
    loss, inside = losses(rng, 10, 126, (EQUAL, EQUAL))
    counts = np.array([sum(switches(loss[:, run], inside[:, run], RULES)) for run in range(10)])
    assert counts.mean() <= 1.0
    assert counts.max() <= 3
