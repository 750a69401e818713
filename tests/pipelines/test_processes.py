import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from rich.console import Console

from fints.errors import ModelError, UnknownNameError
from pipelines.processes import Call, side_by_side
from pipelines.progress import stages
from tests.pipelines import calls

linux = pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked for in /proc")


@pytest.fixture
def shown():
    out = io.StringIO()
    with stages(Console(file=out, width=80)) as made:
        yield made, out


def test_calls_return_in_the_order_in_which_they_were_asked_for_and_show_their_stages(shown):
    made, out = shown
    wanted = [Call(calls.later, (wait, name)) for wait, name in ((0.3, "a"), (0.0, "b"), (0.0, "c"))]
    found = side_by_side(wanted, 2, 1, made)
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert os.getpid() not in {pid for _, pid in found}
    assert sorted(out.getvalue().splitlines()) == ["a …", "b …", "c …"]


@pytest.mark.parametrize(("count", "number"), [(1, 2), (4, 1)])
def test_one_at_a_time_happens_in_this_process(shown, count, number):
    found = side_by_side([Call(calls.later, (0.0, "a"))] * number, count, 1, shown[0])
    assert found == [("a", os.getpid())] * number


def test_what_is_computed_does_not_depend_on_where(shown):
    wanted = [Call(calls.matrix, (seed,)) for seed in (1, 2)]
    alone, spread = (side_by_side(wanted, count, 1, shown[0]) for count in (1, 2))
    assert [a.tolist() for a in alone] == [b.tolist() for b in spread]


def test_each_call_has_the_threads_that_it_was_given(shown):
    for count in (1, 2):
        assert side_by_side([Call(calls.threads, ())] * 2, count, 1, shown[0]) == [1, 1]


def test_an_error_is_raised_here_and_the_others_are_stopped(shown):
    began = time.monotonic()
    with pytest.raises(UnknownNameError, match="unknown target 'colour'") as caught:
        side_by_side([Call(calls.later, (60.0, "a")), Call(calls.unknown, ())], 2, 1, shown[0])
    assert caught.value.choices == ("log_range",)
    assert time.monotonic() - began < 30


def test_an_error_that_cannot_travel_is_told_in_words(shown):
    with pytest.raises(ModelError, match="AwkwardError: two of them"):
        side_by_side([Call(calls.awkward, ())] * 2, 2, 1, shown[0])


def test_a_process_that_is_killed_is_told_in_words(shown):
    with pytest.raises(ModelError, match=r"was killed.*workers\.count"):
        side_by_side([Call(calls.killed, ()), Call(calls.later, (60.0, "a"))], 2, 1, shown[0])


@linux
def test_nothing_goes_on_without_the_process_that_asked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            from rich.console import Console
            from pipelines.outcome import reported
            from pipelines.processes import Call, side_by_side
            from pipelines.progress import stages
            from tests.pipelines import calls

            if __name__ == "__main__":
                with reported(), stages(Console()) as shown:
                    side_by_side([Call(calls.noted, ({str(tmp_path)!r},))] * 2, 2, 1, shown)
            """
        )
    )
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": root})
    noted = _wait_for(lambda: list(tmp_path.glob("*.pid")), lambda found: len(found) == 2)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    _wait_for(lambda: [p for p in noted if Path(f"/proc/{p.stem}").exists()], lambda left: not left)


def _wait_for(look, good):
    end = time.monotonic() + 60
    while not good(found := look()):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found
