"""Planted cycles whose part is known: all of the gain, or nothing."""

import pandas as pd
import pytest

from fints.errors import SeriesError
from fints.explain import explain, gain_sentences
from fints.explain.dividing import divide
from fints.explain.explanation import groups_in, held_out
from fints.explain.groups import find_group
from fints.explain.history import History


@pytest.fixture(scope="module")
def weekly(weekly_model, weekly_panel):
    return explain(weekly_model, weekly_panel, "AAA")


@pytest.fixture(scope="module")
def plain(plain_model, plain_panel):
    return explain(plain_model, plain_panel, "AAA")


@pytest.mark.parametrize("loss", ["RMSE", "CRPS"])
def test_a_planted_weekly_cycle_carries_the_gain(weekly, loss):
    gain, week = weekly.gain, find_group(weekly.groups, "week")
    assert gain.total[loss].value > 0.1
    assert gain.carried(week, loss) > 0.9
    others = [gain.carried(i, loss) for i in range(len(gain.groups)) if i != week]
    assert max(others) < 0.05


@pytest.mark.parametrize("loss", ["RMSE", "CRPS"])
def test_without_the_cycle_in_the_data_it_carries_nothing(plain, loss):
    gain, week = plain.gain, find_group(plain.groups, "week")
    assert gain.carried(week, loss) < 0.05
    assert abs(gain.parts[loss][week].value.value) < 0.005


@pytest.mark.parametrize("which", ["weekly", "plain"])
@pytest.mark.parametrize("loss", ["RMSE", "CRPS"])
def test_the_parts_sum_to_the_gain(which, loss, request):
    gain = request.getfixturevalue(which).gain
    total = gain.total[loss].value
    assert sum(part.value.value for part in gain.parts[loss]) == pytest.approx(total, abs=1e-12)
    assert sum(part.share.value for part in gain.parts[loss]) == pytest.approx(1.0)


def test_both_are_said_in_words(weekly, plain):
    first, second, *_ = gain_sentences(weekly.gain)
    share = 100 * weekly.gain.carried(find_group(weekly.groups, "week"))
    assert "below that of a HAR without a calendar" in first
    assert second.startswith(f"The weekly cycle carries {share:.0f} % (± ")
    (only,) = gain_sentences(plain.gain)
    assert only.endswith("nothing that can be told from chance to divide.")


def test_it_is_measured_on_bars_that_no_weight_was_trained_on(weekly, weekly_model, weekly_panel):
    history = History.of(weekly_model, weekly_panel)
    before, after = history.divided()
    assert weekly.gain.unseen
    assert weekly.gain.first.to_datetime64() == history.border()
    assert history.tape.ds[before + weekly_model.h].max() < history.border()
    assert set(after) | set(before) < set(history.learned())


def test_from_a_given_date_on_only_later_bars_are_looked_at(weekly_model, weekly_panel):
    history = History.of(weekly_model, weekly_panel)
    since = pd.Timestamp("2002-06-03")
    before, after = history.divided(since)
    assert history.tape.ds[after + 1].min() == since
    assert history.tape.ds[before + weekly_model.h].max() < since
    ablation, chosen = held_out(history, groups_in(history, most=2), "2002-06-03")
    gain = divide(ablation, chosen, 24)
    assert gain.first == since
    assert not gain.unseen
    assert gain.windows == 24


def test_a_date_without_windows_before_or_after_it_is_refused(weekly_model, weekly_panel):
    history = History.of(weekly_model, weekly_panel)
    with pytest.raises(SeriesError, match="0 windows lie before 1999-01-01"):
        history.divided(pd.Timestamp("1999-01-01"))
    with pytest.raises(SeriesError, match="and 0 after it"):
        history.divided(pd.Timestamp("2030-01-01"))
