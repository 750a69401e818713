import inspect

import pytest

from fints import errors


def test_an_unknown_name_lists_the_choices_and_suggests_the_closest():
    error = errors.UnknownNameError("target", "log_volme", ["log_volume", "log_range"])
    assert str(error) == "unknown target 'log_volme'. Did you mean 'log_volume'? Choose from: log_range, log_volume"


def test_a_long_list_of_choices_is_cut():
    error = errors.UnknownNameError("symbol", "X", [f"S{i:03}" for i in range(100)])
    assert str(error).endswith("S029 …")


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (errors.PlanError, errors.UsageError),
        (errors.RateLimitedError, errors.SourceError),
        (errors.BundleError, errors.ModelError),
    ],
)
def test_errors_can_be_caught_by_their_kind(child, parent):
    assert issubclass(child, parent)


def test_every_error_is_drawn_in_the_tree():
    names = [n for n, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, Exception)]
    assert names
    assert all(name in errors.__doc__ for name in names)
