import pytest
import torch

from fints.encodings.places import check_places
from fints.errors import EncodingError


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_places_that_are_not_finite_are_refused(wrong):
    with pytest.raises(EncodingError, match="1 of 3 places on the session clock are not finite"):
        check_places("session", torch.tensor([[0.0, wrong, 2.0]], dtype=torch.float64))


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_seconds_in_another_unit_are_refused(scale, dtype):
    now = torch.tensor([[1_796_000_000]]).to(dtype)
    check_places("seconds", now)
    with pytest.raises(EncodingError, match="milliseconds"):
        check_places("seconds", (now * scale).to(dtype))


def test_other_clocks_may_run_as_far_as_they_like():
    check_places("index", torch.tensor([[10**13]]))


def test_there_is_nothing_to_check_without_values():
    check_places("seconds", torch.empty(1, 3, dtype=torch.float64, device="meta"))
    check_places("seconds", torch.empty(1, 0, dtype=torch.float64))
