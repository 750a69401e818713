"""The whole model with cross-asset attention."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

import fints
from fints.errors import SeriesError
from fints.series import validate_panel
from fints.series.windows import Tape
from fints.sessions import get_calendar
from fints.transformer.checkpoint import CARD
from fints.transformer.peers.states import measurable, row_states
from fints.transformer.peers.table import PeerRows, PeerTable
from tests.transformer.peers.conftest import QUICK, cross_model, speaking

THURSDAY = "2016-12-29"  # a session in London and New York, the last of the panels cut here


def until(panel, day):
    return panel[panel["ds"] <= day].reset_index(drop=True)


def moved(panel, name, day, by=0.5):
    """A panel with the values of a series on and after a day changed."""
    hit = (panel["unique_id"] == name) & (panel["ds"] >= day)
    assert hit.any()
    return panel.assign(y=panel["y"] + by * hit)


def quantiles(model, panel, name, **asked):
    forecast = model.forecast(panel, **asked)
    return forecast.quantiles[forecast.frame["unique_id"].to_numpy() == name]


@pytest.mark.parametrize(
    ("asking", "other", "day", "heard"),
    [
        ("LON", "NYA", THURSDAY, False),  # New York's Thursday ends after London's
        ("LON", "NYA", "2016-12-28", True),
        ("NYA", "LON", THURSDAY, True),
        ("NYA", "NYB", THURSDAY, True),  # the same instant: it has ended
    ],
)
def test_across_exchanges_a_forecast_hears_what_had_ended(listening, world, asking, other, day, heard):
    panel = until(world, THURSDAY)
    before = quantiles(listening, panel, asking)
    after = quantiles(listening, moved(panel, other, day), asking)
    assert np.array_equal(before, after) != heard


def test_rows_that_come_later_change_no_bit(listening, world):
    """London's history ends ten days before the others': they are known to it up to then."""
    london = world["unique_id"] == "LON"
    behind = world[~london | (world["ds"] <= "2016-12-19")].reset_index(drop=True)
    before = quantiles(listening, behind, "LON")
    for name in ("NYA", "NYB"):
        assert np.array_equal(quantiles(listening, moved(behind, name, "2016-12-19"), "LON"), before)
        assert not np.array_equal(quantiles(listening, moved(behind, name, "2016-12-16"), "LON"), before)
    assert np.array_equal(quantiles(listening, until(behind, "2016-12-19"), "LON"), before)


def test_what_was_not_known_when_a_forecast_is_said_to_be_made_is_not_heard(listening, world):
    panel = until(world, THURSDAY)
    for known_at, heard in (("2016-12-28", False), (THURSDAY, True)):
        before = quantiles(listening, panel, "NYA", known_at=known_at)
        after = quantiles(listening, moved(panel, "NYB", THURSDAY), "NYA", known_at=known_at)
        assert np.array_equal(before, after) != heard


def test_asking_about_a_later_bar_lets_nothing_later_in(listening, world):
    panel = until(world, THURSDAY)
    late = {"at": "2017-01-10"}
    before = quantiles(listening, panel, "LON", **late)
    assert np.array_equal(quantiles(listening, moved(panel, "NYA", THURSDAY), "LON", **late), before)


def test_the_order_of_the_rows_does_not_matter(listening, world):
    shuffled = world.sample(frac=1.0, random_state=0).reset_index(drop=True)
    assert np.array_equal(listening.forecast(shuffled).quantiles, listening.forecast(world).quantiles)


def test_training_begins_at_the_network_without_it(world):
    with_it, without = cross_model(), cross_model({"cross_asset": False})
    tape = Tape.from_panel(world, ("past_range",), ("cal_monday", "cal_friday"))
    networks = [model.design.network_for(1, 2) for model in (with_it, without)]
    shared = networks[1].state_dict()
    assert all(torch.equal(networks[0].state_dict()[name], shared[name]) for name in shared)
    first = [model.fit(world).fitted.records[0].validation[0] for model in (with_it, without)]
    assert first[0] == first[1]
    assert len(tape.unique_ids) == 3
    assert with_it.fitted.records[0].validation[-1] != without.fitted.records[0].validation[-1]


def test_a_panel_of_one_series_forecasts_as_without_it(world):
    alone = world[world["unique_id"] == "NYA"].reset_index(drop=True)
    ours, theirs = (cross_model({"cross_asset": on}).fit(alone).forecast() for on in (True, False))
    assert np.allclose(ours.quantiles, theirs.quantiles, atol=1e-6)


def test_a_missing_series_is_not_heard_and_a_new_one_hears_nobody(listening, world):
    everyone = quantiles(listening, world, "NYA")
    without_london = quantiles(listening, world[world["unique_id"] != "LON"].reset_index(drop=True), "NYA")
    alone = quantiles(listening, world[world["unique_id"] == "NYA"].reset_index(drop=True), "NYA")
    assert np.isfinite(alone).all()
    assert not np.array_equal(everyone, without_london)
    assert not np.array_equal(without_london, alone)
    new = world.assign(unique_id=world["unique_id"].replace("NYB", "NEW"))
    quiet = quantiles(listening, new, "NEW")
    assert np.array_equal(quantiles(listening, moved(new, "NYA", THURSDAY), "NEW"), quiet)
    assert np.allclose(quantiles(listening, moved(new, "NEW", THURSDAY), "NYA"), quantiles(listening, new, "NYA"))


VARIANTS = {
    "hstu": ({"block": "hstu"}, {}),
    "two layers, four heads": ({"n_layers": 2, "n_heads": 4}, {}),
    "ensemble": ({}, {"members": 2}),
    "no covariates": ({"covariates": False}, {}),
    "no companions": ({"companions": False}, {}),
    "no skip": ({"linear_skip": False}, {}),
    "half precision": ({}, {"precision": "bf16"}),
}


@pytest.mark.parametrize(("network", "training"), VARIANTS.values(), ids=VARIANTS)
def test_it_works_with_the_other_settings_and_comes_back_from_disk(world, tmp_path, network, training):
    panel = until(world, "2016-06-30")
    model = speaking(cross_model(network, training).fit(panel))
    forecast = model.forecast()
    assert np.isfinite(forecast.quantiles).all()
    assert not np.array_equal(
        quantiles(model, moved(panel, "NYB", "2016-06-30"), "NYA"), quantiles(model, panel, "NYA")
    )
    model.save(tmp_path / "model")
    loaded = fints.CycleTransformer.load(tmp_path / "model")
    assert loaded.fitted.links == model.fitted.links
    assert np.array_equal(loaded.forecast(panel).quantiles, forecast.quantiles)


def test_the_same_seed_gives_the_same_bits(world, listening):
    again = cross_model().fit(world)
    assert again.fitted.links == listening.fitted.links
    assert again.fitted.records[0].losses == listening.fitted.records[0].losses
    assert again.fitted.records[0].validation == listening.fitted.records[0].validation
    assert np.array_equal(speaking(again).forecast().quantiles, listening.forecast().quantiles)


def test_a_model_saved_before_there_was_the_option_is_read(world, tmp_path):
    model = cross_model({"cross_asset": False}).fit(until(world, "2016-06-30"))
    model.save(tmp_path / "model")
    card = json.loads((tmp_path / "model" / CARD).read_text())
    del card["fitted"]["links"], card["design"]["network"]["cross_asset"]
    (tmp_path / "model" / CARD).write_text(json.dumps(card))
    loaded = fints.CycleTransformer.load(tmp_path / "model")
    assert np.array_equal(loaded.forecast(world).quantiles, model.forecast(world).quantiles)


def test_a_surprise_takes_one_bar_more_than_the_context(listening, world):
    short = world.groupby("unique_id").tail(20).reset_index(drop=True)
    with pytest.raises(SeriesError, match="20 values"):
        listening.forecast(short)
    enough = world.groupby("unique_id").tail(30).reset_index(drop=True)
    assert np.allclose(listening.forecast(enough).quantiles, listening.forecast(world).quantiles, atol=1e-6)


class StoppedError(Exception):
    """Ends a training from within."""


def stop_at_three(step, _):
    if step == 3:
        raise StoppedError


@pytest.mark.parametrize("again", [True, False])
def test_a_killed_training_goes_on_with_the_option_that_it_had(world, listening, tmp_path, again):
    with pytest.raises(StoppedError):
        cross_model().fit(world, progress=stop_at_three, checkpoints=tmp_path)
    steps = []
    model = cross_model({"cross_asset": again})
    model.fit(world, progress=lambda step, _: steps.append(step), checkpoints=tmp_path)
    assert steps == ([3, 4] if again else [1, 2, 3, 4])
    assert (model.fitted.records[0].validation == listening.fitted.records[0].validation) == again


def led_panel(n=360):
    """A's shock is B's of the bar before, and a little of its own; C is a stranger."""
    sessions = get_calendar("XNYS").sessions("2014-01-02", "2016-12-30")[:n]
    b, c, own = np.random.default_rng(0).standard_normal((3, n))
    a = np.append(0.0, b[:-1]) + 0.3 * own
    parts = [
        pd.DataFrame({"unique_id": name, "ds": sessions, "y": 10 + y}) for name, y in zip("ABC", (a, b, c), strict=True)
    ]
    return validate_panel(pd.concat(parts, ignore_index=True))


def test_a_planted_lead_is_found_with_it_and_cannot_be_without():
    """The shock that moves A next is known from B alone; A's own part has a spread of 0.3, B's one of 1."""
    panel, errors = led_panel(), {}
    cut, size = panel["ds"].unique()[280], 12
    for on in (False, True):
        training = QUICK.model_copy(update={"max_steps": 120, "batch_size": 32, "validate_every": 20})
        model = fints.CycleTransformer(h=2, input_size=size, encoding="none").with_settings(
            cross_model({"cross_asset": on, "n_heads": 2}).design.network, training
        )
        fitted = model.fit(until(panel, cut)).fitted
        tape = Tape.from_panel(panel, (), ())
        origins = tape.origins(size, 2)
        origins = origins[(tape.names(origins) == "A") & (tape.ds[origins] >= np.datetime64(cut))]
        tokens = None
        if on:
            assert fitted.links["A"][0].peer == "B"
            places = PeerRows(tape, size, fitted.links)
            tokens = PeerTable(places, row_states(tape, fitted.start, size, measurable(tape, size))).tokens(origins)
        windows = tape.cut(origins, size, 2)
        median = fitted.quantiles(windows, tokens)[:, 0, len(fints.forecast.QUANTILES) // 2]
        errors[on] = np.sqrt(np.mean((windows.target[:, 0] - median) ** 2))
    assert errors[False] > 0.9
    assert errors[True] < 0.6
