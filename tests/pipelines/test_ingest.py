"""Which symbols a night asks for."""

from types import SimpleNamespace

import pytest

from fints.errors import ConfigError
from fints.settings import load_settings
from pipelines.ingest import wanted_symbols


def source(*listed, live=True):
    return SimpleNamespace(name="folder", live=live, symbols=lambda: list(listed))


def settings(*stated):
    return load_settings(None, ["source={kind: folder, path: incoming}", *stated])


@pytest.mark.parametrize(
    ("stated", "live", "wanted"),
    [
        ([], True, ["AAA", "BBB", "OLD"]),
        ([], False, ["AAA", "BBB"]),  # an archive holds what it holds
        (["symbols=[BBB]"], True, ["BBB"]),
        (["aliases={OLD: BBB}"], True, ["AAA", "BBB"]),
        (["aliases={OLD: NEW}"], True, ["AAA", "BBB", "NEW"]),
    ],
)
def test_what_the_last_night_forecast_is_asked_for_though_it_is_listed_no_longer(stated, live, wanted):
    assert wanted_symbols(source("AAA", "BBB", live=live), settings(*stated), ("AAA", "OLD")) == wanted


def test_a_source_that_lists_nothing_needs_symbols():
    with pytest.raises(ConfigError, match="lists no symbols"):
        wanted_symbols(source(), settings())
    assert wanted_symbols(source(), settings(), ("AAA",)) == ["AAA"]
