import numpy as np
import pytest

import fints
from fints.errors import BundleError
from fints.periods.stored import from_bytes, to_bytes


@pytest.fixture(scope="module")
def found():
    bars = fints.sample_bars().query("symbol == '^GSPC' and session >= '2012-01-01'")
    return fints.detect_periods(fints.make_panel(bars, target="log_volume"))


def test_what_was_found_comes_back_to_the_bit_with_its_figures(found):
    again = from_bytes(to_bytes(found))
    assert len(found) > 0
    assert again.lines == found.lines
    assert again.problems == found.problems
    assert again.to_frame().equals(found.to_frame())
    (name,) = found.series
    for clock in found.clocks(name):
        one, other = found.spectrum(name, clock), again.spectrum(name, clock)
        assert all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("power", "null", "threshold"))
    one, other = found.stability(found.lines[0]), again.stability(again.lines[0])
    assert np.array_equal(one.amplitude, other.amplitude)
    assert np.array_equal(found.short_time(name).ratio, again.short_time(name).ratio)


def test_the_plan_made_of_it_is_the_same(found):
    plans = [fints.FrequencyPlan.from_detection(one) for one in (found, from_bytes(to_bytes(found)))]
    assert plans[0].to_dict() == plans[1].to_dict()


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"", lambda b: b"x" * 40, lambda b: b[:60] + b[80:]])
def test_what_is_damaged_is_refused(found, damage):
    with pytest.raises(BundleError, match="search again"):
        from_bytes(damage(to_bytes(found)))
