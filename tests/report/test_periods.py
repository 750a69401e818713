import json
import re

import numpy as np
import pandas as pd
import pytest

from fints.periods import detect_periods
from fints.report import periods_table, render_periods
from fints.report.periods import chance, cycles_table, ribbon_drawing, spectrum_drawing
from fints.sessions import get_calendar

HOSTILE = "<script>alert('x')</script>&\"'"


@pytest.fixture(scope="module")
def found():
    n, rng = 900, np.random.default_rng(0)
    days = get_calendar("XNYS").next_sessions("1999-12-31", n)
    civil = (days - pd.Timestamp("1970-01-01")).days.to_numpy()
    week = rng.standard_normal(n) + np.cos(2 * np.pi * civil / 7) + 0.7 * np.cos(2 * np.pi * np.arange(n) / 11.3)
    quiet = rng.standard_normal(n)
    panel = pd.concat(
        [pd.DataFrame({"unique_id": uid, "ds": days, "y": y}) for uid, y in ((HOSTILE, week), ("QUIET", quiet))],
        ignore_index=True,
    )
    return detect_periods(panel, alpha=0.001)


def test_the_table_names_each_cycle_on_both_clocks(found):
    rows = [[cell.text for cell in row] for row in cycles_table(found).rows]
    named = {row[1].split()[1]: float(row[1].split()[0]) for row in rows}
    assert named == {"days": pytest.approx(7, abs=0.01), "sessions": pytest.approx(11.3, abs=0.05)}
    assert {row[0] for row in rows} == {HOSTILE}
    week = next(row for row in rows if "days" in row[1])
    assert re.fullmatch(r"4\.8\d\d sessions", week[3])
    assert re.match(r"(6\.99|7\.00)\d, 3\.(49|50)\d", week[4])


def test_a_spectrum_shows_power_noise_and_threshold_and_labels_every_cycle_inside(found):
    for clock in ("session", "calendar"):
        drawing = spectrum_drawing(found, HOSTILE, clock)
        names = [trace["name"] for trace in drawing.figure["data"]]
        assert names[:3] == ["power", "noise alone", "0.1 % level"]
        assert {"cycle", "cycle of the other clock"} == set(names[3:])
        marks = {trace["name"]: trace for trace in drawing.figure["data"][3:]}
        here = 7.0 if clock == "calendar" else 11.3
        assert any(float(text) == pytest.approx(here, rel=0.005) for text in marks["cycle"]["text"])


def test_a_ribbon_holds_the_amplitude_of_the_whole_series(found):
    line = next(line for line in found if line.clock == "calendar")
    band, amplitude, whole = ribbon_drawing(found, line).figure["data"]
    level = whole["y"][0]
    assert level == pytest.approx(line.amplitude, rel=1e-4)
    assert min(amplitude["y"]) < level < max(amplitude["y"])
    assert max(band["y"]) > max(amplitude["y"])


def test_the_page_is_whole_and_no_name_can_break_out_of_it(found):
    page = render_periods(found, f"Cycles in {HOSTILE}")
    assert HOSTILE not in page
    specs = re.findall(r'<script type="application/json" data-figure="[^"]+">(.*?)</script>', page, flags=re.DOTALL)
    assert len(specs) == 4 + len(found)
    for spec in specs:
        assert set(json.loads(spec)) == {"data", "layout"}
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    assert not re.search(r'(?:src|href)="https?:', page.split("<script>")[0])


def test_a_series_without_a_cycle_is_said_to_have_none(found):
    from rich.console import Console

    console = Console(width=160, file=None, record=True, quiet=False)
    with console.capture() as capture:
        console.print(periods_table(found, "Cycles"))
    text = capture.get()
    assert "No cycle stands out from noise in: QUIET." in text
    assert "11.3" in text
    assert "No cycle stands out" in render_periods(found["QUIET"], "Cycles")


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "< 1e-99"), (1e-200, "< 1e-99"), (3e-7, "3e-07"), (0.0123, "0.012"), (1.0, "1.000")]
)
def test_a_chance_is_never_called_zero(p, text):
    assert chance(p) == text
