import json

import numpy as np
import pytest

from fints.series.windows import Tape
from fints.transformer.peers.links import (
    MOST_PEERS,
    links_from_plain,
    links_to_plain,
    measure_links,
    shrunk_correlations,
)

N = 300


def tape_of(names, offsets=None):
    """Daily series of N bars that end at an offset in hours."""
    offsets = offsets or [0.0] * len(names)
    rows = N * len(names)
    return Tape(
        unique_ids=tuple(names),
        bounds=np.arange(len(names) + 1) * N,
        ds=np.zeros(rows, "datetime64[ns]"),
        values=np.zeros((rows, 1)),
        calendar=np.zeros((rows, 0)),
        clocks={"seconds": np.concatenate([(np.arange(N) * 24 + hour) * 3600.0 for hour in offsets])},
    )


def origins(tape, until=N - 1):
    return np.concatenate([np.arange(first + 20, first + until) for first in tape.bounds[:-1]])


def led(noise=0.2, seed=0):
    """A follows B by one bar; C is its own."""
    b, c, e = np.random.default_rng(seed).standard_normal((3, N))
    return np.concatenate((np.concatenate(([0.0], b[:-1])) + noise * e, b, c))


def test_a_series_that_leads_is_found():
    tape = tape_of("ABC")
    links = measure_links(tape, led(), origins(tape))
    assert [link.peer for link in links["A"]] == ["B", "C"]
    assert links["A"][0].lead > 0.9
    assert abs(links["A"][1].lead) < 0.2
    assert abs(links["B"][0].lead) < 0.2


def test_a_bar_that_ends_later_is_yesterdays_news():
    """Series that move together: where B's day ends after A's, B's surprise is known to A one day late."""
    shared = np.random.default_rng(1).standard_normal(N)

    def same(hours, theirs):
        tape = tape_of("AB", [0, hours])
        return measure_links(tape, np.concatenate((shared, theirs)), origins(tape))["A"][0].same

    assert same(-5, shared) > 0.99
    assert abs(same(5, shared)) < 0.2
    assert same(5, np.append(shared[1:], 0.0)) > 0.99


def test_links_know_nothing_after_the_training_windows():
    tape, surprises = tape_of("ABC"), led()
    known = measure_links(tape, surprises, origins(tape, until=200))
    changed = surprises.reshape(3, N).copy()
    changed[:, 201:] = 9.0
    assert measure_links(tape, changed.ravel(), origins(tape, until=200)) == known
    changed[:, 200] = 9.0
    assert measure_links(tape, changed.ravel(), origins(tape, until=200)) != known


def test_the_strongest_links_of_many_are_kept():
    names = [f"S{i:02d}" for i in range(MOST_PEERS + 8)]
    tape = tape_of(names)
    surprises = np.random.default_rng(2).standard_normal((len(names), N))
    surprises[0, 1:] = surprises[-1, :-1]
    links = measure_links(tape, surprises.ravel(), origins(tape))
    assert {len(own) for own in links.values()} == {MOST_PEERS}
    assert links["S00"][0].peer == names[-1]
    assert all(name not in [link.peer for link in own] for name, own in links.items())


def test_a_panel_of_one_series_has_no_links():
    tape = tape_of("A")
    assert measure_links(tape, led()[:N], origins(tape)) == {"A": ()}


def test_correlations_are_those_of_known_pairs_less_what_chance_gives():
    x, y = np.random.default_rng(3).standard_normal((2, 200))
    x = 0.6 * y + x
    x[::7] = np.nan
    r, n = np.corrcoef(x[np.isfinite(x)], y[np.isfinite(x)])[0, 1], np.isfinite(x).sum()
    assert shrunk_correlations(x[None], y)[0] == pytest.approx(r * (1 - 1 / (n * r**2)))
    assert shrunk_correlations(x[None] * 1e3 + 5, -y)[0] == pytest.approx(-r * (1 - 1 / (n * r**2)))


def test_what_does_not_move_or_is_hardly_known_has_no_link():
    y = np.random.default_rng(4).standard_normal(100)
    rare = np.where(np.arange(100) < 29, y, np.nan)
    assert shrunk_correlations(np.stack((np.ones(100), rare, np.full(100, np.nan))), y).tolist() == [0, 0, 0]


def test_chance_is_mostly_taken_for_no_link():
    """Under independence n r² is near chi-squared with one degree of freedom, which is below 1 in 68 %."""
    x, y = np.random.default_rng(5).standard_normal((2000, 100)), np.random.default_rng(6).standard_normal(100)
    assert np.mean(shrunk_correlations(x, y) == 0) == pytest.approx(0.68, abs=0.05)


def test_links_come_back_from_json():
    tape = tape_of("ABC")
    links = measure_links(tape, led(), origins(tape))
    assert links_from_plain(json.loads(json.dumps(links_to_plain(links)))) == links
