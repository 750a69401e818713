import io
import os

import pytest
import typer
from typer.testing import CliRunner

from fints.errors import ConfigError
from pipelines.cli import app
from pipelines.options import write_json


def commands(group, prefix=""):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_the_commands_are_those_of_the_documentation():
    assert {"nightly", "ingest", "periods", "ui", "data status", "data verify", "data diff"} <= set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_takes_a_configuration_settings_and_a_json_file(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert {"--config", "--set", "--json"} <= options


def test_a_place_for_the_result_that_does_not_exist_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    left = CliRunner().invoke(app, ["nightly", "--json", str(tmp_path / "none" / "night.json")])
    assert left.exit_code == 2
    assert "no folder" in left.output
    assert not (tmp_path / "home").exists()


def test_a_folder_that_takes_no_result_is_refused_before_the_work(tmp_path, monkeypatch):
    def refused(**_):
        raise PermissionError("read-only")

    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("pipelines.files.tempfile.NamedTemporaryFile", refused)
    left = CliRunner().invoke(app, ["backtest", "--json", str(tmp_path / "result.json")])
    assert left.exit_code == 2
    assert "read-only" in left.output
    assert not (tmp_path / "home").exists()


def test_a_result_that_is_there_and_cannot_be_replaced_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "result.json").touch()
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("pipelines.options.os.access", lambda _, mode: mode != os.W_OK)
    left = CliRunner().invoke(app, ["nightly", "--json", str(tmp_path / "result.json")])
    assert left.exit_code == 2
    assert "cannot be written" in " ".join(left.output.split())
    assert not (tmp_path / "home").exists()


def test_half_of_a_result_is_not_left(tmp_path, monkeypatch):
    class Full(io.StringIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    def opened(file, *_, **__):
        file.touch()
        return Full()

    monkeypatch.setattr("pipelines.options.Path.open", opened)
    with pytest.raises(ConfigError, match="check --json"):
        write_json(tmp_path / "result.json", {})
    assert not list(tmp_path.iterdir())
