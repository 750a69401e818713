"""A search as a user sees it: exit codes, files, and what becomes of one that is asked for again."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pandas as pd
import pytest

from fints.settings import load_settings
from fints.transformer import CycleTransformer
from pipelines.home import Home
from pipelines.kept import kept_reports
from tests.conftest import HASTY_SEARCH, TINY_SEARCH
from tests.end_to_end.conftest import BRIEF

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

PLAIN = [*(f"--set={setting}" for setting in TINY_SEARCH), "--set=tracking.enabled=false"]
HASTY = [*(f"--set={setting}" for setting in HASTY_SEARCH), "--set=tracking.enabled=false"]


@pytest.fixture
def copied(tiny_tuning, tmp_path, monkeypatch):
    """The home of the search, copied: it may be changed."""
    home = tmp_path / "copy"
    shutil.copytree(tiny_tuning.home, home)
    monkeypatch.setenv("FINTS_HOME", str(home))
    return home


@pytest.fixture(scope="module")
def folder(tiny_tuning):
    """What is kept of the search."""
    (page,) = (tiny_tuning.home / "reports" / "tuning").glob("*/index.html")
    return page.parent


def drawn(trials):
    """Return the point of every trial: its parameters, and whether its periods stay where they start."""
    names = [name for name in trials[0] if name.startswith("delta[")]
    return [(trial["origin"] == "as it stands", *(trial[name] for name in names)) for trial in trials]


def test_a_search_ends_in_a_verdict_and_says_what_it_rests_on(tiny_tuning):
    found = tiny_tuning.found
    trials = pd.DataFrame(found["trials"])
    assert set(trials["state"]) <= {"complete", "pruned"}
    assert (trials["state"] != "failed").sum() >= 5
    assert trials["origin"].iloc[0] == "as it stands"
    assert trials["value"].nunique() > 1
    assert found["accepted"] == (found["gain"]["low"] is not None and found["gain"]["low"] > 0)
    assert found["gain"]["windows"] == 8
    assert "untuned" in " ".join(row["candidate"] for row in found["confirmation"])
    assert {row["windows"] for row in found["test"]["rows"]} == {15}
    assert ("kept" in found["verdict"]) != found["accepted"]


def test_the_page_needs_nothing_else_and_begins_with_the_verdict(folder, tiny_tuning):
    page = (folder / "index.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    body = re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))
    assert body.index(tiny_tuning.found["verdict"].split(":")[0][:40]) < body.index("Confirmation and test")
    assert page.count("<svg") >= 5  # history, importance, and for both cycles a valley and a course
    assert (folder / "report.md").read_text("utf-8").startswith("**")
    assert CycleTransformer.load(folder / "model").h == 3
    assert len(pd.read_csv(folder / "trials.csv")) == len(tiny_tuning.found["trials"])


def test_a_night_takes_the_settings_that_it_ended_in(fints, folder, tiny_tuning):
    best, found = folder / "best.yaml", tiny_tuning.found
    assert found["settings"] == str(best)
    settings = load_settings(best)
    assert (settings.h, settings.input_size, settings.targets) == (3, 40, ("log_volume",))
    assert (settings.periods.cycles is not None) == found["accepted"]
    assert best.read_text("utf-8").startswith(f"# {found['verdict'].splitlines()[0]}")
    brief = [f"--set={setting}" for setting in BRIEF if setting.startswith(("holdout", "combination"))]
    plain = "--set=tracking.enabled=false"
    code, _, err, result = fints("nightly", "--config", str(best), plain, *brief, brief=False)
    assert code == 0, err
    assert len(result["forecasts"]) == 3


def test_it_is_listed_among_the_reports(tiny_tuning):
    (kept,) = kept_reports(Home(tiny_tuning.home))
    assert (kept.kind, kept.logged) == ("tuning", True)
    assert kept.verdict[0] == tiny_tuning.found["verdict"]
    assert kept.text().startswith("**")


def test_asked_for_again_it_goes_on_and_draws_no_point_twice(fints, copied, tiny_tuning):
    before = tiny_tuning.found
    code, _, err, more = fints("tune", *PLAIN, "--trials", "7", brief=False)
    assert code == 0, err
    points = drawn(more["trials"])
    assert len(points) == 7
    assert more["study"] == before["study"]
    assert points[:5] == drawn(before["trials"])
    assert [t["seconds"] for t in more["trials"][:5]] == [t["seconds"] for t in before["trials"]]
    assert len(set(points)) == len(points)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("--set=space.guard=0.2", "space"),
        ("--set=training.max_steps=5", "max_steps"),
        ("--set=input_size=41", "input_size"),
        ("--as-of=2018-06-29", "data"),
    ],
)
def test_a_name_that_belongs_to_something_else_is_refused_with_the_difference(fints, copied, tiny_tuning, change, said):
    name = tiny_tuning.found["study"]
    code, _, err, _ = fints("tune", *PLAIN, "--name", name, change, brief=False)
    assert code == 2
    assert name in err
    assert said in err
    assert "there" in err
    assert "here" in err


def test_the_best_points_of_another_search_are_tried_first(fints, copied, tiny_tuning):
    before = tiny_tuning.found
    again = ["--name", "next", "--warm-start", before["study"], "--trials", "3"]
    code, _, err, found = fints("tune", *HASTY, *again, brief=False)
    assert code == 0, err
    origins = [trial["origin"] for trial in found["trials"]]
    assert origins[0] == "as it stands"
    assert "warm start 1" in origins
    lowest = min(before["trials"], key=lambda trial: trial["value"])
    warm = found["trials"][origins.index("warm start 1")]
    assert warm["start[20 sessions]"] == pytest.approx(lowest["end[20 sessions]"])


def test_a_storage_that_cannot_be_reached_is_named_before_anything_is_done(fints, home):
    began = time.monotonic()
    address = "postgresql://me:s3cret@127.0.0.1:1/trials"
    code, out, err, _ = fints("tune", *HASTY, "--storage", address, "--name", "far", brief=False)
    assert code == 1
    assert "127.0.0.1" in err
    assert "s3cret" not in out + err
    assert not (home / "store").exists()
    assert time.monotonic() - began < 30


def test_a_damaged_journal_is_moved_aside_and_said(fints, copied, tiny_tuning):
    (journal,) = (copied / "tuning").glob("*.journal")
    damaged = b'{"op_code": 0, "worker_id": "x"\n' + journal.read_bytes()
    journal.write_bytes(damaged)
    code, out, err, found = fints("tune", *HASTY, "--name", journal.stem, brief=False)
    assert code == 0, err
    (aside,) = (copied / "tuning").glob("*.journal.corrupt-*")
    assert aside.read_bytes() == damaged
    assert any(str(aside) in warning for warning in found["warnings"])
    assert aside.name in out.replace("\n", "") + err.replace("\n", "")
    assert len(found["trials"]) == 2


def test_where_every_trial_fails_the_cause_is_said(fints, home):
    code, _, err, _ = fints("tune", *HASTY, "--set=training.learning_rate=1e30", brief=False)
    assert code == 1
    assert "TrainingError" in err
    assert not (home / "reports" / "tuning").exists()


def test_the_dashboard_shows_the_journal(tiny_tuning, tmp_path):
    (journal,) = (tiny_tuning.home / "tuning").glob("*.journal")
    shutil.copy(journal, tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serve = "import sys; from optuna_dashboard._cli import main; sys.argv = ['optuna-dashboard', *sys.argv[1:]]; main()"
    options = ["--port", str(port), "--host", "127.0.0.1", str(tmp_path / journal.name)]
    server = subprocess.Popen(
        [sys.executable, "-c", serve, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        answer = _answer(f"http://127.0.0.1:{port}/api/studies", server)
        assert [study["study_name"] for study in json.loads(answer)["study_summaries"]] == [tiny_tuning.found["study"]]
        assert b"<html" in _answer(f"http://127.0.0.1:{port}/dashboard", server).lower()
    finally:
        server.terminate()
        server.wait(30)


def _answer(address, server):
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return reply.read()
        except OSError:
            assert server.poll() is None, server.stderr.read().decode()
            assert time.monotonic() < until
            time.sleep(0.2)
