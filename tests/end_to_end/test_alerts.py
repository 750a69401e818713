"""A night that finds earlier promises broken: exit code, log, page, terminal and webhook."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pandas as pd
import pytest

from fints import sample_bars
from fints.bars.store import BarStore
from fints.series import make_panel
from fints.sessions import get_calendar
from fints.settings import load_settings
from fints.verification import Promise
from pipelines.home import Home
from pipelines.verification_book import PromiseBook
from tests.verification.conftest import STEPS, forecasts_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("short_sample")]

ONE = ["--set=tracking.enabled=false", "--set=periods.detect=false", "--set=targets=[log_volume]"]
OFF = 0.7
"""By which earlier forecasts are too low."""


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook(monkeypatch):
    server = HTTPServer(("127.0.0.1", 0), Answer)
    server.posted = []
    worker = threading.Thread(target=server.serve_forever, daemon=True)
    worker.start()
    monkeypatch.setenv("FINTS_ALERT_WEBHOOK", f"http://127.0.0.1:{server.server_port}/s3cr3t-path")
    yield server
    server.shutdown()
    worker.join()
    server.server_close()


def low_forecasts(home):
    """Put forecasts of a quarter of nights into the home that were made on time, and are too low."""
    panel = make_panel(sample_bars(), "log_volume", features=False, companions=False)
    own = panel[panel["unique_id"] == "^GSPC"]
    book, rows = PromiseBook.under(Home(home), load_settings(None, [])), []
    for night in get_calendar("XNYS").sessions("2018-08-15", "2018-11-15"):
        known = own[own["ds"] <= night]
        made = forecasts_of(["^GSPC"], night, float(known["y"].tail(20).mean()) - OFF)
        rows.append(made.assign(dataset="sample"))
        promise = Promise.of("log_volume", rows[-1]["created_at"].iloc[0], ("Combination", "v"), STATED)
        book.keep(night, [promise.anchored(known)])
    BarStore(home / "store").write_forecasts(pd.concat(rows, ignore_index=True))


STATED = STEPS.assign(model="Combination")


def test_a_night_that_finds_promises_broken_says_so_everywhere_and_ends_with_4(fints, home, hook):
    low_forecasts(home)
    code, out, err, result = fints("nightly", *ONE)
    assert code == 4
    assert {alert["rule"] for alert in result["verification"]["alerts"]} >= {"coverage", "error", "bias"}
    assert "ALERT coverage" in out
    assert "above the forecasts on average" in out.replace("\n", " ")
    (message,) = hook.posted
    assert message["as_of"] == "2018-12-31T0000"
    assert len(message["alerts"]) == len(result["verification"]["alerts"])
    page = (home / "reports" / "nightly" / "sample-1d-2018-12-31.html").read_text("utf-8")
    assert "What became of earlier forecasts" in page
    assert "Alert, coverage." in page
    code, *_ = fints("nightly", "--again", *ONE)
    assert code == 4
    assert len(hook.posted) == 1  # told once
    secrets = [path for path in home.rglob("*") if path.is_file() and b"s3cr3t-path" in path.read_bytes()]
    assert secrets == []
    assert "s3cr3t-path" not in out + err
