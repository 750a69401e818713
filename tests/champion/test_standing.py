import pandas as pd

from fints.champion import Decision, Seat, standing

OLD = Seat("Combination", "line/2018-01-02-aaaaaaaaaaaa", "2018-01-02T00:00:00")
NEW = Seat("Combination", "line/2018-06-01-bbbbbbbbbbbb", "2018-06-01T00:00:00")
HAR = Seat.baseline("line")


def after(*steps):
    made = pd.Timestamp("2019-01-01", tz="UTC")
    told = [
        Decision(kind, seat, pd.Timestamp("2018-01-02") + pd.Timedelta(days=i), made, kind, *rest)
        for i, (kind, seat, *rest) in enumerate(steps)
    ]
    return standing(told, "line")


def test_nothing_stands_before_the_first_decision_of_a_configuration():
    assert after() is None
    assert after(("install", Seat.baseline("other"))) is None


def test_the_first_model_is_provisional_until_it_is_confirmed():
    assert after(("install", OLD)).provisional
    assert not after(("install", OLD), ("confirm", OLD)).provisional


def test_a_challenger_that_is_promoted_leaves_its_trial_and_the_champion_can_be_gone_back_to():
    state = after(("install", OLD), ("challenge", NEW), ("promote", NEW))
    assert (state.champion, state.challenger, state.previous) == (NEW, None, OLD)
    back = after(("install", OLD), ("challenge", NEW), ("promote", NEW), ("rollback", OLD, "hand"))
    assert (back.champion, back.previous) == (OLD, NEW)
    assert back.recovered == back.since  # what it did before the person wanted it is not held against it


def test_the_baseline_stands_in_for_a_champion_that_fell_until_it_recovers():
    fallen = after(("install", OLD), ("challenge", NEW), ("fall_back", HAR))
    assert (fallen.champion, fallen.fallen, fallen.challenger, fallen.stale) == (HAR, OLD, NEW, True)
    again = after(("install", OLD), ("fall_back", HAR), ("recover", OLD))
    assert (again.champion, again.fallen, again.watched) == (OLD, None, 0)


def test_a_trial_ends_with_its_withdrawal_and_the_newest_fit_is_remembered():
    state = after(("install", OLD), ("challenge", NEW), ("withdraw", NEW))
    assert state.challenger is None
    assert state.newest == NEW.until


def test_a_look_at_the_champion_counts_its_windows_and_may_ask_for_a_new_fit():
    state = after(("install", OLD), ("keep", OLD, "night", {"windows": 7.0, "drift": 1.0}))
    assert (state.watched, state.stale) == (7, True)
    assert after(("install", OLD), ("challenge", NEW), ("wait", NEW, "night", {"windows": 6.0})).looked == 6
