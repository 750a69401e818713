import numpy as np
import pytest

from fints.studies.sources import Directed

N = 40_000


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


@pytest.mark.parametrize("lag", [24, 26])
def test_what_stands_one_lag_back_tells_what_comes(lag):
    source = Directed(24, lag)
    y, truth = source.draw(N, 0).panel["y"].to_numpy(), source.draw(N, 0).truth
    np.testing.assert_allclose(truth[lag:], source.echo * y[:-lag] + source.rate)
    assert correlation(y, truth) == pytest.approx(source.echo, abs=0.02)


def test_no_forecast_of_bars_before_is_left_in_the_errors_not_even_from_the_mirrored_phase():
    drawn = Directed(24, 26).draw(N, 0)
    new = drawn.panel["y"].to_numpy() - drawn.truth
    assert new.mean() == pytest.approx(0, abs=0.01)
    for back in (1, 22, 24, 26, 52):
        assert abs(correlation(new[back:], drawn.panel["y"].to_numpy()[:-back])) < 0.02


def test_it_does_not_run_the_same_backwards():
    """New causes are skewed, and whether a bar is large where its echo is not tells the direction."""
    y = Directed(24, 24).draw(N, 0).panel["y"].to_numpy()
    forwards = y[24:] - 0.9 * y[:-24]
    backwards = y[:-24] - 0.9 * y[24:]
    skewness = [np.mean(((r - r.mean()) / r.std()) ** 3) for r in (forwards, backwards)]
    assert skewness[0] - skewness[1] > 1
