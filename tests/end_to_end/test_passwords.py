"""A tracking server that is away, with a password in its address: nothing that is said or written holds it."""

import logging

import pytest

from tests.end_to_end.test_backtest import PLAIN
from tests.end_to_end.test_nightly import ONE

pytestmark = pytest.mark.filterwarnings("ignore")  # of mlflow and its libraries about themselves

SECRET = "hunter2S3CRET"
TRACKED = ("--set=tracking.enabled=true", f"--set=tracking.uri=http://me:{SECRET}@127.0.0.1:9")


def holders(root):
    """Files under a folder that hold the password, in whatever form text is stored there."""
    return [path for path in root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.fixture(autouse=True)
def _everything_is_logged(caplog):
    caplog.set_level(logging.DEBUG, logger="pipelines")
    caplog.set_level(logging.DEBUG, logger="fints")


def test_a_night_says_that_its_server_is_away_and_repeats_no_password(fints, tmp_path, caplog):
    code, out, err, result = fints("nightly", *ONE, *TRACKED)
    assert code == 0, err
    said = " ".join(result["warnings"])
    assert "the run could not be logged to MLflow: API request to http://…@127.0.0.1:9" in said
    shown = " ".join(out.split())
    assert "could not be logged to MLflow" in shown
    assert "the model registry could not be brought up to date for log_volume" in shown
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) > 10
    assert holders(tmp_path) == []
    assert SECRET not in out + err + caplog.text


def test_a_backtest_keeps_and_shows_no_password_and_is_told_it_again_to_be_uploaded(fints, tmp_path, home, caplog):
    code, out, err, result = fints("backtest", *PLAIN, *TRACKED, brief=False)
    assert code == 0, err
    assert "http://…@127.0.0.1:9" in " ".join(result["warnings"])
    assert [path for path in home.rglob("*.html") if "http://127.0.0.1:9" in path.read_text()]
    texts = [out, err]
    for more in ((), ("--set=" + TRACKED[1].removeprefix("--set="),)):
        code, out, err, _ = fints("report", "--resend", *more, brief=False)
        assert code == 1
        assert "MLflow did not take it" in out
        texts += [out, err]
    assert holders(tmp_path) == []
    assert SECRET not in "".join(texts) + caplog.text


@pytest.mark.parametrize("command", ["ui", "relocate", "doctor"])
def test_what_cannot_reach_a_server_names_it_without_its_password(fints, tmp_path, caplog, command):
    code, out, err, _ = fints(command, TRACKED[1], brief=False)
    assert code in {1, 2}
    assert "127.0.0.1:9" in out + err
    assert "Traceback" not in err
    assert SECRET not in out + err + caplog.text
    assert holders(tmp_path) == []
