from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm

import fints
from fints.forecast import QUANTILES
from fints.series.scaling import standard_scaling
from fints.series.windows import Tape
from fints.transformer.fitting import error_quantiles
from fints.transformer.inputs import network_inputs
from fints.transformer.losses import pinball_loss
from fints.transformer.start import fit_start, flat_start, refit_start, to_plain
from fints.transformer.training import Split, TrainingWindows
from fints.transformer.training.windows import spread
from tests.transformer.conftest import EAGER, SMALL, small_model

PAIR = EAGER.model_copy(update={"members": 2})


def pair():
    return small_model(random_seed=3).with_settings(SMALL, PAIR)


@pytest.fixture(scope="module")
def both(daily_panel):
    return pair().fit(daily_panel)


def spoken(model):
    """A model whose networks all have something to add to the start, however brief their training was."""
    for member, network in enumerate(model.fitted.networks):
        generator = torch.Generator().manual_seed(member)
        with torch.no_grad():
            network.head.project.weight.normal_(std=0.1, generator=generator)
    return model


@pytest.fixture(scope="module")
def windows(daily_panel):
    tape = Tape.from_panel(daily_panel, (), tuple(c for c in daily_panel if c.startswith("cal_")))
    return TrainingWindows(tape, 30, 5)


@pytest.fixture(scope="module")
def split(windows):
    return Split.by_time(windows, EAGER.validation_share)


@pytest.fixture(scope="module")
def corrected(windows, split):
    """Windows with the start that training sees."""
    return TrainingWindows(windows.tape, 30, 5, fit_start(windows.tape, 30, 5, split.train, split.validation))


def test_a_member_is_the_model_of_its_seed(both, daily_panel):
    design = both.design
    assert design.seed_of(0) == 3
    assert design.seed_of(0) != design.seed_of(1)
    alone = [small_model(random_seed=design.seed_of(member)).fit(daily_panel) for member in range(2)]
    for member, model in enumerate(alone):
        assert to_plain(model.fitted.start) == to_plain(both.fitted.start)
        ours, theirs = both.fitted.networks[member].state_dict(), model.fitted.networks[0].state_dict()
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_quantiles_are_averaged_over_members(daily_panel):
    model = spoken(pair().fit(daily_panel))
    average, quantiles = model.forecast().quantiles, []
    whole = model.fitted
    for network in whole.networks:
        model.fitted = replace(whole, networks=(network,))
        quantiles.append(model.forecast().quantiles)
    assert not np.allclose(*quantiles, atol=1e-2)
    assert np.allclose(average, np.mean(quantiles, axis=0), rtol=1e-12, atol=1e-12)


def test_an_ensemble_comes_back_from_disk_whole(daily_panel, tmp_path):
    model = spoken(pair().fit(daily_panel))
    model.save(tmp_path / "model")
    again = fints.CycleTransformer.load(tmp_path / "model")
    assert len(again.fitted.networks) == 2
    assert np.array_equal(again.forecast(daily_panel).quantiles, model.forecast().quantiles)


def test_progress_counts_the_steps_of_all_members(daily_panel):
    seen = []
    pair().fit(daily_panel, progress=lambda done, most: seen.append((done, most)))
    assert seen == [(step, 12) for step in range(1, 13)]


def test_every_member_has_its_record(both):
    first, second = both.fitted.records
    assert first.steps == second.steps == 6
    assert first.n_train == second.n_train
    assert first.validation[0] == second.validation[0]  # both start alike
    assert first.validation[1:] != second.validation[1:]


def test_an_untrained_network_states_the_start_with_the_quantiles_of_its_errors(corrected, split):
    network = small_model().design.network_for(0, 3)
    quantiles = error_quantiles(corrected, split)
    network.head.start_at(quantiles)
    batch = corrected.batch(split.train[::7])
    with torch.no_grad():
        stated = network.eval()(batch.inputs)
    assert torch.allclose(stated, batch.inputs.start[..., None] + quantiles, atol=1e-4)


def test_error_quantiles_cover_the_training_windows_at_every_step(corrected, split):
    quantiles = error_quantiles(corrected, split).numpy()
    batch = corrected.batch(split.train)
    errors = (batch.target - batch.inputs.start).numpy()
    for step in range(5):
        below = (errors[:, step, None] <= quantiles[step] + 1e-6).mean(axis=0)
        assert np.allclose(below, QUANTILES, atol=1.5 / len(errors))


def test_the_first_look_is_at_the_start_with_its_errors(fitted, corrected, split):
    """Training never keeps weights that are worse than that on the validation tail."""
    record = fitted.fitted.records[0]
    batch = looked_at(corrected)
    stated = batch.inputs.start[..., None] + error_quantiles(corrected, split)
    assert record.validation[0][1] == pytest.approx(loss(stated, batch.target), rel=1e-4)
    assert record.best[1] <= record.validation[0][1]


def looked_at(windows):
    origins = Split.by_time(windows, EAGER.validation_share).validation
    return windows.batch(spread(origins, EAGER.validation_windows))


def loss(quantiles, target):
    return float(pinball_loss(quantiles, target, torch.tensor(QUANTILES)))


def test_the_start_that_is_kept_is_estimated_on_every_window(fitted, corrected, windows):
    expected = refit_start(corrected.start, windows.tape, 30, 5, windows.origins())
    assert to_plain(fitted.fitted.start) == to_plain(expected)
    assert to_plain(expected) != to_plain(corrected.start)


def test_what_training_sees_knows_nothing_of_the_validation_tail(windows, split, corrected):
    values = windows.tape.values.copy()
    spoilt = np.setdiff1d(np.arange(len(values)), split.train[:, None] + np.arange(-29, 6))
    values[spoilt] = 10.0 + 5.0 * np.random.default_rng(0).normal(size=values[spoilt].shape)
    tape = replace(windows.tape, values=values)
    other = fit_start(tape, 30, 5, split.train, split.validation[:0])
    assert to_plain(other) == to_plain(corrected.start)
    assert torch.equal(error_quantiles(TrainingWindows(tape, 30, 5, other), split), error_quantiles(corrected, split))


def test_without_the_skip_the_start_is_flat_and_the_tokens_are_the_series_itself(daily_panel, windows):
    network = SMALL.model_copy(update={"linear_skip": False})
    model = small_model().with_settings(network, EAGER).fit(daily_panel)
    assert to_plain(model.fitted.start) == to_plain(flat_start(3, 0, 30))
    cut = windows.tape.cut(windows.origins()[::11], 30, 5)
    inputs, scale = network_inputs(cut, model.fitted.start)
    own = standard_scaling(cut.values[..., 0])
    assert np.allclose(inputs.values[..., 0], own.apply(cut.values[..., 0]), atol=1e-5)
    assert np.allclose(inputs.start, 0.0, atol=1e-6)
    assert np.allclose(scale.center, own.center)
    assert np.allclose(scale.spread, own.spread)
    target = looked_at(windows).target
    normal = torch.tensor(norm.ppf(QUANTILES), dtype=torch.float32).expand(*target.shape, -1)
    assert model.fitted.records[0].validation[0][1] == pytest.approx(loss(normal, target), rel=1e-4)


def test_without_covariates_the_start_knows_none_either(daily_panel):
    network = SMALL.model_copy(update={"covariates": False})
    model = small_model().with_settings(network, EAGER).fit(daily_panel)
    assert model.fitted.start.shared.calendar.shape == (0,)
    assert model.fitted.calendar == ()
    other = daily_panel.assign(cal_monday=0.0, cal_friday=1.0)
    assert np.array_equal(model.forecast(other).quantiles, model.forecast(daily_panel).quantiles)


def test_the_start_takes_the_calendar_out_of_what_the_network_reads(daily_panel, corrected):
    """Fridays lie half a unit, five spreads of the noise, above the other days of the panel."""
    inputs, _ = network_inputs(corrected.tape.cut(corrected.origins()[::11], 30, 5), corrected.start)
    z, friday = inputs.values[..., 0].numpy(), inputs.calendar[..., 1].numpy() == 1
    assert abs(z[friday].mean() - z[~friday].mean()) < 0.2
    raw, _ = network_inputs(corrected.tape.cut(corrected.origins()[::11], 30, 5), flat_start(3, 0, 30))
    z = raw.values[..., 0].numpy()
    assert z[friday].mean() - z[~friday].mean() > 2.0
