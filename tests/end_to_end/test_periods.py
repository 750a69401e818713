"""The search for cycles as a user sees it."""

import re

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def test_the_sample_s_cycles_are_listed_and_drawn(fints, home):
    code, out, _, result = fints("periods", "^GSPC", "--as-of", "2006-12-29")
    assert code == 0
    assert re.search(r"(6\.99|7\.00)\d days", out)
    assert {line["unique_id"] for line in result["lines"]} == {"^GSPC"}
    assert any(cycle["clock"] == "calendar" and cycle["origin"] == "detected" for cycle in result["plan"])
    page = home / "reports" / "periods" / "sample-1d-log_volume-both-2006-12-29.html"
    assert "Cycles in log_volume up to 2006-12-29" in page.read_text("utf-8")
    assert str(page.parent) in out.replace("\n", "")


def test_nothing_after_the_as_of_is_read(fints):
    _, _, _, late = fints("periods", "^GSPC", "--as-of", "2004-12-31")
    fints("periods", "^GSPC")
    _, _, _, again = fints("periods", "^GSPC", "--as-of", "2004-12-31")
    assert late["lines"] == again["lines"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--target", "log_volumes"], "log_volume"),
        (["NOBODY"], "NOBODY"),
        (["--clock", "lunar"], "lunar"),
        (["--as-of", "soon"], "neither a date"),
    ],
)
def test_a_request_that_cannot_be_met_exits_with_2_and_names_the_offender(fints, arguments, says):
    code, _, err, _ = fints("periods", *arguments)
    assert code == 2
    assert says in err
