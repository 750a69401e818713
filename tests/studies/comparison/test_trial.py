import dataclasses
import pickle

import numpy as np
import pytest

from fints.plan import FrequencyPlan
from fints.studies.comparison import BARE, HSTU, WHOLE, Arm, ArmTrial, Shape
from fints.studies.comparison.trial import asked_windows, mean_forecast
from fints.studies.ledger import settings_key

CYCLE = Arm("cycle", {"kind": "cycle", "share": 1.0})


@pytest.mark.parametrize("mode", [BARE, HSTU, WHOLE])
def test_a_trial_returns_an_error_for_every_bar_ahead_in_every_mode(tiny, mode):
    shape = Shape(trained=80, total=120, input_size=12, h=4, horizon=8, stride=5)
    result = ArmTrial.of(CYCLE, dataclasses.replace(tiny, shape=shape), mode, 0).run()
    assert len(result["squared"]) == shape.horizon
    assert np.isfinite(result["squared"]).all()
    assert (result["loss"] is None) == mode.as_fitted


def test_the_error_is_that_of_what_the_model_itself_forecasts_from_the_same_bars(tiny):
    trial = ArmTrial.of(CYCLE, tiny, BARE, 1)
    model, _ = trial.trained()
    panel, truth = trial.panel()
    windows, rows = asked_windows(panel, tiny, model)
    forecasts = mean_forecast(model, windows)
    for forecast, asked in zip(forecasts, rows, strict=True):
        with pytest.warns(UserWarning, match="extrapolates"):
            own = model.forecast(panel.head(asked[0]), h=tiny.shape.horizon)
        np.testing.assert_allclose(own.mean, forecast, rtol=1e-5, atol=1e-6)
    expected = ((forecasts - truth[rows]) ** 2).mean(axis=0)
    np.testing.assert_allclose(trial.run()["squared"], expected, rtol=1e-6)


def test_no_bar_after_the_trained_ones_decides_the_weights(tiny):
    longer = dataclasses.replace(tiny, shape=dataclasses.replace(tiny.shape, total=200))
    (_, loss), (_, other) = (ArmTrial.of(CYCLE, task, BARE, 0).trained() for task in (tiny, longer))
    assert loss == other


def changed(tiny):
    yield CYCLE, tiny, HSTU, 0
    yield CYCLE, tiny, BARE, 1
    yield CYCLE, dataclasses.replace(tiny, shape=dataclasses.replace(tiny.shape, stride=6)), BARE, 0
    yield CYCLE, dataclasses.replace(tiny, source=dataclasses.replace(tiny.source, sigma=0.2)), BARE, 0
    yield Arm("a", {"kind": "cycle", "share": 0.5}), tiny, BARE, 0
    yield Arm("a", CYCLE.encoding, plan=lambda *_: FrequencyPlan.from_periods([8.0])), tiny, BARE, 0
    yield Arm("a", CYCLE.encoding, network={"dim": 32}), tiny, BARE, 0
    yield Arm("a", CYCLE.encoding, training={"max_steps": 4}), tiny, BARE, 0


def test_whatever_decides_the_result_is_in_the_key_and_names_are_not(tiny):
    keys = [settings_key(ArmTrial.of(*each).settings()) for each in [(CYCLE, tiny, BARE, 0), *changed(tiny)]]
    assert len(set(keys)) == len(keys)
    renamed = dataclasses.replace(tiny, name="other", title="other")
    again = ArmTrial.of(Arm("other", CYCLE.encoding), renamed, BARE, 0)
    assert settings_key(again.settings()) == keys[0]


def test_an_encoding_can_depend_on_the_task(tiny):
    arm = Arm("clock", lambda task: {"kind": "clock", "period": 2 * task.source.periods[0]})
    assert arm.config(tiny).period == 14.0


def test_learned_frequencies_are_kept_and_a_trial_travels_to_another_process(tiny):
    trial = ArmTrial.of(Arm("learned", {"kind": "cycle", "share": 1.0, "learn": True}), tiny, BARE, 0)
    (learned,) = pickle.loads(pickle.dumps(trial)).run()["learned"].values()
    assert 1 / np.array(learned) == pytest.approx(7.0, rel=0.2)


def test_a_trial_is_named_by_its_defaults_too(tiny):
    stated = ArmTrial.of(Arm("clock", {"kind": "clock"}), tiny, BARE, 0).settings()
    assert stated["encoding"]["mixture"] is True
    assert {"dim", "n_layers"} <= set(stated["network"])
    assert "max_steps" in stated["training"]
