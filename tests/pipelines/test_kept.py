"""Backtests that are kept on disk, listed, and uploaded later."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from rich.console import Console

from fints.errors import ConfigError, FintsError, StoreError, UnknownNameError
from fints.settings import BacktestSettings
from pipelines import backtest_runs, publication
from pipelines import kept as kept_module
from pipelines.backtest import Backtest, run_backtest, verdicts
from pipelines.home import Home
from pipelines.kept import elsewhere, kept_report, kept_reports, resend
from pipelines.kept_backtest import folder_of, keep, load
from pipelines.progress import Stages, stages
from pipelines.publication import publish

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {
    "h": 6,
    "trained_h": 2,
    "input_size": 30,
    "n_windows": 9,
    "targets": ["log_volume", "log_range"],
    "periods": {"detect": False},
    "network": {"dim": 8, "n_heads": 1, "n_layers": 1},
    "training": {"max_steps": 2, "batch_size": 4, "validate_every": 1, "validation_windows": 4},
    "models": [
        {
            "kind": "transformer",
            "encoding": {"kind": "sum", "parts": ["alibi", "cycle"]},
            "name": "mixed",
            "training": {"max_steps": 1},
        },
        "har",
        "naive",
    ],
    "workers": {"count": 1},
}


def silent() -> Stages:
    with stages(Console(file=io.StringIO())) as shown:
        return shown


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def done(home: Home) -> Backtest:
    settings = BacktestSettings.model_validate(SETTINGS)
    found = run_backtest(settings, home, silent(), pd.Timestamp("2001-06-15"))
    broken = replace(found.targets[0].result, failures={"gone": "TrainingError: no loss"})
    first = replace(found.targets[0], result=broken, verdicts=verdicts(broken, None, found.targets[0].baseline))
    return replace(found, targets=(first, *found.targets[1:]), failed={"^X": "not delivered"}, warnings=("mind this",))


@pytest.fixture(scope="module")
def kept(done: Backtest, home: Home) -> Backtest:
    return load(keep(done, home).parent)


def test_a_kept_backtest_scores_and_tests_as_it_did(done: Backtest, kept: Backtest) -> None:
    for before, after in zip(done.targets, kept.targets, strict=True):
        for table in ("leaderboard", "significance", "by_step", "by_series"):
            pd.testing.assert_frame_equal(
                getattr(before.result, table)(), getattr(after.result, table)(), check_exact=True
            )
        one, other = (t.result.leaderboard(against=t.baseline) for t in (before, after))
        pd.testing.assert_frame_equal(one, other, check_exact=True)
        for part in ("timeline", "jobs", "void"):
            pd.testing.assert_frame_equal(getattr(before.result, part), getattr(after.result, part))
        assert before.result.folds == after.result.folds
        assert before.result.curves == after.result.curves
        assert (before.verdicts, before.problems, before.plan) == (after.verdicts, after.problems, after.plan)
        assert (before.baseline, before.panel) == (after.baseline, after.panel)
        assert before.extrapolation is not None
        assert after.extrapolation is not None
        pd.testing.assert_frame_equal(before.extrapolation.by_band(), after.extrapolation.by_band(), check_exact=True)


def test_its_settings_say_the_same_of_every_model(done: Backtest, kept: Backtest) -> None:
    assert kept.settings == done.settings
    assert kept.settings.digest == done.settings.digest
    entry, again = done.settings.models[0], kept.settings.models[0]
    assert done.settings.training_of(entry) == kept.settings.training_of(again)
    assert done.settings.network_of(entry) == kept.settings.network_of(again)
    assert kept.settings.training_of(kept.settings.models[0]).max_steps == 1
    assert kept.as_of == done.as_of
    assert (kept.data_version, kept.failed, kept.warnings) == (done.data_version, done.failed, done.warnings)


def test_other_settings_or_other_data_are_kept_beside_it(done: Backtest, home: Home) -> None:
    other = done.settings.model_copy(update={"embargo": 1})
    folders = {
        folder_of(done, home),
        folder_of(replace(done, settings=other), home),
        folder_of(replace(done, data_version=done.data_version + 1), home),
    }
    assert len(folders) == 3
    elsewhere = done.settings.model_copy(update={"tracking": {"uri": "http://localhost:1"}})
    assert folder_of(replace(done, settings=elsewhere), home) == folder_of(done, home)


def test_it_is_listed_with_its_verdict_and_printed_again(done: Backtest, kept: Backtest, home: Home) -> None:
    name = folder_of(done, home).name
    report = kept_report(home, name)
    assert report.kind == "backtest"
    assert report.page.read_text("utf-8").startswith("<!doctype html>")
    assert [line.split(":")[0] for line in report.verdict] == ["log_volume", "log_range"]
    assert "9 windows are too few" in report.verdict[0]
    assert report.text().startswith("**log_volume**: ")
    assert "| gone" in report.text()
    with pytest.raises(UnknownNameError, match="unknown report"):
        kept_report(home, "yesterday")


def test_nights_are_listed_with_the_lead_of_their_page(home: Home) -> None:
    folder = home.reports / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    page = '<p class="eyebrow">no</p><p class="lead">Cycle is <b>better</b> &amp; cheap.</p><p>no</p>'
    (folder / "sample-1d-2018-12-31.html").write_text(page, "utf-8")
    night = kept_report(home, "sample-1d-2018-12-31")
    assert (night.kind, night.verdict, night.logged) == ("night", ("Cycle is better & cheap.",), None)


class Server:
    """Takes runs, or does not answer."""

    def __init__(self) -> None:
        self.away = True
        self.taken: list[Backtest] = []

    def track(self, done: Backtest, home: Home, page: object = None) -> str:
        if self.away:
            raise ConnectionError("nobody answers")
        self.taken.append(done)
        return f"run {len(self.taken)}"


def test_what_a_server_missed_is_uploaded_later_and_once(
    done: Backtest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines import backtest

    home, server = Home(tmp_path_factory.mktemp("later")), Server()
    monkeypatch.setattr(backtest, "track", server.track)
    monkeypatch.setattr(backtest_runs, "track", server.track)
    after, page = publish(done, home, silent())
    assert page is not None
    assert "nobody answers" in after.warnings[-1]
    assert [report.logged for report in kept_reports(home)] == [False]
    (error,) = resend(home).values()
    assert isinstance(error, FintsError)
    assert "nobody answers" in str(error)
    server.away = False
    assert resend(home) == {page.parent.name: "run 1"}
    assert resend(home) == {}
    assert [report.logged for report in kept_reports(home)] == [True]
    assert resend(home, page.parent.name, elsewhere(["tracking.uri=http://elsewhere:5000"])) == {
        page.parent.name: "run 2"
    }
    assert [sent.settings.tracking.uri for sent in server.taken] == [None, "http://elsewhere:5000"]
    for sent in server.taken:
        pd.testing.assert_frame_equal(sent.targets[0].result.leaderboard(), done.targets[0].result.leaderboard())
    with pytest.raises(UnknownNameError, match="unknown backtest"):
        resend(home, "yesterday")


def test_a_backtest_sent_to_a_server_by_its_own_settings_can_be_sent_to_the_home_instead(
    done: Backtest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, server = Home(tmp_path_factory.mktemp("own")), Server()
    server.away = False
    monkeypatch.setattr(backtest_runs, "track", server.track)
    own = {"tracking": done.settings.tracking.model_copy(update={"uri": "http://own:5000"})}
    keep(replace(done, settings=done.settings.model_copy(update=own)), home)
    assert len(resend(home)) == 1
    (name,) = (report.name for report in kept_reports(home))
    resend(home, name, elsewhere(["tracking.uri=null"]))
    assert [sent.settings.tracking.uri for sent in server.taken] == ["http://own:5000", None]


@pytest.mark.parametrize("override", ["h=5", "tracking.enabled=false", "tracking.url=http://localhost:1"])
def test_what_was_decided_when_a_backtest_was_run_cannot_be_set_when_it_is_uploaded(override: str) -> None:
    key = override.partition("=")[0]
    with pytest.raises(ConfigError, match=rf"unknown key '{key}'.*\(known here: "):
        elsewhere(["tracking.uri=http://elsewhere:5000", override])


def test_the_server_may_come_from_settings_which_a_single_one_overrules(tmp_path: Path) -> None:
    config = tmp_path / "backtest.yaml"
    config.write_text("h: 5\ntracking: {uri: 'http://theirs:5000'}\n", "utf-8")
    assert elsewhere([], config).uri == "http://theirs:5000"
    assert elsewhere(["tracking.uri=null"], config).uri is None


def test_an_upload_that_cannot_be_written_down_is_not_blamed_on_the_server(
    done: Backtest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    home, server = Home(tmp_path_factory.mktemp("full")), Server()
    server.away = False
    keep(done, home)
    monkeypatch.setattr(backtest_runs, "track", server.track)
    monkeypatch.setattr(kept_module, "note_run", full)
    (error,) = resend(home).values()
    assert str(error).startswith("it was uploaded as run run 1, but that could not be written down")


def test_one_that_was_logged_at_once_is_not_sent_again(
    done: Backtest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines import backtest

    home, server = Home(tmp_path_factory.mktemp("once")), Server()
    server.away = False
    monkeypatch.setattr(backtest, "track", server.track)
    after, page = publish(done, home, silent())
    assert after.run_id == "run 1"
    assert resend(home) == {}
    assert page is not None
    assert load(page.parent).run_id == "run 1"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "result.json").write_text("{", "utf-8"),
        lambda folder: (folder / "result.json").write_text('{"format": 99}', "utf-8"),
        lambda folder: (folder / "log_volume" / "frame.parquet").write_bytes(b"PAR1"),
        lambda folder: (folder / "log_volume" / "frame.parquet").unlink(),
        lambda folder: (folder / "result.json").write_text(
            json.dumps({**json.loads((folder / "result.json").read_text("utf-8")), "settings": {"h": -1}}), "utf-8"
        ),
    ],
    ids=["no JSON", "another format", "a broken table", "a lost table", "settings that are none"],
)
def test_a_damaged_one_is_named_and_the_list_goes_on(
    done: Backtest, tmp_path_factory: pytest.TempPathFactory, damage: object
) -> None:
    home = Home(tmp_path_factory.mktemp("damaged"))
    folder = keep(done, home).parent
    damage(folder)
    with pytest.raises(StoreError, match="run it again"):
        load(folder)
    assert [report.name for report in kept_reports(home)] == [folder.name]


def test_a_home_that_cannot_be_written_does_not_lose_the_backtest(
    done: Backtest, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("no space left")

    monkeypatch.setattr(publication, "keep", full)
    monkeypatch.setattr(publication, "logged", lambda done, *_: done)
    after, page = publish(done, home, silent())
    assert page is None
    assert after.warnings[-1] == "no space left"
