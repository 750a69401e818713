"""Secrets stand in the environment, and in nothing that is written, logged or raised."""

import json

import pytest

from fints.errors import ConfigError
from fints.settings import BacktestSettings, NightlySettings, TuneSettings, load_settings, read_settings
from fints.tracking import Tracking
from fints.tracking.redaction import without_passwords

SECRET = "T0P-s3cr3t-t0ken"

WRONG = [
    f"alerts.webhook.url=[{SECRET}",  # no YAML
    f"alerts.webhook.url={{a: {SECRET}}}",
    f"alerts.webhook.password={SECRET}",
    f"alerts.email={{host: h, sender: a@b.c, to: [d@e.f], password: {SECRET}}}",
    f"alerts.email={{apikey: {SECRET}}}",
    f"alerts={SECRET}",
    f"alerts.email={SECRET}",
    f"tracking={SECRET}",
    f"tracking.uri=[{SECRET}]",
    f"tracking.uri=!{SECRET}",  # a tag
    f"tracking.uri=*{SECRET}",  # an alias
    f"tracking.uri=&{SECRET} &{SECRET} x",
    f"tracking.uri=%{SECRET}",
    f"tracking.uri=`{SECRET}",
    f"tracking.uri=@{SECRET}",
    f'tracking.uri="\\{SECRET}"',
    f"tracking.uri=!<{SECRET} x",
    f"tracking.uri=!!int {SECRET}",
    f"tracking.uri=!!float {SECRET}",
    f"tracking.uri=!!bool {SECRET}",
    f"tracking.uri=!!timestamp {SECRET}",
    f"tracking.uri=!!binary {SECRET}é",
    f"tracking.uri={{? {{a: {SECRET}}} : 1}}",
    f"tracking.uri=http://me:{SECRET}",  # a port that is none
    f"tracking.uri=http://me:{SECRET}/x@host",
    f"tracking.uri=postgresql://me:{SECRET} x@db",
    f"tracking.uri=postgresql://me:{SECRET}'x@db",
    f"{SECRET}",
    f"={SECRET}",
    f"tracking={{uri: [{SECRET}], nonsense: 1}}",
    f"source={{kind: http, url: '{SECRET}', token: {SECRET}}}",
    f"source={{kind: http, token_env: X, url: 'https://example.com/{{symbol}}?apikey={SECRET}'}}",
    f"my token is {SECRET}",
]


@pytest.mark.parametrize("line", WRONG)
def test_settings_that_do_not_fit_are_refused_without_repeating_what_may_be_secret(line):
    with pytest.raises(ConfigError) as refused:
        load_settings(None, [line])
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(refused.value.__cause__)


@pytest.mark.parametrize(
    "text", ["alerts: {webhook: {url: [%s}}", "tracking:\n  uri: %s\n bad", "a: 1\na: %s", "'%s", "a: !%s"]
)
def test_a_file_that_is_no_yaml_is_refused_without_repeating_its_lines(tmp_path, text):
    file = tmp_path / "settings.yaml"
    file.write_text(text % SECRET)
    with pytest.raises(ConfigError) as refused:
        load_settings(file)
    assert SECRET not in str(refused.value)
    assert "line" in str(refused.value) or "stands twice" in str(refused.value)


def test_a_value_that_is_no_date_is_refused_with_its_place():
    with pytest.raises(ConfigError, match="tracking cannot be read as YAML: a tag"):
        load_settings(None, ["tracking={uri: 2018-02-30}"])


def test_what_is_written_of_settings_names_no_user_and_what_is_used_does():
    address = f"postgresql://me:{SECRET}@db/mlflow?sslmode=require"
    settings = load_settings(None, [f"tracking.uri={address}"])
    assert settings.tracking.uri == address
    for kind in (NightlySettings, BacktestSettings, TuneSettings):
        made = read_settings(kind, None, [f"tracking.uri={address}"])
        assert made.model_dump(mode="json")["tracking"]["uri"] == "postgresql://db/mlflow?sslmode=require"
        assert SECRET not in made.model_dump_json()
    assert settings.digest == load_settings().digest


def test_an_address_keeps_its_host_and_loses_its_password():
    told = without_passwords(f"x postgresql://me:{SECRET}@db:5432/mlflow, https://host:5000/x, a@b.c")
    assert told == "x postgresql://…@db:5432/mlflow, https://host:5000/x, a@b.c"


@pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves
def test_a_run_holds_no_password(tmp_path, prepared_database):
    import shutil

    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    address = f"postgresql://me:{SECRET}@db/mlflow"
    settings = load_settings(None, [f"tracking.uri={address}", f"alerts.webhook.url=https://example.com/{SECRET}"])
    with Tracking(tmp_path).run("fints/nightly/x", "a night", {}) as run:
        from fints.tracking import flat

        run.log_params(flat(settings.model_dump(mode="json")))
        run.log_text(settings.model_dump_json(indent=2), "config.json")
    found = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == []
    (config,) = tmp_path.rglob("config.json")
    assert json.loads(config.read_text())["tracking"]["uri"] == "postgresql://db/mlflow"
