from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from fints.bars.nights import NightEntry, NightTable
from fints.bars.store import BarStore
from fints.errors import SchemaError, StoreError

NOW = pd.Timestamp("2025-03-10 22:00:00.123456", tz="UTC")


def entry(**changes: object) -> NightEntry:
    plain = NightEntry(
        dataset="market",
        interval="1d",
        night="2025-03-10T20:15:00+00:00",
        as_of=pd.Timestamp("2025-03-10 20:15", tz="UTC"),
        known_at=NOW.isoformat(),
        asked="",
        made_at=NOW,
        state="begun",
        data_version=3,
        actions_version=1,
        config="0123456789ab",
        calendar="ba9876543210",
        symbols=("AAA", "../x", "NA", "O'Neil"),
        fints="0.1.0",
        began_at=NOW,
    )
    return replace(plain, **changes)


def test_what_is_entered_is_read_as_it_was_to_the_microsecond(tmp_path) -> None:
    table = NightTable.under(tmp_path)
    done = entry(
        state="done",
        ended_at=NOW + pd.Timedelta("1min"),
        stamp=pd.Timestamp("2025-03-10"),
        forecasts_version=7,
        exit_code=3,
        reason="made again because of 1 late bar of O'Neil",
        page="reports/nightly/market-1d-2025-03-10.html",
        remade=("O'Neil", "../x"),
    )
    entered = table.enter([entry(), done])
    assert table.read("market", "1d") == entered == (entry(number=1), replace(done, number=2))
    assert table.read("market", "1h") == table.read("other", "1d") == ()


def test_entries_keep_their_order_whatever_the_clock_says(tmp_path) -> None:
    """Numbers go on over datasets, and one that was entered later under an earlier instant comes later."""
    table = NightTable.under(tmp_path)
    table.enter([entry()])
    table.enter([entry(dataset="other")])
    table.enter([entry(made_at=NOW - pd.Timedelta("3650D"), began_at=NOW - pd.Timedelta("3650D"))])
    assert [e.number for e in table.read("market", "1d")] == [1, 3]
    assert [e.made_at for e in table.read("market", "1d")] == [NOW, NOW - pd.Timedelta("3650D")]


def test_a_table_of_many_small_files_is_written_anew_and_loses_nothing(tmp_path) -> None:
    table = NightTable.under(tmp_path)
    entered = [table.enter([entry(data_version=i)])[0] for i in range(60)]
    assert len(table.table.files()) < 40
    assert table.read("market", "1d") == tuple(entered)


def test_nothing_entered_makes_no_version(tmp_path) -> None:
    table = NightTable.under(tmp_path)
    assert table.enter([]) == ()
    assert not table.table.exists()


def test_the_store_makes_the_table_and_verifies_it(tmp_path) -> None:
    store = BarStore(tmp_path / "store")
    store.prepare()
    table = NightTable.under(store.root)
    table.enter([entry()])
    assert (store.verify(), store.version("nights")) == ([], 1)
    (name,) = table.table.files()
    (store.root / "nights" / name).write_bytes(b"PAR1")
    assert any("nights" in problem for problem in store.verify())


def test_a_table_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch) -> None:
    import deltalake

    table = NightTable.under(tmp_path)
    table.enter([entry()])

    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(deltalake, "write_deltalake", full)
    with pytest.raises(StoreError, match="No space left"):
        table.enter([entry(state="done")])
    assert [e.state for e in table.read("market", "1d")] == ["begun"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"state": "over"}, "no state 'over'"), ({"made_at": pd.Timestamp("2025-03-10")}, "made_at .* has no time zone")],
)
def test_an_entry_that_means_nothing_is_refused(changes, says) -> None:
    with pytest.raises(SchemaError, match=says):
        entry(**changes)
