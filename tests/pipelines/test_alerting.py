import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

from fints.errors import ConfigError
from fints.settings import load_settings
from fints.verification import Alert, Verification
from pipelines.alerting import Message, tell, tell_failure
from pipelines.home import Home
from tests.pipelines.mailbox import Mailbox

SECRET = "T0P-s3cr3t-t0ken"
ERROR = Alert("error", "log_volume, 1 ahead", "log_volume: the error is 40 % above what was promised.", 2)
WORSE = Alert("error", "log_volume, 1 ahead", "log_volume: the error is 90 % above what was promised.", 4)


class Hook(ThreadingHTTPServer):
    """A webhook on this machine that remembers what was posted."""

    def __init__(self, status=200):
        self.status, self.posted = status, []
        super().__init__(("127.0.0.1", 0), Answer)
        self.worker = threading.Thread(target=self.serve_forever, daemon=True)
        self.worker.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/services/{SECRET}"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook(monkeypatch):
    server = Hook()
    monkeypatch.setenv("FINTS_ALERT_WEBHOOK", server.url)
    yield server
    server.shutdown()
    server.worker.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    monkeypatch.delenv("FINTS_ALERT_WEBHOOK", raising=False)
    monkeypatch.delenv("FINTS_ALERT_PASSWORD", raising=False)


def night(day, *alerts):
    return Verification(pd.Timestamp(f"2018-12-{day:02d}"), alerts=alerts)


def settings_of(*lines):
    return load_settings(None, ["dataset=made", *lines])


def told(hook):
    return [[alert["sentence"] for alert in body["alerts"]] or body["resolved"] for _, _, body in hook.posted]


def test_an_alert_is_posted_once_then_when_it_is_worse_then_when_it_is_resolved(tmp_path, hook):
    home, settings = Home(tmp_path), settings_of("alerts.remind=0")
    for day, alerts in ((3, [ERROR]), (4, [ERROR]), (6, [WORSE]), (7, [ERROR]), (10, []), (11, [])):
        _, warnings = tell(night(day, *alerts), home, settings)
        assert warnings == ()
    assert told(hook) == [[ERROR.sentence], [WORSE.sentence], [ERROR.key]]
    path, kind, body = hook.posted[0]
    assert (path, kind) == (f"/services/{SECRET}", "application/json")
    assert (body["dataset"], body["as_of"], body["standing"]) == ("made", "2018-12-03T0000", 1)
    assert ERROR.sentence in body["text"]


def test_an_alert_that_stands_is_told_again_after_some_nights(tmp_path, hook):
    for day in range(3, 13):
        tell(night(day, ERROR), Home(tmp_path), settings_of("alerts.remind=4"))
    assert len(hook.posted) == 3  # on the 3rd, the 7th and the 11th


def test_a_night_that_is_repeated_tells_nothing_twice(tmp_path, hook):
    for _ in range(8):
        tell(night(3, ERROR), Home(tmp_path), settings_of("alerts.remind=2"))
    assert len(hook.posted) == 1


def test_what_could_not_be_told_is_told_on_the_next_night(tmp_path, hook):
    hook.status = 500
    _, warnings = tell(night(3, ERROR), Home(tmp_path), settings_of())
    assert warnings == ("alerts were not posted: 127.0.0.1 answered with status 500",)
    hook.status = 200
    _, warnings = tell(night(4, ERROR), Home(tmp_path), settings_of())
    assert warnings == ()
    tell(night(6, ERROR), Home(tmp_path), settings_of())
    assert len(hook.posted) == 2


def test_what_could_not_be_said_to_be_resolved_is_said_on_the_next_night(tmp_path, hook):
    tell(night(3, ERROR), Home(tmp_path), settings_of())
    hook.status = 503
    tell(night(4), Home(tmp_path), settings_of())
    hook.status = 200
    tell(night(6), Home(tmp_path), settings_of())
    tell(night(7), Home(tmp_path), settings_of())
    assert told(hook)[1:] == [[ERROR.key], [ERROR.key]]


def test_no_redirect_is_followed(tmp_path, hook):
    hook.status = 302
    _, warnings = tell(night(3, ERROR), Home(tmp_path), settings_of())
    assert "status 302" in warnings[0]
    assert [path for path, _, _ in hook.posted] == [f"/services/{SECRET}"]


def test_a_webhook_that_is_not_there_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_ALERT_WEBHOOK", f"http://127.0.0.1:9/{SECRET}")
    _, (warning,) = tell(night(3, ERROR), Home(tmp_path), settings_of("alerts.webhook.timeout=2"))
    assert "127.0.0.1 cannot be reached" in warning
    assert SECRET not in warning


@pytest.mark.parametrize("address", [f"ftp://{SECRET}", SECRET, f"http:///{SECRET}", f"http://[{SECRET}"])
def test_an_address_in_the_environment_that_is_none_is_a_warning_without_it(tmp_path, monkeypatch, address):
    monkeypatch.setenv("FINTS_ALERT_WEBHOOK", address)
    _, (warning,) = tell(night(3, ERROR), Home(tmp_path), settings_of())
    assert "FINTS_ALERT_WEBHOOK" in warning
    assert SECRET not in warning


def test_a_damaged_memory_tells_once_more(tmp_path, hook):
    tell(night(3, ERROR), Home(tmp_path), settings_of())
    file = tmp_path / "verification" / "made" / "1d" / "alerts.json"
    file.write_text(file.read_text()[:20])
    tell(night(4, ERROR), Home(tmp_path), settings_of())
    assert len(hook.posted) == 2


def test_where_nobody_is_to_be_told_alerts_are_remembered_all_the_same(tmp_path):
    assert tell(night(3, ERROR), Home(tmp_path), settings_of()) == ((), ())
    assert tell(night(4), Home(tmp_path), settings_of()) == ((ERROR.key,), ())


MAIL = "{{host: 127.0.0.1, port: {port}, sender: fints@example.com, to: desk@example.com, {more}}}"


def test_an_alert_is_mailed(tmp_path):
    with Mailbox() as box:
        settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more='starttls: false')}")
        assert tell(night(3, ERROR), Home(tmp_path), settings) == ((), ())
    (letter,) = box.letters
    assert letter["To"] == "desk@example.com"
    assert letter["Subject"] == "fints made 1d, night of 2018-12-03T0000: 1 alert"
    assert ERROR.sentence in letter.get_content().replace("\n", " ")


def test_what_is_told_counts_in_words_that_fit():
    other = Alert("absent", "A", "A has had no forecast for 3 nights.")
    one = Message("made", "1d", "2018-12-03T0000", (ERROR,), 1, ())
    two = Message("made", "1d", "2018-12-03T0000", (ERROR, other), 2, ("x", "y"))
    none = Message("made", "1d", "2018-12-03T0000", (), 0, ("x",))
    assert [message.subject.partition(": ")[2] for message in (one, two, none)] == [
        "1 alert",
        "2 alerts, 2 resolved",
        "1 resolved",
    ]
    assert [message.text.splitlines()[-1] for message in (one, two, none)] == [
        "1 alert stands in all; see the night's report.",
        "2 alerts stand in all; see the night's report.",
        "no alert stands any more; see the night's report.",
    ]


def test_each_way_of_telling_is_tried_until_it_took_the_alert_and_no_longer(tmp_path, hook):
    """A mail that was taken says nothing of a webhook that was down, and the other way round."""
    with Mailbox() as box:
        settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more='starttls: false')}", "alerts.remind=0")
        hook.status = 500
        _, warnings = tell(night(3, ERROR), Home(tmp_path), settings)
        assert warnings == ("alerts were not posted: 127.0.0.1 answered with status 500",)
        _, warnings = tell(night(4, ERROR), Home(tmp_path), settings)
        assert (len(hook.posted), len(box.letters), len(warnings)) == (2, 1, 1)
        hook.status = 200
        assert tell(night(5, ERROR), Home(tmp_path), settings) == ((), ())
        tell(night(6, ERROR), Home(tmp_path), settings)
        assert (len(hook.posted), len(box.letters)) == (3, 1)
        box.rude = "refuses"
        assert len(tell(night(7), Home(tmp_path), settings)[1]) == 1  # resolved, and the mail is refused
        box.rude = ""
        assert tell(night(10), Home(tmp_path), settings)[1] == ()
        tell(night(11), Home(tmp_path), settings)
    assert told(hook)[-1] == [ERROR.key]
    assert len(hook.posted) == 4
    assert [letter["Subject"].partition(": ")[2] for letter in box.letters] == ["1 alert", "1 resolved"]


def test_who_was_never_told_of_an_alert_is_not_told_that_it_is_resolved(tmp_path, hook):
    with Mailbox() as box:
        settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more='starttls: false')}")
        hook.status = 500
        tell(night(3, ERROR), Home(tmp_path), settings)
        hook.status = 200
        assert tell(night(4), Home(tmp_path), settings) == ((ERROR.key,), ())
    assert len(hook.posted) == 1
    assert len(box.letters) == 2


def test_who_is_named_later_is_told_of_what_stands_then(tmp_path, monkeypatch):
    assert tell(night(3, ERROR), Home(tmp_path), settings_of()) == ((), ())
    with Mailbox() as box:
        settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more='starttls: false')}")
        tell(night(4, ERROR), Home(tmp_path), settings)
        tell(night(5, ERROR), Home(tmp_path), settings)
    assert len(box.letters) == 1


def test_that_an_alert_is_resolved_is_reported_once_though_nobody_could_be_told(tmp_path, hook):
    tell(night(3, ERROR), Home(tmp_path), settings_of())
    hook.status = 500
    assert [tell(night(day), Home(tmp_path), settings_of())[0] for day in (4, 5)] == [(ERROR.key,), ()]


def test_what_is_remembered_says_since_when_an_alert_stands_and_who_knows(tmp_path, hook):
    for day in (3, 4):
        tell(night(day, ERROR), Home(tmp_path), settings_of())
    kept = json.loads((tmp_path / "verification" / "made" / "1d" / "alerts.json").read_text())
    assert kept == {
        "since": {ERROR.key: "2018-12-03T0000"},
        "told": {"webhook": {ERROR.key: {"grade": 2, "nights": ["2018-12-03T0000", "2018-12-04T0000"]}}},
    }


@pytest.mark.parametrize("text", ["[]", "{}", '{"since": {}, "told": []}', '{"since": 3, "told": {"email": {"a": 1}}}'])
def test_a_memory_of_another_form_is_as_good_as_none(tmp_path, hook, text):
    file = tmp_path / "verification" / "made" / "1d" / "alerts.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert tell(night(3, ERROR), Home(tmp_path), settings_of()) == ((), ())
    assert len(hook.posted) == 1


def test_a_symbol_cannot_write_headers_of_its_own(tmp_path):
    sly = Alert("absent", "A\r\nBcc: all@example.com", "A\r\nBcc: all@example.com: no forecast.")
    with Mailbox() as box:
        settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more='starttls: false')}")
        tell(night(3, sly), Home(tmp_path), settings)
    (letter,) = box.letters
    assert letter["Bcc"] is None
    assert box.recipients == [["desk@example.com"]]


def test_a_password_never_goes_over_a_plain_connection(tmp_path, monkeypatch):
    monkeypatch.setenv("FINTS_ALERT_PASSWORD", SECRET)
    for more in ("starttls: false, user: fints", "starttls: true, user: fints"):
        with Mailbox() as box:  # that does not offer STARTTLS
            settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more=more)}")
            _, (warning,) = tell(night(3, ERROR), Home(tmp_path), settings)
        assert box.letters == []
        assert SECRET not in box.heard
        assert SECRET not in warning


def test_without_its_password_nothing_is_mailed(tmp_path):
    settings = settings_of(f"alerts.email={MAIL.format(port=9, more='user: fints')}")
    _, (warning,) = tell(night(3, ERROR), Home(tmp_path), settings)
    assert "FINTS_ALERT_PASSWORD" in warning


@pytest.mark.parametrize("rude", ["refuses", "hangs up"])
def test_a_mail_server_that_refuses_is_a_warning(tmp_path, rude):
    with Mailbox(rude) as box:
        settings = settings_of(f"alerts.email={MAIL.format(port=box.port, more='starttls: false')}")
        _, (warning,) = tell(night(3, ERROR), Home(tmp_path), settings)
    assert "127.0.0.1" in warning
    assert box.letters == []


def test_the_secret_stands_nowhere_in_what_is_written_logged_or_raised(tmp_path, monkeypatch, caplog, capsys):
    """From the environment and from the settings, delivered and not."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("FINTS_ALERT_PASSWORD", SECRET)
    lines = [f"alerts.webhook.url=http://127.0.0.1:9/{SECRET}", "alerts.webhook.timeout=2"]
    settings = settings_of(*lines, f"alerts.email={MAIL.format(port=9, more='user: fints, timeout: 2')}")
    found = tell(night(3, ERROR), Home(tmp_path), settings)
    assert len(found[1]) == 2
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    printed = capsys.readouterr()
    shown = [repr(settings), str(settings), settings.model_dump_json(), json.dumps(settings.model_dump(mode="json"))]
    everything = [*texts, *shown, repr(found), caplog.text, printed.out, printed.err]
    assert len(texts) == 1
    assert not [text for text in everything if SECRET in text]


def test_a_wrong_address_in_the_settings_is_refused_without_repeating_it():
    for line in (f"alerts.webhook.url={SECRET}", f"alerts.webhook={{url: [{SECRET}]}}", f"alerts.webhook={SECRET}"):
        with pytest.raises(ConfigError) as refused:
            settings_of(line)
        assert SECRET not in str(refused.value)


def test_the_commented_settings_are_the_defaults():
    stated = load_settings(Path(__file__).parents[2] / "configs" / "nightly.yaml").alerts
    assert stated == load_settings().alerts


def test_who_is_told_does_not_change_what_a_fitted_model_is():
    assert settings_of().digest == settings_of("alerts.nights=30", "alerts.webhook.url=https://example.com/x").digest


def test_a_night_that_failed_is_told_with_its_cause_each_time(hook):
    settings = load_settings(None, ["dataset=made"])
    now = pd.Timestamp("2026-11-30 22:00", tz="UTC")
    for _ in range(2):
        assert tell_failure("the book is damaged", settings, now) == ()
    assert len(hook.posted) == 2
    _, _, said = hook.posted[0]
    assert said["alerts"][0]["sentence"] == "The night failed: the book is damaged"
    assert "the book is damaged" in said["text"]


def test_a_failure_of_which_nobody_can_be_told_is_a_warning(hook):
    hook.status = 500
    (warning,) = tell_failure("the book is damaged", load_settings(None, []), pd.Timestamp("2026-11-30", tz="UTC"))
    assert "500" in warning
    assert SECRET not in warning
