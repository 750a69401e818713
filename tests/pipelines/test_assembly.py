import numpy as np
import pandas as pd
import pytest

from fints.combination import Weights
from fints.conformal import AdaptiveBands, Bands
from fints.errors import ModelError
from fints.series import add_features
from fints.settings import load_settings
from pipelines.assembly import assemble
from pipelines.blend import Blend
from pipelines.holdout import Holdout
from pipelines.learning import lesson
from pipelines.shelf import Shelved
from tests.pipelines.conftest import panel
from tests.transformer.conftest import small_model

SETTINGS = load_settings(None, ["h=5", "input_size=30", "retrain_every=20", "combination.members=[har, naive]"])
MEMBERS = ("CycleTransformer", "HAR", "Naive")


@pytest.fixture(scope="module")
def history():
    rows = panel(A=("XNYS", "2017-01-03", "2018-12-14"), B=("XNYS", "2017-01-03", "2018-12-14"))
    return add_features(rows, ["monday", "friday", "early_close"])


@pytest.fixture(scope="module")
def learnt(history):
    return lesson(history, SETTINGS)


@pytest.fixture(scope="module")
def transformer(learnt):
    return small_model().fit(learnt.panel)


def shelved(transformer, learnt, weights, **changes):
    bands = AdaptiveBands(Bands.none(), SETTINGS.bands.pace, until=learnt.until.isoformat())
    empty = Holdout(pd.DataFrame(), pd.DataFrame(), ())
    return Shelved(transformer, empty, Blend("Combination", weights, bands, **changes))


def test_every_member_counts_by_its_weight(transformer, learnt, history):
    weights = Weights(MEMBERS, (), np.array([[0.5, 0.3, 0.2]]))
    shipped, blend = assemble(shelved(transformer, learnt, weights), learnt, history, SETTINGS)
    parts = [member.forecast(history).mean for member in shipped.model.fitted.members]
    assert [member.name for member in shipped.model.fitted.members] == list(MEMBERS)
    assert shipped.forecast(history).mean == pytest.approx(0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2])
    assert blend.weights.members == MEMBERS


def test_a_night_is_a_function_of_the_rows_and_not_of_the_nights_before(transformer, learnt, history):
    """Bands follow what came since the fit; a night asked for again, after later ones, is the same."""
    assert learnt.until < history["ds"].max()
    kept = shelved(transformer, learnt, Weights.equal(MEMBERS))
    early = history[history["ds"] <= history["ds"].max() - pd.Timedelta(days=5)].reset_index(drop=True)
    assert early["ds"].max() > learnt.until
    first = assemble(kept, learnt, early, SETTINGS)[0].forecast(early)
    shipped, _ = assemble(kept, learnt, history, SETTINGS)
    later, again = shipped.forecast(history), shipped.forecast(early)
    assert np.array_equal(first.quantiles, again.quantiles)
    assert not np.array_equal(later.quantiles, first.quantiles)


def test_bands_stay_where_they_were_calibrated_if_they_are_not_to_follow(transformer, learnt, history):
    still = SETTINGS.model_copy(update={"bands": SETTINGS.bands.model_copy(update={"adaptive": False})})
    kept = shelved(transformer, learnt, Weights.equal(MEMBERS))
    moving, fixed = (assemble(kept, learnt, history, s)[0].forecast(history) for s in (SETTINGS, still))
    assert np.array_equal(moving.mean, fixed.mean)
    assert not np.array_equal(moving.quantiles, fixed.quantiles)


def test_bars_after_the_models_were_fitted_teach_no_member(transformer, learnt, history):
    changed = history.assign(y=history["y"].where(history["ds"] <= learnt.until, 1e3))
    kept = shelved(transformer, learnt, Weights.equal(MEMBERS))
    fitted = [assemble(kept, learnt, rows, SETTINGS)[0].model.fitted.members[1] for rows in (history, changed)]
    assert np.array_equal(*(member.forecast(learnt.panel).quantiles for member in fitted))


def test_without_a_transformer_the_others_go_on(learnt, history):
    weights = Weights.equal(MEMBERS[1:])
    shipped, blend = assemble(
        shelved(None, learnt, weights, dropped={"CycleTransformer": "nan"}), learnt, history, SETTINGS
    )
    assert [member.name for member in shipped.model.fitted.members] == ["HAR", "Naive"]
    assert dict(shipped.model.failures) == {"CycleTransformer": "nan"}
    assert len(shipped.forecast(history)) == 10
    assert blend.weights.members == ("HAR", "Naive")


def test_a_series_that_began_late_is_forecast_by_who_can(transformer, learnt, history):
    start = learnt.until - pd.Timedelta(days=43)
    young = history[(history["unique_id"] == "A") & (history["ds"] >= start)].assign(unique_id="YOUNG")
    both = pd.concat([history, young], ignore_index=True)
    shipped, _ = assemble(shelved(transformer, learnt, Weights.equal(MEMBERS)), learnt, both, SETTINGS)
    assert shipped.model.fitted.series["HAR"] == {"A", "B"}
    forecast = shipped.forecast(both)
    assert forecast.frame["unique_id"].value_counts().to_dict() == {"A": 5, "B": 5, "YOUNG": 5}


def test_a_night_without_any_member_is_refused(learnt, history):
    short = learnt.panel.groupby("unique_id").head(3)
    kept = shelved(None, learnt, Weights.equal(("HAR",)))
    night = history[history["ds"].isin(short["ds"])].reset_index(drop=True)
    with pytest.raises(ModelError, match="no forecaster of the night could be fitted: HAR"):
        assemble(kept, learnt, night, SETTINGS)
