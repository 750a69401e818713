import pytest

from fints.errors import SeriesError
from fints.settings import load_settings
from pipelines.excerpt import Excerpt
from pipelines.members import compared, fit_members, members
from tests.pipelines.conftest import panel


class Counting:
    """Learns nothing, needs a number of rows of every series, and can refuse."""

    h = 5

    def __init__(self, name="Counting", needs=0, error=None):
        self.name, self.needs, self.error = name, needs, error
        self.names = []

    def fit(self, rows):
        if self.error is not None:
            raise self.error
        sizes = rows.groupby("unique_id").size()
        if sizes.min() < self.needs:
            raise SeriesError(f"{sizes.idxmin()}: too short")
        self.names = sorted(rows["unique_id"].unique())
        return self


@pytest.fixture(scope="module")
def history():
    return panel(
        LONG=("XNYS", "2017-01-03", "2018-12-31"),
        LATER=("XNYS", "2018-01-02", "2018-12-31"),
        YOUNG=("XNYS", "2018-11-01", "2018-12-31"),
    )


def test_members_are_those_of_the_settings():
    chosen = members(load_settings(None, ["combination.members=[har, ets]", "h=7"]))
    assert [(member.name, member.h) for member in chosen] == [("HAR", 7), ("ETS-calendar", 7)]
    assert members(load_settings(None, ["combination.enabled=false"])) == []


def test_a_member_that_is_compared_anyway_stands_there_once():
    names = [model.name for model in compared(load_settings())]
    assert names == ["HAR", "HAR-calendar", "Naive", "SeasonalNaive", "GradientBoosting-calendar"]


def test_all_series_are_learned_where_all_are_long_enough(history):
    model = Counting()
    found = fit_members([model], Excerpt.whole(history), history["unique_id"].unique())
    assert found.models[0].names == ["LATER", "LONG", "YOUNG"]
    assert found.series == {}
    assert model.names == []  # the caller's stays as it is


@pytest.mark.parametrize(("needs", "able"), [(100, {"LATER", "LONG"}), (300, {"LONG"})])
def test_a_member_leaves_out_the_series_that_are_too_short_for_it(history, needs, able):
    found = fit_members([Counting(needs=needs)], Excerpt.whole(history), history["unique_id"].unique())
    assert set(found.models[0].names) == able
    assert found.series == {"Counting": frozenset(able)}
    assert found.failures == {}


def test_a_series_that_is_to_be_forecast_and_was_not_there_is_left_to_the_others(history):
    found = fit_members([Counting()], Excerpt.whole(history), ["LONG", "NEW"])
    assert found.series == {"Counting": frozenset({"LONG", "LATER", "YOUNG"})}


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (Counting(error=ValueError("told to fail")), "ValueError: told to fail"),
        (Counting(needs=10_000), "SeriesError: YOUNG: too short"),
    ],
)
def test_a_member_that_fails_is_named_and_the_others_go_on(history, model, cause):
    found = fit_members([model, Counting("Other")], Excerpt.whole(history), ["LONG"])
    assert found.failures == {"Counting": cause}
    assert [model.name for model in found.models] == ["Other"]


def test_the_rows_are_cut_once_for_all_models_and_not_where_none_is_fitted(history, monkeypatch):
    cuts, cut = [], Excerpt.cut
    monkeypatch.setattr(Excerpt, "cut", lambda self: cuts.append(len(self.chosen)) or cut(self))
    assert fit_members([], Excerpt.whole(history), ["LONG"]).models == []
    assert cuts == []
    assert len(fit_members([Counting(), Counting("Other")], Excerpt.whole(history), ["LONG"]).models) == 2
    assert cuts == [len(history)]
