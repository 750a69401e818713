import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.bars.nights import NightEntry, NightTable
from fints.bars.store import BarStore
from fints.errors import StoreError
from fints.series import make_panel
from fints.sessions import get_calendar
from fints.settings import load_settings
from fints.verification import Alert, Promise
from pipelines.gathered import Reading
from pipelines.home import Home
from pipelines.verification import verify
from pipelines.verification_book import PromiseBook
from tests.verification.conftest import STEPS, bars_of, count, forecasts_of

NAMES = ("AAA", "BBB")
NIGHTS = get_calendar("XNYS").sessions("2018-08-15", "2018-11-15")
LEVEL = float(np.log(1_000_000))
NOW = pd.Timestamp("2018-12-31T22:00Z")


@pytest.fixture(autouse=True)
def _no_channels(monkeypatch):
    monkeypatch.delenv("FINTS_ALERT_WEBHOOK", raising=False)


def settings_of(**alerts):
    lines = [f"alerts.{key}={value}" for key, value in alerts.items()]
    return load_settings(None, ["dataset=made", "targets=[log_volume]", *lines])


def volumes(scale=0.1, shift=0.0, seed=0):
    """Noise around a level, higher by a shift since the first night."""
    rng = np.random.default_rng(seed)
    late = np.arange(count()) > 12
    return np.exp(rng.normal(LEVEL, scale, count()) + shift * late)


class Desk:
    """A home with bars, and nights whose forecasts and promises are stored."""

    def __init__(self, root, bars, **alerts):
        self.home, self.settings = Home(root), settings_of(**alerts)
        self.store = BarStore(self.home.store)
        self.store.commit(bars)
        self.bars = bars

    def night(self, as_of, names=NAMES, made_at=None):
        self.nights([pd.Timestamp(as_of)], names, made_at)

    def nights(self, nights=NIGHTS, names=NAMES, made_at=None):
        rows = [forecasts_of(names, as_of, LEVEL, made_at=made_at) for as_of in nights]
        self.store.write_forecasts(pd.concat(rows, ignore_index=True))
        panel = make_panel(self.bars, "log_volume", features=False, companions=False)
        book = PromiseBook.under(self.home, self.settings)
        NightTable.under(self.home.store).enter(entry_of(as_of, own) for as_of, own in zip(nights, rows, strict=True))
        for as_of, own in zip(nights, rows, strict=True):
            promise = Promise.of("log_volume", own["created_at"].iloc[0], ("Combination", "v"), STATED)
            book.keep(as_of, [promise.anchored(panel[panel["ds"] <= as_of])])

    def verify(self, asked=None, live=True, now=NOW, others=()):
        reading = Reading(
            folder=self.home.store,
            symbols=NAMES,
            aliases={},
            interval="1d",
            version=self.store.version(),
            settle=pd.Timedelta(minutes=15),
            live=live,
            asked=asked,
            now=now,
            actions_version=self.store.version("actions"),
        )
        return verify(self.settings, self.store, reading, now, others)


def entry_of(as_of, rows, **changes):
    """Enter that a night of these forecasts was done."""
    made_at, moment = rows["created_at"].iloc[0], as_of.tz_localize("UTC") + pd.Timedelta(hours=22)
    plain = NightEntry(
        dataset="made",
        interval="1d",
        night=moment.isoformat(),
        as_of=moment,
        known_at=moment.isoformat(),
        asked="",
        made_at=made_at,
        state="done",
        data_version=1,
        actions_version=1,
        config="c",
        calendar="c",
        symbols=NAMES,
        fints="0",
        began_at=made_at,
        stamp=as_of,
    )
    return replace(plain, **changes)


NOISE = 0.1 * np.sqrt(2 / np.pi)
STATED = STEPS.assign(model="Combination", MAE=NOISE, RMSE=0.1, cov80=0.8, cov95=0.95)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A quarter of nights whose forecasts are what they promise; the newest six sessions had none."""
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path_factory.mktemp("home"), bars, **{"missed.enabled": False})
    desk.nights()
    desk.night("2018-12-31", made_at=NOW)
    return desk


def test_sound_forecasts_are_said_to_be_as_promised_and_raise_no_alert(sound):
    found = sound.verify()
    assert found.alerts == ()
    assert found.warnings == ()
    (target,) = found.targets
    assert target.live
    table = target.table.set_index(["nights", "steps"])
    whole = target.table[(target.table["nights"] == 60) & (target.table["steps"] == "all")].iloc[0]
    assert whole["MAE_low"] < NOISE < whole["MAE_high"]
    assert whole["cov80_low"] < 0.8 < whole["cov80_high"]
    assert whole["cov80_promised"] == pytest.approx(0.8)
    assert set(table.index.get_level_values("steps")) == {"1", "2-5", "6-10", "11-20", "all"}
    assert len(target.sentences) <= 3
    assert "not distinguishable" in target.sentences[1]


def test_what_the_night_says_is_json(sound):
    plain = json.loads(json.dumps(sound.verify().to_json(), allow_nan=False))
    assert plain["targets"]["log_volume"]["figures"][0]["n"] > 0
    assert plain["targets"]["log_volume"]["counts"]["scored"] == len(NIGHTS) * 2 * 20 - void_sessions() * 2


def void_sessions():
    """Of how many nights the forecasts named 2018-12-05."""
    calendar = get_calendar("XNYS")
    return sum(pd.Timestamp("2018-12-05") in calendar.as_known(n).next_sessions(n, 20) for n in NIGHTS)


def test_forecasts_of_the_cancelled_session_are_counted_as_void(sound):
    assert sound.verify().targets[0].counts["void"] == void_sessions() * 2 > 0


def test_the_same_night_finds_the_same(sound):
    assert json.dumps(sound.verify().to_json()) == json.dumps(sound.verify().to_json())


def test_a_night_of_the_past_looks_back_as_it_would_have_then(sound):
    """As of 2018-10-01 nothing later is scored, nothing is told, and no alert is raised."""
    found = sound.verify(asked=pd.Timestamp("2018-10-01T20:15Z"))
    (target,) = found.targets
    assert found.as_of == pd.Timestamp("2018-10-01")
    assert target.over_time["as_of"].max() < pd.Timestamp("2018-10-01")
    assert target.counts["pending"] > 0
    assert not (sound.home.root / "verification" / "made" / "1d" / "alerts.json").exists()


def test_a_market_that_left_the_forecasts_behind_breaks_their_promises(tmp_path, caplog):
    bars = bars_of({name: volumes(shift=0.3, seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars, **{"missed.enabled": False})
    desk.nights()
    desk.night("2018-12-31", made_at=NOW)
    found = desk.verify()
    assert {alert.rule for alert in found.alerts} == {"coverage", "error", "bias"}
    assert all("above" in alert.subject for alert in found.alerts if alert.rule == "bias")
    assert found.sentences[0].startswith("ALERT")
    assert any(record.levelname == "ERROR" for record in caplog.records)


def test_each_rule_can_be_switched_off(tmp_path):
    bars = bars_of({name: volumes(shift=0.3, seed=seed) for seed, name in enumerate(NAMES)})
    off = {f"{rule}.enabled": False for rule in ("coverage", "error", "bias", "missed")}
    desk = Desk(tmp_path, bars, **off)
    desk.nights(NIGHTS[:40])
    desk.night("2018-12-31", made_at=NOW)
    assert desk.verify().alerts == ()


def test_forecasts_made_when_their_bars_were_over_never_count_as_live(tmp_path):
    bars = bars_of({name: volumes(shift=0.3, seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars)
    desk.nights(NIGHTS[:40], made_at="2018-12-30T00:00Z")
    found = desk.verify()
    (target,) = found.targets
    assert not target.live
    assert target.scored
    assert found.alerts == ()
    assert "run afterwards" in target.sentences[1]
    assert set(target.counts) == {"afterwards"}


def test_a_symbol_without_forecasts_is_missed_after_some_nights(tmp_path):
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars, **{"missed.enabled": False})
    desk.nights(NIGHTS[:10])
    desk.nights(NIGHTS[10:12], names=["AAA"])
    desk.night("2018-12-31", names=["AAA"], made_at=NOW)
    (alert,) = desk.verify().alerts
    assert (alert.rule, alert.subject) == ("absent", "BBB")
    assert "3 nights" in alert.sentence


def test_sessions_without_a_live_night_are_missed(tmp_path):
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars)
    desk.night("2018-12-21")
    desk.night("2018-12-26", made_at="2018-12-31T21:30Z")  # caught up with, so that it is not its own night
    desk.night("2018-12-31", made_at=NOW)
    (alert,) = desk.verify().alerts
    assert alert.rule == "missed"
    assert "4 sessions in a row (2018-12-24 to 2018-12-28)" in alert.sentence
    assert desk.verify(live=False).alerts == ()


def test_one_session_without_a_night_is_counted_as_one(tmp_path):
    desk = Desk(
        tmp_path, bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)}), **{"missed.nights": 1}
    )
    desk.night("2018-12-27")
    desk.night("2018-12-31", made_at=NOW)
    (alert,) = desk.verify().alerts
    assert alert.sentence == "1 session (2018-12-28) had no forecast that was made in time."


def test_a_night_done_in_time_is_not_missed_though_it_was_made_again_later(tmp_path):
    """Friday's and Wednesday's nights ran on their evenings; on Monday late bars had both made again."""
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars, **{"missed.nights": 1})
    for as_of in ("2018-12-21", "2018-12-24", "2018-12-26", "2018-12-27", "2018-12-28"):
        desk.night(as_of)
    for as_of in ("2018-12-26", "2018-12-28"):
        desk.night(as_of, made_at="2018-12-31T21:30Z")
    desk.night("2018-12-31", made_at=NOW)
    found = desk.verify()
    assert found.alerts == ()
    assert not found.warnings


def test_a_night_that_was_begun_or_failed_or_is_of_another_dataset_is_missed(tmp_path):
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars)
    desk.night("2018-12-26")
    rows = forecasts_of(NAMES, "2018-12-27", LEVEL)
    other = [{"state": "begun"}, {"state": "failed"}, {"dataset": "other"}, {"interval": "1h"}]
    for date in ("2018-12-27", "2018-12-28"):
        lines = [entry_of(pd.Timestamp(date), rows, **changes) for changes in other]
        NightTable.under(desk.home.store).enter(lines)
    desk.night("2018-12-31", made_at=NOW)
    (alert,) = desk.verify().alerts
    assert "2 sessions in a row (2018-12-27 to 2018-12-28)" in alert.sentence


def test_forecasts_of_another_dataset_are_not_held_against_the_promises_of_this_one(sound, tmp_path):
    """The same symbols, nights and instants under another name, five ahead and far off."""
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars, **{"missed.enabled": False})
    desk.nights()
    desk.night("2018-12-31", made_at=NOW)
    others = [forecasts_of(NAMES, as_of, LEVEL + 9, h=5).assign(dataset="other") for as_of in NIGHTS[::4]]
    desk.store.write_forecasts(pd.concat(others, ignore_index=True))
    assert json.dumps(desk.verify().to_json()) == json.dumps(sound.verify().to_json())


def test_promises_that_cannot_be_read_are_an_alert_with_file_and_cure(tmp_path, caplog):
    desk = Desk(tmp_path, bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)}))
    desk.nights(NIGHTS[:3])
    files = sorted((tmp_path / "verification" / "made" / "1d" / "promises").glob("*.json"))
    files[0].write_text(files[0].read_text()[:100])
    found = desk.verify(live=False)
    (target,), (alert,) = found.targets, found.alerts
    assert target.counts == {"scored": 2 * 2 * 20, "unreadable": 2 * 20}
    assert alert.rule == "promises"
    assert str(files[0]) in alert.sentence
    assert "Restore the file from a backup, or move it away" in alert.sentence
    assert any(record.levelname == "ERROR" for record in caplog.records)
    files[0].unlink()
    found = desk.verify(live=False)
    assert found.alerts == ()
    assert found.targets[0].counts["unpromised"] == 2 * 20
    assert "no promise of them is on record" in found.targets[0].sentences[0]


def test_where_no_promise_can_be_read_it_is_not_said_that_nothing_has_come_due(tmp_path):
    desk = Desk(tmp_path, bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)}))
    desk.nights(NIGHTS[:5])
    for file in (tmp_path / "verification" / "made" / "1d" / "promises").glob("*.json"):
        file.write_text("[")
    found = desk.verify(live=False)
    (sentence,) = found.targets[0].sentences
    assert "200 left out, for what was promised of them cannot be read" in sentence
    assert "What 5 earlier nights promised cannot be read" in found.alerts[0].sentence
    assert "2 others" in found.alerts[0].sentence


def test_a_night_repeated_with_other_values_later_is_held_to_what_it_said_in_time(tmp_path):
    """Made again in December, half a unit off: the quarter stays live, and as good as it was."""
    desk = Desk(tmp_path, bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)}))
    desk.nights(NIGHTS[:30])
    before = desk.verify(live=False).targets[0]
    for as_of in NIGHTS[:30]:
        rows = desk.store.read_forecasts(as_of=as_of)
        rows = rows.assign(mean=rows["mean"] + 0.5, created_at=pd.Timestamp("2018-12-30T22:00Z"))
        desk.store.write_forecasts(rows)
        own = Promise.of("log_volume", rows["created_at"].iloc[0], ("Combination", "v"), STATED)
        panel = make_panel(desk.bars, "log_volume", features=False, companions=False)
        PromiseBook.under(desk.home, desk.settings).keep(as_of, [own.anchored(panel[panel["ds"] <= as_of])])
    after = desk.verify(live=False).targets[0]
    assert after.live
    assert after.counts == before.counts
    pd.testing.assert_frame_equal(after.table, before.table)


def test_alerts_about_the_night_itself_are_told_with_the_others(sound, monkeypatch):
    told = []
    monkeypatch.setattr("pipelines.verification.tell", lambda found, *_, whole: told.append((found, whole)) or ((), ()))
    mine = Alert("book", "log_volume", "It cannot be read.")
    assert sound.verify(others=(mine,)).alerts == told[0][0].alerts == (mine,)
    assert told[0][1]
    assert sound.verify(asked=pd.Timestamp("2018-10-01T20:15Z"), others=(mine,)).alerts == (mine,)
    assert len(told) == 1  # a night of the past tells nobody, and says it


def test_a_failure_to_look_back_is_a_warning_and_an_alert_that_is_told(sound, monkeypatch):
    """Silence would end all other alerts for good."""
    told = []
    monkeypatch.setattr("pipelines.verification.adjust", lambda *_: 1 / 0)
    monkeypatch.setattr("pipelines.verification.tell", lambda found, *_, whole: told.append((found, whole)) or ((), ()))
    found = sound.verify()
    assert found.targets == ()
    assert "ZeroDivisionError" in found.warnings[0]
    assert [(alert.rule, alert.subject) for alert in found.alerts] == [("failed", "looking back")]
    ((passed, whole),) = told
    assert passed.alerts == found.alerts
    assert not whole


def test_bars_that_cannot_be_read_are_a_warning_alone(sound, monkeypatch):
    def unreadable(*_):
        raise StoreError("the bars cannot be read")

    monkeypatch.setattr("pipelines.verification.adjust", unreadable)
    found = sound.verify()
    assert (found.alerts, found.targets) == ((), ())
    assert "the bars cannot be read" in found.warnings[0]


@pytest.mark.parametrize("error", [StoreError("the bars cannot be read"), OSError(24, "Too many open files")])
def test_what_is_wrong_with_the_night_is_told_though_nothing_can_be_looked_back_on(tmp_path, monkeypatch, error):
    """And what was not looked at is neither resolved nor told again when it is."""

    def unreadable(*_):
        raise error

    posted = []
    monkeypatch.setattr("pipelines.alerting.post", lambda message, _: posted.append(message) or "")
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars)
    desk.night("2018-12-21")
    desk.night("2018-12-31", made_at=NOW)
    (missed,) = desk.verify().alerts
    mine = Alert("book", "log_volume", "It cannot be read.")
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.verification.adjust", unreadable)
        found = desk.verify(others=(mine,))
    assert found.alerts == (mine,)
    assert found.resolved == ()
    assert str(error) in found.warnings[0]
    assert [message.alerts for message in posted] == [(missed,), (mine,)]
    assert posted[1].standing == 2
    after = desk.verify()
    assert after.resolved == (mine.key,)
    assert [(message.alerts, message.resolved) for message in posted[2:]] == [((), (mine.key,))]


def test_a_night_that_is_repeated_keeps_the_promise_of_series_that_it_leaves_out(tmp_path):
    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars)
    desk.night(NIGHTS[0])
    desk.night(NIGHTS[0], names=["AAA"], made_at=NIGHTS[0].tz_localize("UTC") + pd.Timedelta(hours=30))
    (target,) = desk.verify(live=False).targets
    assert sorted(target.by_series["unique_id"]) == ["AAA", "BBB"]


def test_alerts_stand_though_they_cannot_be_remembered(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    bars = bars_of({name: volumes(seed=seed) for seed, name in enumerate(NAMES)})
    desk = Desk(tmp_path, bars)
    desk.night("2018-12-21")
    desk.night("2018-12-31", made_at=NOW)
    monkeypatch.setattr("pipelines.alerting.write_text", full)
    found = desk.verify()
    assert [alert.rule for alert in found.alerts] == ["missed"]
    assert "No space left" in found.warnings[0]
