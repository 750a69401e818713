"""A report that is written again says of the data, and ends, what its night did."""

from dataclasses import replace

import pytest

from fints.bars.ingest_report import IngestReport
from pipelines import gathered
from pipelines.outcome import Exit

DAY = "2017-07-11"
DOUBT = {"T": "9 of 10 bars fall on closed days"}


@pytest.fixture
def night(after, monkeypatch):
    """Run the night where its ingest doubts exchanges, or does not deliver symbols."""
    play, _ = after
    update = gathered.update

    def run(*, doubted=None, failed=None):
        with monkeypatch.context() as patch:
            patch.setattr(IngestReport, "doubted", lambda _: dict(doubted or {}))
            patch.setattr(gathered, "update", lambda *given: replace(update(*given), failed=failed or {}))
            return play.night(DAY)[1]

    return run


def facts(done):
    return done.exit_code, done.night.failed, done.night.misplaced


def test_what_lacked_then_is_said_again_and_what_lacks_now_is_not(night):
    first = night(doubted=DOUBT, failed={"T": "no answer"})
    assert facts(first) == (Exit.PARTLY, {"T": "no answer"}, DOUBT)
    first.page.unlink()
    again = night()
    assert facts(again) == facts(first)
    assert "9 of 10 bars" in again.page.read_text("utf-8")


def test_a_night_that_lacked_nothing_ends_so_though_the_source_is_down_now(night):
    first = night()
    first.page.unlink()
    again = night(doubted=DOUBT, failed={"T": "no answer"})
    assert facts(again) == facts(first) == (Exit.DONE, {}, {})
    assert "no answer" not in again.page.read_text("utf-8")


@pytest.mark.parametrize("then", [{}, {"T": "no answer"}])
def test_where_the_result_is_gone_this_run_speaks_and_a_code_of_3_stays(night, then):
    first = night(failed=then)
    first.page.with_suffix(".json").unlink()
    again = night(failed={} if then else {"T": "refused"})
    assert facts(again) == (Exit.PARTLY, {} if then else {"T": "refused"}, {})
