"""Names and messages of others give a terminal no orders: no escape sequence, no markup, no turned text."""

import io
import logging
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from fints.errors import SourceError
from pipelines.harmless import HarmlessFormatter, harmless
from pipelines.outcome import reported
from pipelines.progress import stages
from pipelines.terminal import Screen, console, plain_table

HOSTILE = "SPY\x1b[2J\x1b]0;owned\x07\x9b31m\u202egpj\ud800"
ORDERS = "\x1b\x07\x9b\u202e\ud800"


@given(st.text(st.characters()))
def test_what_is_left_is_what_was_there_without_orders(text):
    plain = harmless(text, "")
    assert plain == harmless(harmless(text), "").replace("\ufffd", "") or "\ufffd" in text
    assert not any(c not in "\t\n" and (ord(c) < 32 or 127 <= ord(c) < 160) for c in plain)
    assert [c for c in text if c.isalnum()] == [c for c in plain if c.isalnum()]


@pytest.mark.parametrize("forced", [True, False])
def test_a_table_and_a_line_are_printed_without_orders(forced):
    out = io.StringIO()
    shown = Screen(file=out, width=100, force_terminal=forced, color_system=None)
    shown.print(plain_table(pd.DataFrame({"symbol": [HOSTILE]}, dtype=object), HOSTILE))
    shown.print(HOSTILE, markup=False, highlight=False)
    shown.print(Text(HOSTILE))
    assert out.getvalue().count("SPY[2J]0;owned31mgpj") == 4
    assert not set(ORDERS) & set(out.getvalue())


def test_the_borders_of_a_table_stay_straight():
    out = io.StringIO()
    Screen(file=out, width=100).print(plain_table(pd.DataFrame({"symbol": [HOSTILE, "plain"]}, dtype=object), ""))
    widths = {len(line.rstrip()) for line in out.getvalue().splitlines() if line.strip()}
    assert len(widths) == 1


def test_the_consoles_of_commands_are_such():
    assert isinstance(console(), Screen)
    assert isinstance(console(stderr=True), Screen)


def test_an_error_is_told_without_orders(capsys):
    with pytest.raises(SystemExit), reported():
        raise SourceError(f"the answer has {HOSTILE}")
    said = capsys.readouterr().err
    assert "SPY\ufffd[2J" in said
    assert not set(ORDERS) & set(said)


def test_a_warning_is_told_without_orders():
    record = logging.LogRecord("fints", logging.WARNING, __file__, 1, "%s failed", (HOSTILE,), None)
    assert not set(ORDERS) & set(HarmlessFormatter().format(record))


@pytest.mark.parametrize("forced", [True, False])
def test_the_name_and_the_note_of_a_stage_are_no_markup(forced):
    out = io.StringIO()
    shown = Screen(file=out, width=120, force_terminal=forced, color_system=None)
    with stages(shown) as made, made.stage("[red]SPY[/] [/] \\[x]") as stage:
        stage(1, 2, "[bold]soon[/] [/]")
    assert "[red]SPY[/] [/] \\[x]" in out.getvalue()


def test_the_command_line_sets_up_its_log(monkeypatch):
    from pipelines import cli

    monkeypatch.setenv("PYTHONSAFEPATH", "")
    monkeypatch.setattr(logging.lastResort, "formatter", None)
    monkeypatch.setattr(cli, "app", lambda: None)
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    cli.main()
    logging.lastResort.handle(logging.LogRecord("fints", logging.WARNING, __file__, 1, HOSTILE, (), None))
    assert err.getvalue().startswith("SPY\ufffd[2J")
