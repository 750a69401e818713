"""Symbols and file names are data: they never become paths, SQL, markup or settings."""

import numpy as np
import pandas as pd
import pytest

from fints.bars.store import BarStore
from fints.errors import FintsError
from fints.settings import load_settings
from fints.verification import Promise
from pipelines.home import Home
from pipelines.verification_book import PromiseBook
from tests.verification.conftest import bars_of, count, forecasts_of

HOSTILE = [
    "../../x",
    "/etc/passwd",
    "..\\..\\x",
    "a'; DROP TABLE bars; --",
    "' OR '1'='1",
    'a" OR "1"="1',
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "%s%n%(x)s",
    "$(touch /tmp/x)",
    "`id`",
    "period=2018",
    "café\u202e",
    "x" * 5000,
]


def outside(root):
    """Every file below the parent that is not of the store."""
    return sorted(path for path in root.parent.rglob("*") if path.is_file() and root not in path.parents)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    root = tmp_path_factory.mktemp("deep") / "a" / "store"
    store = BarStore(root)
    levels = {name: np.full(count(), 1000.0 + i) for i, name in enumerate(HOSTILE)}
    store.commit(bars_of(levels))
    rows = [forecasts_of([name], "2018-11-20", float(i)) for i, name in enumerate(HOSTILE)]
    store.write_forecasts(pd.concat(rows, ignore_index=True))
    return store


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_symbol_is_stored_and_found_as_it_is_spelled_and_finds_no_other(held, number):
    name = HOSTILE[number]
    bars = held.read(name)
    assert set(bars["symbol"]) == {name}
    assert set(bars["volume"]) == {1000 + number}
    forecasts = held.read_forecasts(unique_id=name)
    assert set(forecasts["unique_id"]) == {name}
    assert set(forecasts["mean"]) == {float(number)}


def test_no_symbol_leaves_the_folder_of_the_store(held):
    assert outside(held.root) == []
    names = [part for path in held.root.rglob("*") for part in path.relative_to(held.root).parts]
    assert not [part for part in names if any(name[:20] in part for name in HOSTILE if name != "period=2018")]
    assert held.verify() == []


def test_writing_the_forecasts_of_one_symbol_leaves_those_of_the_others(held):
    before = held.read_forecasts()
    held.write_forecasts(forecasts_of(["' OR '1'='1"], "2018-11-20", 4.0))
    assert len(held.read_forecasts()) == len(before)


@pytest.mark.parametrize("name", ["a\x00b", "a\nb"])
def test_a_symbol_with_control_characters_is_kept_as_data_or_refused(tmp_path, name):
    store = BarStore(tmp_path / "a" / "store")
    try:
        store.commit(bars_of({name: np.full(count(), 1000.0)}))
    except (FintsError, ValueError):
        return
    assert set(store.read(name)["symbol"]) == {name}
    assert outside(store.root) == []


def test_series_never_name_the_files_of_promises(tmp_path):
    settings = load_settings(None, ["dataset=made"])
    rows = forecasts_of(HOSTILE, "2018-11-20", 1.0)
    panel = pd.DataFrame({"unique_id": HOSTILE, "ds": pd.Timestamp("2018-11-20"), "y": 1.0})
    promise = Promise("log_volume", rows["created_at"].iloc[0].floor("us"), "../m", "../v").anchored(panel)
    book = PromiseBook.under(Home(tmp_path), settings)
    book.keep(pd.Timestamp("2018-11-20"), [promise])
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert files == ["verification/made/1d/promises/2018-11-20T000000.json"]
    (back,) = book.read(pd.Timestamp("2018-11-20"))
    assert back.anchors == promise.anchors
    assert (back.model, back.version, back.made_at) == ("../m", "../v", promise.made_at)
