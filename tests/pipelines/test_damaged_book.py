"""A book of decisions with a line that nobody can read: the night stands in, says so, and touches nothing."""

import json

import pytest
from typer.testing import CliRunner

from fints.bars.store import BarStore
from fints.champion import Book
from fints.errors import DamagedBookError
from pipelines.cli import app
from pipelines.night_ledger import stored_result
from pipelines.night_standing import standing
from pipelines.outcome import Exit
from pipelines.succession import Succession
from tests.pipelines.play import NIGHTS


def spoil(play, line=1):
    """Cut one whole line of the book in half; return what the file holds then."""
    file = play.models.book.file
    lines = file.read_bytes().split(b"\n")
    lines[line - 1] = lines[line - 1][: len(lines[line - 1]) // 2]
    file.write_bytes(b"\n".join(lines))
    return file.read_bytes()


@pytest.fixture
def spoiled(after):
    play, _ = after
    return play, spoil(play), play.night("2017-07-11")


def test_the_baseline_stands_in_and_the_night_ends_with_an_alert(spoiled):
    play, content, (night, done) = spoiled
    assert night.name == night.ruling.in_use == "HAR"
    assert set(done.night.forecasts()["model"]) == {"HAR"}
    assert done.exit_code == Exit.ALERT
    (alert,) = done.night.verification.alerts
    assert (alert.rule, alert.subject) == ("book", "log_volume")
    assert f"line 1 of the book of decisions {play.models.book.file}" in alert.sentence
    assert "Restore the file from a backup" in alert.sentence
    assert play.models.book.file.read_bytes() == content  # nothing is decided, and nothing written


def test_the_page_and_the_result_say_it_loudly_and_show_what_is_known_of_the_baseline(spoiled):
    play, _, (night, done) = spoiled
    page = done.page.read_text("utf-8")
    assert "Alert, book." in page
    assert "standing in, for the book of decisions cannot be read" in page
    assert "HAR stands in tonight, for it cannot be said which model is in use." in page
    assert str(play.models.book.file) in page
    assert any("HAR stands in for the model in use" in note for note in done.report.notes)
    plain = json.loads(json.dumps(done.to_json()))
    assert "cannot be read" in plain["models"]["log_volume"]["damage"]
    assert "HAR" in set(night.holdout.leaderboard["model"])  # of the newest fit, so that something is promised


def test_the_night_after_a_person_has_mended_the_book_follows_it_again(spoiled):
    play, _, _ = spoiled
    lines = play.models.book.file.read_bytes().split(b"\n")
    play.models.book.file.write_bytes(b"\n".join(lines[1:]))
    night, done = play.night("2017-07-11")
    assert night.name == "Combination"
    assert done.exit_code == Exit.DONE
    assert "can be read again" in done.entry.reason


def test_one_book_of_two_that_is_mended_is_followed(after):
    play, nights = after
    entry, targets = nights[-1][1].entry, ("log_volume", "log_range")
    page = play.home.root / entry.page
    result = json.loads(stored_result(page).read_text("utf-8"))
    result["models"] = {target: {"damage": "line 1 cannot be read"} for target in targets}
    stored_result(page).write_text(json.dumps(result), "utf-8")
    other = Succession.book_under(play.home.models, (entry.dataset, entry.interval, "log_range")).file
    other.parent.mkdir(parents=True)
    other.write_text("{\n")
    found, why = standing(entry, [entry], BarStore(play.home.store), play.home, targets)
    assert found is None
    assert "can be read again" in why


def test_a_night_that_is_done_stands_though_its_book_was_damaged_since(after):
    play, _ = after
    spoil(play)
    done = play.night_alone(NIGHTS[-1])
    assert done.entry.state == "done"
    assert not hasattr(done, "night")
    (warning,) = done.warnings
    assert "the decisions about models are not in order" in warning
    assert f"line 1 of {play.models.book.file} cannot be read" in warning
    assert "Restore the file from a backup" in warning
    assert done.to_json()["warnings"][-1] == warning


def test_a_report_that_is_cut_short_is_written_again_though_the_book_is_damaged(spoiled):
    play, content, (_, done) = spoiled
    before = play.stored("2017-07-11")
    done.page.write_bytes(done.page.read_bytes()[:-10])
    _, again = play.night("2017-07-11")
    assert again.exit_code == Exit.ALERT
    assert "The report alone was written again" in done.page.read_text("utf-8")
    assert play.stored("2017-07-11").equals(before)
    assert play.models.book.file.read_bytes() == content


def test_a_replay_of_a_night_whose_decisions_are_lost_is_refused(after):
    play, nights = after
    made_at = nights[-1][1].entry.made_at
    spoil(play)
    with pytest.raises(DamagedBookError, match="line 1"):
        play.replay(NIGHTS[-1], made_at)


def test_the_list_of_models_names_file_and_line_and_ends_with_1(model_command, after, tmp_path):
    play, _ = after
    spoil(play, 2)
    code, out, err = model_command("list", "--json", str(tmp_path / "models.json"))
    assert code == Exit.FAILED
    said = " ".join((out + err).split())
    assert "log_volume: line 2 of the book of decisions" in said
    assert "Traceback" not in said
    (told,) = json.loads((tmp_path / "models.json").read_text())
    assert "line 2" in told["damage"]
    assert {row["state"] for row in told["models"]} == {"stands in", "on the shelf"}


def test_nothing_is_decided_by_hand_while_the_book_is_damaged(model_command, after):
    play, _ = after
    content = spoil(play)
    code, _, err = model_command("promote", "HAR", "--target=log_volume", "--reason=why not")
    assert code == Exit.FAILED
    assert "the book of decisions" in err
    assert play.models.book.file.read_bytes() == content


@pytest.mark.parametrize("line", [b"{", b"[1]", b'[{"kind": "install"}]', b"\xff", b"[" * 20_000])
def test_whatever_a_line_holds_it_is_named_by_its_number(tmp_path, line):
    book = Book(tmp_path / "book.jsonl")
    book.file.write_bytes(b"[]\n\n" + line + b"\n[]\n")
    with pytest.raises(DamagedBookError) as raised:
        book.read()
    assert (raised.value.file, raised.value.line) == (book.file, 3)


def test_a_book_that_is_no_file_is_damaged_as_a_whole(tmp_path):
    (tmp_path / "book.jsonl").mkdir()
    with pytest.raises(DamagedBookError) as raised:
        Book(tmp_path / "book.jsonl").read()
    assert raised.value.line == 0


@pytest.mark.parametrize(("config", "hinted"), [(False, True), (True, False)])
def test_a_list_of_no_models_hints_at_the_settings_of_the_night(tmp_path, monkeypatch, config, hinted):
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    (tmp_path / "my.yaml").write_text("dataset: mine\n")
    named = ["--config", str(tmp_path / "my.yaml")] if config else []
    left = CliRunner().invoke(app, ["model", "list", *named])
    assert left.exit_code == 0
    assert "no night has forecast it under these settings yet" in left.output
    assert ("give the settings of the night with --config" in " ".join(left.output.split())) == hinted
