import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.periods import Periods, detect_periods
from fints.plan import FrequencyPlan
from fints.report import periods_table, render_periods
from fints.report.periods import chance, cycles_table, drawings, ribbon_drawing
from fints.report.spectra import figure, spectrum_drawing
from fints.sessions import get_calendar

HOSTILE = "<script>alert('x')</script>&\"'"


@pytest.fixture(scope="module")
def found():
    n, rng = 900, np.random.default_rng(0)
    days = get_calendar("XNYS").next_sessions("1999-12-31", n)
    civil = (days - pd.Timestamp("1970-01-01")).days.to_numpy()
    week = np.cos(2 * np.pi * civil / 7) + 0.7 * np.cos(4 * np.pi * civil / 7)
    week += rng.standard_normal(n) + 0.7 * np.cos(2 * np.pi * np.arange(n) / 11.3)
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


def test_a_ribbon_of_one_line_of_a_family_says_where_that_line_lies(found):
    line = next(line for line in found if line.clock == "calendar")
    alone = found.stability(line).period
    shifted = replace(line, period=1.01 * alone)
    caption = ribbon_drawing(found, shifted).caption
    assert caption.startswith(f"{figure(1.01 * alone)} days: ")
    assert f"by itself lies at {figure(alone)} days" in caption
    assert "by itself" not in ribbon_drawing(found, replace(line, period=alone)).caption


def test_labels_of_neighbouring_cycles_do_not_run_into_each_other(found):
    line = next(line for line in found if line.clock == "calendar")
    crowded = Periods((line, *(replace(line, period=p, harmonics=(1,)) for p in (7.05, 7.2, 7.9, 9.5))), found.searched)
    marks = spectrum_drawing(crowded, HOSTILE, "calendar").figure["data"][3]
    assert len(marks["x"]) == len(marks["hovertext"]) >= 5
    labelled = np.log([at for at, text in zip(marks["x"], marks["text"], strict=True) if text])
    assert np.diff(np.sort(labelled)).min() > 0.15
    highest = int(np.argmax(marks["y"]))
    assert marks["text"][highest] == figure(marks["x"][highest])


def test_only_marks_that_are_drawn_are_explained(found):
    assert "Rings" not in spectrum_drawing(found["QUIET"], "QUIET", "session").caption
    assert "Diamonds" not in spectrum_drawing(found["QUIET"], "QUIET", "session").caption
    both = spectrum_drawing(found, HOSTILE, "session").caption
    assert "Diamonds" in both
    assert "Rings" in both


def test_the_drawings_of_a_series_are_its_spectrum_and_its_strongest_cycle(found):
    spectrum, ribbon = drawings(found, HOSTILE)
    assert found.clocks(HOSTILE)[0] in spectrum.alt
    assert ribbon.caption.startswith(figure(found[HOSTILE].lines[0].period))
    assert len(drawings(found, "QUIET")) == 1
    assert drawings(found, "NOBODY") == ()


def test_the_page_is_whole_and_no_name_can_break_out_of_it(found):
    page = render_periods(found, f"Cycles in {HOSTILE}", FrequencyPlan.from_detection(found))
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
    page = render_periods(found["QUIET"], "Cycles", FrequencyPlan.from_detection(found["QUIET"]))
    assert "No cycle stands out" in page
    assert "prior of 20 sessions kept: nothing significant was found near it" in page


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "< 1e-99"), (1e-200, "< 1e-99"), (3e-7, "3e-07"), (0.0123, "0.012"), (1.0, "1.000")]
)
def test_a_chance_is_never_called_zero(p, text):
    assert chance(p) == text
