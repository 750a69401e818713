from pathlib import Path

import pytest
import yaml

from fints.encodings import ENCODINGS
from fints.errors import ConfigError, EncodingError
from fints.plan import FrequencyPlan
from fints.settings import BacktestSettings, TransformerEntry, read_settings
from fints.settings.backtest import BRIEF
from pipelines.roster import make_models

COMMENTED = Path(__file__).parents[2] / "configs" / "backtest.yaml"
NESTED = [
    "{kind: sum, parts: [alibi, rope]}",
    "{kind: sum, parts: [time_rab, t_rope]}",
    "{kind: split, by: feature, parts: [{share: 0.5, encoding: rope}, {share: 0.5, encoding: clock}]}",
    "{kind: split, by: head, parts: [{share: 0.5, encoding: alibi}, {share: 0.5, encoding: cycle}]}",
]


def read(*overrides, path=None):
    return read_settings(BacktestSettings, path, overrides)


def written(tmp_path, text):
    path = tmp_path / "backtest.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("block", ["softmax", "hstu"])
@pytest.mark.parametrize("encoding", [*sorted(ENCODINGS), *NESTED])
def test_every_encoding_can_be_chosen(encoding, block):
    settings = read(f"models=[{{kind: transformer, encoding: {encoding}, network: {{block: {block}}}}}]")
    (model,) = make_models(settings, FrequencyPlan.from_periods([5, 20]))
    assert model.design.encoding.kind == yaml.safe_load(f"[{encoding}]")[0] or encoding.startswith("{")
    assert model.design.network.block == block
    assert model.name.startswith("CycleTransformer[")


def test_without_a_file_eight_encodings_are_compared_with_four_baselines_on_the_sample():
    settings = read()
    encodings = [entry.encoding.kind for entry in settings.models if isinstance(entry, TransformerEntry)]
    assert encodings == ["none", "absolute_sinusoidal", "alibi", "xpos", "rope", "cycle", "clock", "t_rope"]
    baselines = [entry.label for entry in settings.models if not isinstance(entry, TransformerEntry)]
    assert baselines == ["Naive", "HAR", "HAR-calendar", "ARIMA-calendar"]
    assert settings.source.kind == "sample"
    assert settings.step == settings.h


def test_the_commented_file_states_every_key_and_its_default():
    settings = read(path=COMMENTED)
    assert set(yaml.safe_load(COMMENTED.read_text("utf-8"))) == set(BacktestSettings.model_fields)
    assert settings.model_copy(update={"symbols": None}) == read()
    assert [m.name for m in make_models(settings, FrequencyPlan.from_periods([5, 20]))] == [
        entry.label for entry in settings.models
    ]


def test_a_name_says_that_a_model_hears_other_series():
    (entry,) = read("models=[{kind: transformer, encoding: rope, network: {cross_asset: true}}]").models
    assert entry.label == "CycleTransformer[rope, cross-asset]"


def test_a_model_overrules_the_backtest_key_by_key():
    common = ["network={dim: 32, n_layers: 1}", "training={max_steps: 7}", "random_seed=4"]
    settings = read(
        *common,
        "models=[{kind: transformer, network: {block: hstu, n_layers: 3}, training: {patience: 9}, input_size: 40}]",
    )
    (entry,) = settings.models
    network, training = settings.network_of(entry), settings.training_of(entry)
    assert (network.dim, network.n_layers, network.block) == (32, 3, "hstu")
    assert (training.max_steps, training.patience) == (7, 9)
    (model,) = make_models(settings, FrequencyPlan.from_periods([5]))
    assert (model.design.network, model.design.training) == (network, training)
    assert (model.design.input_size, model.design.random_seed) == (40, 4)
    assert settings.least_rows() == 60


def test_a_value_that_a_model_says_though_it_is_the_default_counts():
    settings = read("network.dim=32", "models=[{kind: transformer, network: {dim: 48}}]")
    assert settings.network_of(settings.models[0]).dim == 48


def test_a_bare_kind_and_a_single_model_will_do():
    assert read("models=har") == read("models=[{kind: har}]")
    assert isinstance(read("models={kind: transformer, encoding: rope}").models[0], TransformerEntry)


def test_combinations_are_named_by_their_parts():
    labels = [read(f"models=[{{kind: transformer, encoding: {e}}}]").models[0].label for e in NESTED]
    assert labels == [
        f"CycleTransformer[{name}]" for name in ("alibi + rope", "time_rab + t_rope", "rope | clock", "alibi | cycle")
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("models: [har, har]", "HAR stands there more than once: set name"),
        (
            "models: [{kind: transformer}, {kind: transformer, training: {max_steps: 3}}]",
            "CycleTransformer.cycle. stands",
        ),
        ("{models: [har, naive], against: HARR}", "there is no model 'HARR'; choose from HAR, Naive"),
        ("models: [{kind: transfomer}]", r"models\.0: unknown kind 'transfomer', did you mean 'transformer'"),
        ("models: [haar]", r"models\.0: unknown model 'haar'\. Did you mean 'har'\?"),
        ("models: [transfomer]", r"Did you mean 'transformer'\?"),
        (
            "models: [{kind: transformer, encoding: ropee}]",
            r"models\.0\.transformer\.encoding: unknown kind 'ropee', did you mean 'rope'",
        ),
        (
            "models: [{kind: transformer, encoding: {kind: sum, parts: [alibi, ropee]}}]",
            r"sum\.parts\.1: unknown kind 'ropee', did you mean 'rope'",
        ),
        ("models: [{kind: har, calender: true}]", r"'models\.0\.har\.calender', did you mean 'calendar'"),
        (
            "models: [naive, {kind: transformer, network: {dmi: 3}}]",
            r"'models\.1\.transformer\.network\.dmi', did you mean 'dim'",
        ),
        (
            "models: [{kind: transformer, encoding: {kind: rope, bse: 3}}]",
            r"'models\.0\.transformer\.encoding\.rope\.bse', did you mean 'base'",
        ),
        ("models: []", "models"),
        ("refit: -1", "refit"),
        ("n_window: 3", "did you mean 'n_windows'"),
        ("{h: 5, trained_h: 6}", "trained_h: 6 bars, and only 5 are forecast"),
        ("{h: 5, test_size: 12}", "test_size: 12 bars are not h and a number of steps, 5 and 5 bars each"),
        ("workers: {backend: lokey}", "workers.backend"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, text, says):
    with pytest.raises(ConfigError, match=says):
        read(path=written(tmp_path, text))


@pytest.mark.parametrize(
    "models", ["[haar]", "[{kind: transfomer}]", "[{kind: har, spans: [0]}]", "[{kind: transformer, h: 3}]"]
)
def test_one_fault_of_a_model_is_one_fault(models):
    with pytest.raises(ConfigError) as raised:
        read(f"models={models}")
    assert ";" not in str(raised.value)
    assert "at least 1 item" not in str(raised.value)


def test_a_fault_between_entries_is_said_without_all_settings():
    with pytest.raises(ConfigError, match=r"do not fit: models need names of their own; HAR .*: set name$"):
        read("models=[har, har]")


def test_a_switch_for_a_number_is_refused_within_an_entry_and_refit_may_be_one():
    assert read("refit=true").refit is True
    with pytest.raises(ConfigError, match=r"models\.1\.network\.n_layers: a number is wanted, not true"):
        read("models=[har, {kind: transformer, network: {n_layers: true}}]")


def test_parts_that_do_not_fit_name_their_entry():
    settings = read("models=[har, {kind: transformer, name: mine, encoding: {kind: cycle, share: 0.01}}]")
    with pytest.raises(EncodingError, match=r"the model mine: .* leaves none"):
        make_models(settings, FrequencyPlan.from_periods([5]))


def test_the_digest_follows_what_decides_the_outcome():
    assert read().digest == read("tracking.enabled=false", "workers={count: 3, backend: dask}").digest
    assert read().digest != read("n_windows=9").digest
    assert read().digest != read("models=[har]").digest


def test_only_transformers_ask_for_rows_before_the_first_window():
    assert read("models=[har, naive]").least_rows() == 2
    assert read("models=[har, naive]", "warm_up=60").least_rows() == 60
    assert read("models=[har, transformer]", "h=10", "input_size=50").least_rows() == 60
    assert read("models=[har, transformer]", "h=10", "trained_h=4", "input_size=50").least_rows() == 54


def test_a_test_size_stands_for_the_number_of_windows():
    settings = read("h=5", "step_size=2", "test_size=11")
    assert (settings.windows, settings.step) == (4, 2)


def test_a_quick_budget_shortens_what_takes_long_and_changes_nothing_else():
    settings = read(
        "seeds=4",
        "training={max_steps: 500, members: 3, patience: 9}",
        "models=[har, {kind: transformer, training: {max_steps: 900}},"
        " {kind: transformer, name: b, training: {patience: 2}}]",
    )
    quick = settings.within("quick")
    assert (quick.seeds, quick.windows, quick.training.max_steps, quick.training.members) == (1, 20, 200, 1)
    own = [quick.training_of(entry) for entry in quick.models[1:]]
    assert [(t.max_steps, t.members, t.patience) for t in own] == [(200, 1, 9), (200, 1, 2)]
    assert quick.model_copy(update={"seeds": 4, "n_windows": 25, "training": settings.training, "models": ()}) == (
        settings.model_copy(update={"models": ()})
    )


def test_a_quick_budget_lengthens_nothing():
    short = read("n_windows=3", "training.max_steps=7", "models=[transformer]")
    assert short.within("quick") == short


def test_a_full_budget_asks_for_three_seeds_or_more():
    assert read().within("full") == read("seeds=3")
    assert read("seeds=5").within("full").seeds == 5


def test_without_any_configuration_the_budget_is_quick_and_every_setting_overrules_it():
    brief = read(*BRIEF)
    quick = read().within("quick")
    assert (brief.windows, brief.training.max_steps, brief.seeds) == (quick.windows, quick.training.max_steps, 1)
    assert read(*BRIEF, "n_windows=7").windows == 7
