import os
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fints
from fints.baselines import HAR, GradientBoosting, GradientBoostingConfig
from fints.combination import Weights
from fints.conformal import AdaptiveBands, Bands
from fints.series import add_features
from fints.settings import load_settings
from pipelines import assembly
from pipelines.assembly import assemble
from pipelines.blend import Blend
from pipelines.excerpt import Excerpt
from pipelines.holdout import Holdout
from pipelines.learning import lesson
from pipelines.pantry import PANTRY, Pantry
from pipelines.shelf import Shelf, Shelved
from tests.pipelines.conftest import panel
from tests.transformer.conftest import small_model

NAMES = ["har_calendar", "gradient_boosting"]
SETTINGS = load_settings(
    None, ["h=10", "input_size=30", "retrain_every=20", f"combination.members=[{', '.join(NAMES)}]"]
)
MEMBERS = ("CycleTransformer", "HAR-calendar", "GradientBoosting-calendar")
QUICK = GradientBoostingConfig(iterations=10, max_rows=2000)


@pytest.fixture(scope="module")
def history():
    rows = panel(A=("XNYS", "2017-01-03", "2018-12-07"), B=("XNYS", "2017-06-01", "2018-12-07"))
    return add_features(rows, ["monday", "friday", "early_close"]).assign(past_close=rows["y"] / 7)


@pytest.fixture(scope="module")
def learnt(history):
    return lesson(history, SETTINGS)


@pytest.fixture(scope="module")
def transformer(learnt):
    return small_model(h=10).fit(learnt.panel)


@pytest.fixture
def counted(monkeypatch):
    """Quick trees; and how often what was fitted, or asked from past bars."""
    seen = []
    usual = assembly.members
    fit, forecast = GradientBoosting.fit, GradientBoosting.forecast

    def members(settings):
        return [GradientBoosting(10, QUICK) if "Boosting" in m.name else m for m in usual(settings)]

    monkeypatch.setattr(assembly, "members", members)
    monkeypatch.setattr(GradientBoosting, "fit", lambda self, rows: seen.append("fit") or fit(self, rows))
    monkeypatch.setattr(
        GradientBoosting, "forecast", lambda self, *a, **k: seen.append("forecast") or forecast(self, *a, **k)
    )
    return seen


@pytest.fixture
def kept(tmp_path, transformer, learnt, counted):
    """A fit on a shelf, with quick trees."""
    bands = AdaptiveBands(Bands.none(), SETTINGS.bands.pace, until=learnt.until.isoformat())
    blend = Blend("Combination", Weights.equal(MEMBERS), bands)
    shelf = Shelf(tmp_path)
    return shelf.put(learnt.key, Shelved(transformer, Holdout(pd.DataFrame(), pd.DataFrame(), ()), blend))


def tonight(shelved, learnt, history):
    shipped, _ = assemble(shelved, learnt, history, SETTINGS)
    return shipped.forecast(history, known_at=history["ds"].max())


def anew(shelved):
    return replace(shelved, place=None)


def files(shelved):
    return sorted((shelved.place.parent / PANTRY / shelved.place.name).rglob("*.safetensors"))


def same(one, other):
    return (
        one.frame.equals(other.frame)
        and np.array_equal(one.mean, other.mean)
        and np.array_equal(one.quantiles, other.quantiles)
    )


def test_a_night_with_kept_parts_is_the_same_to_the_bit_as_one_that_works_them_out(kept, learnt, history, counted):
    expected = tonight(anew(kept), learnt, history)
    worked = list(counted)
    first = tonight(kept, learnt, history)
    counted.clear()
    warm = tonight(kept, learnt, history)
    assert same(first, expected)
    assert same(warm, expected)
    assert worked.count("fit") == 1
    assert worked.count("forecast") > 1
    assert counted == ["forecast"]  # tonight's own


def test_a_later_night_takes_what_an_earlier_one_left(kept, learnt, history, counted):
    early = history[history["ds"] <= history["ds"].max() - pd.Timedelta(days=1)].reset_index(drop=True)
    tonight(kept, learnt, early)
    counted.clear()
    warm = tonight(kept, learnt, history)
    assert "fit" not in counted
    assert counted.count("forecast") <= 2
    assert same(warm, tonight(anew(kept), learnt, history))


def test_restated_bars_are_learned_from_anew(kept, learnt, history, counted):
    tonight(kept, learnt, history)
    restated = history.assign(y=history["y"].where(history["ds"] != learnt.until, history["y"] + 0.5))
    rows = lesson(restated, SETTINGS)
    counted.clear()
    again = tonight(kept, rows, restated)
    assert counted.count("fit") == 1
    assert same(again, tonight(anew(kept), rows, restated))


def test_companions_that_are_restated_cost_the_baselines_nothing(kept, learnt, history, counted):
    """A dividend restates adjusted prices of the past, which they do not read."""
    tonight(kept, learnt, history)
    paid = history.assign(past_close=history["past_close"] * 0.99)
    counted.clear()
    again = tonight(kept, lesson(paid, SETTINGS), paid)
    assert counted == ["forecast"]
    assert same(again, tonight(anew(kept), lesson(paid, SETTINGS), paid))


def test_damaged_files_are_ignored(kept, learnt, history, counted):
    expected = tonight(kept, learnt, history)
    damaged = files(kept)
    assert len(damaged) > 3
    for number, file in enumerate(damaged):
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2] if number % 2 else content[:-1] + bytes([content[-1] ^ 1]))
    counted.clear()
    assert same(tonight(kept, learnt, history), expected)
    assert "fit" in counted


def test_another_transformer_under_the_same_name_shares_no_forecast(kept, learnt, history):
    tonight(kept, learnt, history)
    other = small_model(h=10, plan=fints.FrequencyPlan.from_periods([7])).fit(learnt.panel)
    shelf = Shelf(kept.place.parent)
    changed = shelf.put(kept.place.name, replace(kept, model=other))
    assert same(tonight(changed, learnt, history), tonight(anew(changed), learnt, history))


def test_a_folder_that_cannot_be_written_costs_time_alone(kept, learnt, history):
    expected = tonight(anew(kept), learnt, history)
    (kept.place.parent / PANTRY).write_text("in the way")
    assert same(tonight(kept, learnt, history), expected)


def test_forecasts_that_no_night_has_read_for_a_week_are_thrown_away(kept, learnt, history):
    tonight(kept, learnt, history[history["ds"] <= learnt.until + pd.Timedelta(days=5)].reset_index(drop=True))
    old = files(kept)
    for file in old:
        os.utime(file, (0, 0))
    tonight(kept, learnt, history)
    gone = [file for file in old if not file.exists()]
    assert 0 < len(gone) < len(old)
    assert all(file.stat().st_mtime > 0 for file in files(kept) if file.parent.name != "members")


def test_kept_parts_go_with_their_fit(kept, learnt, history, transformer):
    tonight(kept, learnt, history)
    assert files(kept)
    shelf = Shelf(kept.place.parent)
    for number in range(6):
        shelf.put(f"key-{number}", kept)
    assert not kept.place.exists()
    assert not files(kept)


def test_what_is_said_of_a_fit_is_said_once(kept, learnt, transformer):
    asked = []

    def say(model, rows):
        asked.append(len(rows))
        return (f"{model.name} learned from {len(rows)} rows",)

    pantry = Pantry.beside(kept.place)
    first, again = (pantry.said(transformer, learnt.excerpt, say) for _ in range(2))
    assert first == again == (f"CycleTransformer learned from {len(learnt.panel)} rows",)
    fewer = learnt.panel.iloc[:-1]
    assert pantry.said(transformer, Excerpt.whole(fewer), say) != first
    assert asked == [len(learnt.panel), len(fewer)]


def marked(folder, rows, until):
    """Name under which what a baseline learned from the rows up to a bar is kept."""
    excerpt = Excerpt.until(rows, until)
    return Pantry(folder).fitted(HAR(10, calendar=True), excerpt, lambda model: fitted(model, excerpt.cut()))[0].mark


def fitted(model, rows):
    return copy(model).fit(rows), frozenset(rows["unique_id"])


def test_a_mark_depends_on_every_value_up_to_the_bound_and_on_none_after_it(tmp_path, learnt, history):
    until, early = learnt.until, history["ds"] <= learnt.until
    mark = marked(tmp_path, history, until)
    assert marked(tmp_path, history[early].reset_index(drop=True), until) == mark
    for column in ["y", *(name for name in history.columns if name.startswith("cal_"))]:
        later = history.assign(**{column: history[column].where(early, 0.25)})
        assert marked(tmp_path, later, until) == mark
        for row in (0, *history.index[history["ds"] == until]):
            restated = history.assign(**{column: history[column].where(history.index != row, 0.25)})
            assert marked(tmp_path, restated, until) != mark
    assert marked(tmp_path, history.drop(index=history.index[early][5]).reset_index(drop=True), until) != mark
