import pickle

import numpy as np
import pytest
import torch

from fints.series.asof import known_instants
from fints.series.windows import Tape
from fints.transformer.peers.links import Link
from fints.transformer.peers.states import measurable, row_states, state_width
from fints.transformer.peers.table import PeerRows, PeerTable, last_tokens, learn_peers, token_width
from fints.transformer.start import flat_start

L = 20
NEWS, EXPECTED, AGE, LEAD, SAME = range(5)
DAY = 86_400.0


def tape_of(ends, values=None):
    """A tape of series with given ends of bars, in days."""
    bounds = np.cumsum([0, *map(len, ends)])
    y = np.random.default_rng(0).standard_normal((bounds[-1], 1)) if values is None else values
    return Tape(
        unique_ids=tuple("ABCDEFG"[: len(ends)]),
        bounds=bounds,
        ds=np.concatenate([np.arange(len(own)) for own in ends]).astype("datetime64[D]").astype("datetime64[ns]"),
        values=y,
        calendar=np.zeros((bounds[-1], 0)),
        clocks={name: DAY * np.concatenate(ends) for name in ("session", "calendar", "seconds")},
    )


def all_linked(tape):
    names = tape.unique_ids
    return {name: tuple(Link(other, 0.5, 0.25) for other in names if other != name) for name in names}


def table(tape, links=None):
    start = flat_start(0, tape.values.shape[1] - 1, L)
    return PeerTable(PeerRows(tape, L, links or all_linked(tape)), row_states(tape, start, L, measurable(tape, L)))


def test_a_surprise_is_the_error_of_the_start_in_spreads_of_the_context_before():
    tape = tape_of([np.arange(40.0)])
    states = row_states(tape, flat_start(0, 0, L), L, np.array([L, 31]))
    y = tape.values[:, 0]
    for row in (L, 31):
        context = y[row - L : row]
        assert states[row, 0] == pytest.approx((y[row] - context.mean()) / context.std(), rel=1e-5)
        own = y[row - L + 1 : row + 1]
        assert states[row, 1] == pytest.approx((y[row] - own.mean()) / own.std(), rel=1e-5)
    assert np.isnan(np.delete(states, [L, 31], axis=0)).all()


def test_every_channel_has_its_memories():
    tape = tape_of([np.arange(40.0)], np.random.default_rng(1).standard_normal((40, 3)))
    states = row_states(tape, flat_start(0, 2, L), L, measurable(tape, L))
    assert states.shape == (40, state_width(L, 2))
    memories = (state_width(L, 2) - 1) // 3
    for channel in range(3):
        own = tape.values[20:40, channel]
        assert states[39, 1 + channel * memories] == pytest.approx((own[-1] - own.mean()) / own.std(), rel=1e-5)


def test_rows_that_can_be_measured_have_a_context_before_them():
    tape = tape_of([np.arange(22.0), np.arange(5.0), np.arange(21.0)])
    assert measurable(tape, L).tolist() == [20, 21, 47]


def test_a_token_tells_news_its_age_and_the_link():
    tape = tape_of([np.arange(60.0), np.arange(60) - 0.25])
    made = table(tape)
    tokens = made.tokens(np.array([50]))
    assert tokens.known.all()
    token, state = tokens.features[0, 0].double().numpy(), made.states[60 + 50].astype(float)
    assert token.shape == (token_width(L, 0),)
    assert token[[NEWS, LEAD, SAME]] == pytest.approx([state[0], 0.5, 0.25])
    assert token[EXPECTED] == pytest.approx(0.5 * state[0])
    assert tokens.lead.tolist() == [[0.5]]
    assert token[AGE] == pytest.approx(np.log1p(6) / 5)
    assert token[5:] == pytest.approx(state[1:])


def test_news_is_told_once():
    """B has no bar on day 50: on day 50 what it did on day 49 is old, its memories are not."""
    days = np.arange(60.0)
    tape = tape_of([days, np.delete(days, 50)])
    features = table(tape).tokens(np.array([49, 50, 51])).features[:, 0]
    assert (features[:, NEWS] != 0).tolist() == [True, False, True]
    assert (features[:, EXPECTED] != 0).tolist() == [True, False, True]
    assert torch.equal(features[0, 5:], features[1, 5:])


def test_what_is_not_known_is_masked():
    days = np.arange(100.0)
    young, ended, short = days[70:], days[:60], days[80:95]
    known = table(tape_of([days, young, ended, short])).tokens(np.array([60, 78, 79, 89, 90, 99])).known
    # young from its bar after a whole context, ended until a whole context has passed without it, short never
    assert known[:, 0].tolist() == [False, False, False, False, True, True]
    assert known[:, 1].tolist() == [True, True, False, False, False, False]
    assert not known[:, 2].any()


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_series_with_a_broken_value_is_unknown_while_it_lasts(broken):
    days = np.arange(100.0)
    y = np.random.default_rng(2).standard_normal((200, 1))
    y[150] = broken
    tokens = table(tape_of([days, days], y)).tokens(np.array([49, 50, 99]))
    assert tokens.known[:, 0].tolist() == [True, False, True]
    assert torch.isfinite(tokens.features).all()


def test_a_series_hears_those_it_has_links_to_and_that_are_there():
    days = np.arange(60.0)
    links = {"A": (Link("Z", 0.9, 0.9), Link("C", 0.1, 0.2)), "C": ()}
    tokens = table(tape_of([days, days, days]), links).tokens(np.array([50, 110, 170]))
    assert tokens.known.tolist() == [[True], [False], [False]]
    assert tokens.features[0, 0, [LEAD, SAME]].tolist() == pytest.approx([0.1, 0.2])


def test_a_table_goes_to_another_process():
    made, origins = table(tape_of([np.arange(60.0), np.arange(60) - 0.25])), np.array([50, 110])
    assert torch.equal(pickle.loads(pickle.dumps(made)).tokens(origins).features, made.tokens(origins).features)


def test_alone_there_is_nobody_to_hear():
    tokens = table(tape_of([np.arange(60.0)])).tokens(np.array([50]))
    assert tokens.features.shape == (1, 0, token_width(L, 0))


def test_training_and_forecast_are_told_the_same(world):
    tape = Tape.from_panel(world, ("past_range",), ("cal_monday", "cal_friday"))
    start = flat_start(2, 1, L)
    learned = learn_peers(tape, start, L, tape.origins(L, 5))
    at_the_end = learned.tokens(tape.bounds[1:] - 1)
    again = last_tokens(tape, start, L, learned.places.links, known_instants(tape, ["XLON", "XNYS", "XNYS"]))
    assert torch.equal(at_the_end.known, again.known)
    assert at_the_end.known.all()
    assert torch.allclose(at_the_end.features, again.features, atol=1e-6)


@pytest.mark.parametrize(("asking", "others"), [(0, 1), (1, 0)])
def test_no_token_knows_a_bar_that_ends_later(world, asking, others):
    """For every day, all of another series' bars that end after the asking one's are changed; the token stays."""
    tape, ends = Tape.from_panel(world, (), ()), None
    ends = tape.clocks["seconds"]
    links = {"LON": (Link("NYA", 0.5, 0.5),), "NYA": (Link("LON", 0.5, 0.5),)}
    start = flat_start(0, 0, L)
    before, told = PeerTable(PeerRows(tape, L, links), row_states(tape, start, L, measurable(tape, L))), 0
    theirs = slice(*tape.bounds[others : others + 2])
    for origin in range(tape.bounds[asking] + L, tape.bounds[asking + 1], 7):
        values = tape.values.copy()
        values[theirs][ends[theirs] > ends[origin]] = 1e3
        changed = Tape(tape.unique_ids, tape.bounds, tape.ds, values, tape.calendar, tape.clocks)
        known = before.places.find(np.array([origin]), ends[[origin]])
        if not (known >= 0).any():
            continue
        states = row_states(changed, start, L, known[known >= 0])
        after = PeerTable(PeerRows(changed, L, links), states).tokens(np.array([origin]))
        alone = row_states(tape, start, L, known[known >= 0])
        assert torch.equal(after.features, PeerTable(before.places, alone).tokens(np.array([origin])).features)
        told += 1
    assert told > 25
