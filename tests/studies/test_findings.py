import numpy as np
import pytest

from fints.errors import ConfigError
from fints.studies import Line

THREE = np.arange(3.0)


@pytest.mark.parametrize(
    ("y", "low", "high"), [(np.arange(2.0), None, None), (THREE, THREE, None), (THREE, THREE, np.arange(2.0))]
)
def test_a_line_whose_arrays_do_not_fit_is_refused(y, low, high):
    with pytest.raises(ConfigError, match="'rope'"):
        Line("rope", THREE, y, low, high)
