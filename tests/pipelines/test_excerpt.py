import hashlib

import numpy as np
import pandas as pd
import pytest

from fints.series import add_features, usable
from fints.settings import load_settings
from pipelines import excerpt
from pipelines.excerpt import Excerpt
from pipelines.learning import Lesson, lesson
from tests.pipelines.conftest import panel


@pytest.fixture(scope="module")
def history():
    rows = panel(A=("XNYS", "2018-01-02", "2018-03-29"), TOKYO=("XTKS", "2018-01-04", "2018-03-30"))
    rows = add_features(rows, ["monday", "early_close"]).assign(past_close=rows["y"] / 7)
    return rows.assign(past_close=rows["past_close"].where(rows.index % 10 != 0))


@pytest.fixture(params=[1, 7, 10_000])
def stretch(request, monkeypatch):
    """Rows that are looked at together: however many, nothing changes."""
    monkeypatch.setattr(excerpt, "_STRETCH", request.param)


BOUND = pd.Timestamp("2018-03-01")


def test_the_rows_up_to_a_bar_are_cut_with_a_fresh_index(history):
    expected = history[history["ds"] <= BOUND].reset_index(drop=True)
    assert 0 < len(expected) < len(history)
    pd.testing.assert_frame_equal(Excerpt.until(history, BOUND).cut(), expected)
    pd.testing.assert_frame_equal(Excerpt.whole(history).cut(), history)


@pytest.mark.usefixtures("stretch")
@pytest.mark.parametrize("column", ["unique_id", "ds", "past_close", None])
def test_hashes_of_stretches_are_those_of_the_rows_at_once(history, column):
    cut = history[history["ds"] <= BOUND].reset_index(drop=True)
    at_once = pd.util.hash_pandas_object(cut if column is None else cut[column], index=False).to_numpy().tobytes()
    assert b"".join(Excerpt.until(history, BOUND).hashed(column)) == at_once


def test_the_panel_is_not_copied_to_be_hashed(history, monkeypatch):
    """A panel of many series is most of what a night holds."""
    monkeypatch.setattr(excerpt, "_STRETCH", 10)
    seen, usual = [], pd.util.hash_pandas_object

    def hashed(rows, **how):
        seen.append(len(rows))
        return usual(rows, **how)

    monkeypatch.setattr(pd.util, "hash_pandas_object", hashed)
    monkeypatch.setattr(Excerpt, "cut", lambda _self: pytest.fail("the rows were copied"))
    assert Lesson(history, BOUND, 5).key
    assert sum(seen) == (history["ds"] <= BOUND).sum()
    assert max(seen) <= 10


@pytest.mark.usefixtures("stretch")
@pytest.mark.parametrize(("least", "learned"), [(5, {"A", "TOKYO"}), (40, {"A"}), (10_000, {"A", "TOKYO"})])
def test_a_lesson_has_the_rows_and_the_name_that_its_fits_were_kept_under(history, least, learned):
    """Were the name another one, every fit of every home would be made again."""
    history = history[(history["unique_id"] == "A") | (history["ds"] > "2018-01-09")].reset_index(drop=True)
    early = history[history["ds"] <= BOUND].reset_index(drop=True)
    kept, _ = usable(early, least)
    rows = early if kept.empty else kept
    content = hashlib.sha256(",".join(rows.columns).encode())
    content.update(pd.util.hash_pandas_object(rows, index=False).to_numpy().tobytes())
    learnt = Lesson(history, BOUND, least)
    assert set(rows["unique_id"]) == learned
    pd.testing.assert_frame_equal(learnt.panel, rows)
    assert learnt.key == f"2018-03-01-{content.hexdigest()[:12]}"


def test_the_last_row_of_a_lesson_is_that_of_a_usable_series(history):
    settings = load_settings(None, ["retrain_every=5", "input_size=20", "h=5"])
    short = history[(history["unique_id"] == "A") | (history["ds"] > "2018-03-20")].reset_index(drop=True)
    learnt = lesson(short.assign(y=np.arange(len(short)) % 11 / 7), settings)
    assert set(learnt.panel["unique_id"]) == {"A"}
    assert learnt.until == learnt.panel["ds"].max()
