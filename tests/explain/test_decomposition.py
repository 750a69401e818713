from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fints
from fints.errors import NotFittedError, SeriesError, UnknownNameError
from fints.explain.coalition import Ablation, Known
from fints.explain.decomposition import COMPANIONS, LEVEL, decompose
from fints.explain.explanation import groups_in
from fints.explain.gain import REST
from fints.explain.history import History
from fints.transformer.start import refit_start
from tests.explain.conftest import BRIEF, COVARIATES, TINY, tiny_model


def ablation_of(model, panel):
    history = History.of(model, panel)
    return Ablation.of(history, groups_in(history), history.learned(), history.fitted.start)


def with_companion(panel):
    rng = np.random.default_rng(5)
    return panel.assign(past_other=panel["y"] + rng.standard_normal(len(panel)))


@pytest.mark.parametrize("uid", ["AAA", "BBB"])
def test_the_parts_sum_to_the_forecast_of_the_model(weekly_model, weekly_panel, uid):
    parts = decompose(ablation_of(weekly_model, weekly_panel), uid)
    forecast = weekly_model.forecast()
    own = (forecast.frame["unique_id"] == uid).to_numpy()
    assert np.abs(parts.mean - forecast.mean[own]).max() < 1e-6
    assert np.abs(sum(term.total for term in parts.terms) - parts.mean).max() < 1e-10
    assert list(parts.future["ds"]) == list(forecast.frame.loc[own, "ds"])


@pytest.mark.parametrize(
    ("encoding", "network"),
    [
        ("cycle", {"cross_asset": True}),
        ("clock", {"linear_skip": False}),
        ("rope", {"covariates": False}),
        ("fourier_features", {"block": "hstu"}),
    ],
    ids=str,
)
def test_they_do_so_for_every_kind_of_network(weekly_panel, network, encoding):
    panel = with_companion(weekly_panel[weekly_panel["ds"] < "2001-06"]).reset_index(drop=True)
    brief = BRIEF.model_copy(update={"max_steps": 4, "learning_rate": 0.01, "average": 0.3})
    model = tiny_model(encoding, TINY.model_copy(update=network), brief).fit(panel)
    parts = decompose(ablation_of(model, panel), "BBB", known_at="2001-06-20")
    forecast = model.forecast(known_at="2001-06-20")
    own = (forecast.frame["unique_id"] == "BBB").to_numpy()
    assert np.abs(sum(term.total for term in parts.terms) - forecast.mean[own]).max() < 1e-6
    assert {REST, COMPANIONS} <= {term.name for term in parts.terms}


def test_level_and_memories_are_a_har_without_a_calendar(weekly_model, weekly_panel):
    ablation = ablation_of(weekly_model, weekly_panel)
    parts = {term.name: term.total for term in decompose(ablation, "AAA").terms}
    context = weekly_panel.loc[weekly_panel["unique_id"] == "AAA", "y"].tail(40)
    assert np.allclose(parts[LEVEL], context.mean())
    history = ablation.history
    blind = replace(history.tape, calendar=history.tape.calendar[:, :0])
    har = refit_start(weekly_model.fitted.start, blind, 40, 5, history.learned())
    window = blind.cut(history.tape.bounds[1:2] - 6, 40, 5)  # five bars earlier, so that there are bars to ask about
    bare = ablation.start(Known(frozenset(), companions=False))
    dark = history.tape.cut(history.tape.bounds[1:2] - 6, 40, 5)
    assert np.allclose(har.locate(window).location, bare.locate(dark).location)


def test_the_planted_week_is_the_part_that_turns_with_the_week(weekly_model, weekly_panel):
    terms = {term.name: term for term in decompose(ablation_of(weekly_model, weekly_panel), "AAA").terms}
    future = weekly_model.forecast().frame.query("unique_id == 'AAA'")["ds"]
    civil = (future - pd.Timestamp("1970-01-01")).dt.days.to_numpy()
    planted = np.cos(2 * np.pi * civil / 7)
    found = terms["weekly cycle"].total
    assert np.corrcoef(planted, found)[0, 1] > 0.95
    assert np.ptp(found) > 5 * np.ptp(terms["quarterly cycle"].total)


def test_to_take_out_nothing_is_the_model_and_everything_a_start_without_covariates(weekly_model, weekly_panel):
    ablation = ablation_of(weekly_model, weekly_panel)
    whole = ablation.fitted(Known(ablation.everything))
    assert whole.networks is weekly_model.fitted.networks
    assert whole.start is weekly_model.fitted.start
    bare = ablation.start(Known(frozenset()))
    assert not bare.shared.calendar.any()
    assert ablation.start(Known(ablation.everything)).shared.calendar.any()


def test_a_start_estimated_from_everything_is_the_fitted_one(weekly_model, weekly_panel):
    history = History.of(weekly_model, weekly_panel)
    again = Ablation.of(history, groups_in(history), history.learned())
    assert np.array_equal(again.whole.shared.weights, weekly_model.fitted.start.shared.weights)
    assert np.array_equal(again.whole.shared.calendar, weekly_model.fitted.start.shared.calendar)


def test_later_rows_change_nothing_but_what_is_forecast(weekly_model, weekly_panel):
    """Starts are estimated from the rows that the model learned from."""
    last = weekly_panel["ds"].max()
    later = fints.series.future_frame(weekly_panel, 3)[["unique_id", "ds"]].assign(y=1e3)
    rows = pd.concat([weekly_panel[["unique_id", "ds", "y"]], later], ignore_index=True)
    longer = History.of(weekly_model, fints.series.add_features(fints.series.validate_panel(rows), COVARIATES))
    shorter = History.of(weekly_model, weekly_panel)
    assert longer.border() == shorter.border()
    assert longer.tape.ds[longer.learned() + weekly_model.h].max() == last
    starts = [Ablation.of(h, groups_in(h), h.learned()).whole.shared for h in (shorter, longer)]
    assert np.array_equal(starts[0].weights, starts[1].weights)


def test_a_series_that_is_not_there_is_refused(weekly_model, weekly_panel):
    with pytest.raises(UnknownNameError, match=r"'CCC'.*AAA, BBB"):
        decompose(ablation_of(weekly_model, weekly_panel), "CCC")


def test_a_panel_that_ends_before_the_model_learned_is_refused(weekly_model, weekly_panel):
    with pytest.raises(SeriesError, match=r"before 2002-\d\d-\d\d, up to which the model learned"):
        History.of(weekly_model, weekly_panel[weekly_panel["ds"] < "2002-01"])


def test_a_model_without_weights_is_refused(weekly_panel):
    with pytest.raises(NotFittedError, match="before it is fitted"):
        History.of(tiny_model(), weekly_panel)
