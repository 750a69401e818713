import numpy as np
import pytest

from fints.baselines import ARIMA, EWMA, GARCH, HAR, GradientBoosting, GradientBoostingConfig, Naive
from fints.baselines.stored import from_bytes, to_bytes
from fints.errors import BundleError, NotFittedError

QUICK = GradientBoostingConfig(calendar=False, iterations=20, max_rows=2000)
KEPT = {
    "naive": Naive,
    "har": HAR,
    "har_calendar": lambda h: HAR(h, calendar=True),
    "ewma": EWMA,
    "trees": lambda h: GradientBoosting(h, QUICK),
}


def same(one, other):
    return (
        one.frame.equals(other.frame)
        and np.array_equal(one.mean, other.mean)
        and np.array_equal(one.quantiles, other.quantiles)
    )


@pytest.mark.parametrize("kind", sorted(KEPT))
def test_a_baseline_that_is_read_back_forecasts_the_same_to_the_bit(kind, daily):
    model = KEPT[kind](5).fit(daily)
    again = from_bytes(KEPT[kind](5), to_bytes(model))
    assert same(again.forecast(daily), model.forecast(daily))
    assert to_bytes(again) == to_bytes(model)


def test_what_is_read_back_keeps_no_history(daily):
    again = from_bytes(HAR(5), to_bytes(HAR(5).fit(daily)))
    with pytest.raises(NotFittedError, match="keeps no history"):
        again.forecast()


def test_a_baseline_with_more_than_plain_arrays_is_not_written():
    assert to_bytes(ARIMA(5)) is None
    assert to_bytes(GARCH(5)) is None
    assert to_bytes(object()) is None


@pytest.mark.parametrize("other", [HAR(6), HAR(5, calendar=True), Naive(5)])
def test_what_another_model_learned_is_refused(other, daily):
    with pytest.raises(BundleError, match="fit it anew"):
        from_bytes(other, to_bytes(HAR(5).fit(daily)))


@pytest.mark.parametrize("spoil", [lambda c: c[:-9], lambda c: c[:40], lambda _c: b"", lambda c: b"x" * len(c)])
def test_damaged_bytes_are_refused(spoil, daily):
    with pytest.raises(BundleError, match="fit it anew"):
        from_bytes(HAR(5), spoil(to_bytes(HAR(5).fit(daily))))
