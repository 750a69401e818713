from __future__ import annotations

import pandas as pd
import pytest

from fints.bars.forecasts import FORECAST_COLUMNS, QUANTILE_COLUMNS, ForecastTable
from fints.bars.store import BarStore
from fints.errors import SchemaError, StoreError


@pytest.fixture
def store(tmp_path) -> BarStore:
    return BarStore(tmp_path / "store")


def forecasts(
    as_of: str = "2018-11-20", unique_id: str = "^GSPC", target: str = "log_volume", **columns
) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "dataset": "indices",
            "as_of": pd.Timestamp(as_of),
            "unique_id": unique_id,
            "target": target,
            "interval": "1d",
            "ds": pd.to_datetime(["2018-11-21", "2018-11-23"]),
            "step": [1, 2],
            "model": "HAR",
            "model_version": "1",
            "data_version": 3,
            "mean": [1.0, 2.0],
            **{name: [float(place), float(place)] for place, name in enumerate(QUANTILE_COLUMNS)},
        }
    )
    return frame.assign(**columns)


def test_forecasts_are_read_back(store) -> None:
    store.write_forecasts(forecasts())
    read = store.read_forecasts()
    assert list(read.columns) == list(FORECAST_COLUMNS)
    columns = forecasts().columns
    pd.testing.assert_frame_equal(read[columns], forecasts().astype(read[columns].dtypes))
    assert read["created_at"].dt.tz is not None


def test_the_same_night_twice_leaves_one_set(store) -> None:
    for _ in range(2):
        store.write_forecasts(forecasts())
    assert len(store.read_forecasts()) == 2


def test_a_set_is_replaced_as_a_whole_and_others_stay(store) -> None:
    for other in (
        forecasts(),
        forecasts(target="log_range"),
        forecasts(unique_id="^IXIC"),
        forecasts(as_of="2018-11-19"),
        forecasts(as_of="2018-10-01"),
        forecasts(interval="1h"),
        forecasts(dataset="five days ahead"),
    ):
        store.write_forecasts(other)
    store.write_forecasts(forecasts(mean=[7.0, 7.0]).iloc[:1])
    assert len(store.read_forecasts()) == 13
    asked = store.read_forecasts(as_of="2018-11-20", dataset="indices", unique_id="^GSPC", target="log_volume")
    assert asked[asked["interval"] == "1d"]["mean"].tolist() == [7.0]


def test_old_forecasts_stay_readable_by_version(store) -> None:
    first = store.write_forecasts(forecasts())
    store.write_forecasts(forecasts(mean=[7.0, 7.0]))
    assert store.read_forecasts(version=first)["mean"].tolist() == [1.0, 2.0]


def test_an_as_of_instant_is_taken_to_utc(store) -> None:
    store.write_forecasts(forecasts(as_of="2018-11-20T18:00-05:00"))
    assert store.read_forecasts()["as_of"].tolist() == [pd.Timestamp("2018-11-20 23:00")] * 2
    assert len(store.read_forecasts(as_of="2018-11-20T18:00-05:00")) == 2


def test_quantiles_may_be_absent(store) -> None:
    store.write_forecasts(forecasts().drop(columns=["q025", "q975"]))
    assert store.read_forecasts()["q025"].isna().all()


@pytest.mark.parametrize("unique_id", ["a'b", "../x", "NA"])
def test_hostile_names_are_data(store, unique_id) -> None:
    for _ in range(2):
        store.write_forecasts(forecasts(unique_id=unique_id))
    assert len(store.read_forecasts(unique_id=unique_id)) == 2


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (forecasts().drop(columns="step"), "lacks .*step"),
        (forecasts().drop(columns="dataset"), "lacks .*dataset"),
        (forecasts(dataset=None), "'dataset' of a forecasts frame has missing"),
        (forecasts(q51=1.0), "unknown columns .*q51"),
        (forecasts(model=None), "'model' of a forecasts frame has missing"),
    ],
)
def test_a_frame_of_another_shape_is_refused(store, frame, message) -> None:
    with pytest.raises(SchemaError, match=message):
        store.write_forecasts(frame)


def test_no_rows_change_nothing(store) -> None:
    assert store.write_forecasts(forecasts().iloc[:0]) == 0


def test_a_table_that_lacks_a_column_is_refused_in_words_and_left_as_it_is(store) -> None:
    """Forecasts that an unreleased fints wrote had no dataset."""
    from deltalake import DeltaTable, write_deltalake

    store.write_forecasts(forecasts())
    folder = store.root / "forecasts"
    old = DeltaTable(str(folder)).to_pyarrow_table().drop_columns(["dataset"])
    write_deltalake(str(folder), old, mode="overwrite", schema_mode="overwrite", partition_by=["month"])
    version = DeltaTable(str(folder)).version()
    for use in (store.read_forecasts, lambda: store.write_forecasts(forecasts())):
        with pytest.raises(StoreError, match=r"no column 'dataset': .*Move the folder away"):
            use()
    assert DeltaTable(str(folder)).version() == version


def test_what_others_take_the_place_of_is_set_aside_once_and_both_are_there_to_be_scored(store) -> None:
    first, second = (pd.Timestamp(f"2018-11-{day}T22:00Z") for day in (20, 27))
    store.write_forecasts(forecasts(created_at=first))
    store.write_forecasts(forecasts(unique_id="^IXIC", created_at=first))
    table = ForecastTable.under(store.root)
    assert table.read_superseded().empty
    for _ in range(2):  # the second time as after a run that was killed and repeated
        store.write_forecasts(forecasts(created_at=second, mean=[3.0, 4.0]))
    assert store.read_forecasts(unique_id="^GSPC")["mean"].tolist() == [3.0, 4.0]
    aside = table.read_superseded()
    assert aside[["unique_id", "step", "mean"]].to_numpy().tolist() == [["^GSPC", 1, 1.0], ["^GSPC", 2, 2.0]]
    assert aside["created_at"].eq(first).all()
    both = table.since(pd.Timestamp("2018-11-20"), "log_volume", ("indices", "1d"))
    assert both.groupby("unique_id")["created_at"].nunique().to_dict() == {"^GSPC": 2, "^IXIC": 1}
    assert store.verify() == []


def test_while_superseded_forecasts_are_damaged_nights_are_stored_but_none_takes_the_place_of_another(store) -> None:
    first, second = (pd.Timestamp(f"2018-11-{day}T22:00Z") for day in (20, 27))
    for at in (first, second):
        store.write_forecasts(forecasts(created_at=at))
    for entry in (store.root / "superseded" / "_delta_log").glob("*.json"):
        entry.write_text("{")
    store.write_forecasts(forecasts(as_of="2018-11-27", created_at=second))
    with pytest.raises(StoreError, match="superseded"):
        store.write_forecasts(forecasts(mean=[7.0, 7.0], created_at=pd.Timestamp("2018-11-28T22:00Z")))
    assert store.read_forecasts()["mean"].tolist() == [1.0, 2.0, 1.0, 2.0]


def test_a_set_that_a_killed_run_left_in_both_tables_counts_once(store) -> None:
    made = pd.Timestamp("2018-11-20T22:00Z")
    store.write_forecasts(forecasts(created_at=made))
    table = ForecastTable.under(store.root)
    held = table.read()
    table._set_aside(held.assign(month="2018-11"))
    assert len(table.read_superseded()) == len(held)
    assert len(table.since(pd.Timestamp("2018-11-20"), "log_volume", ("indices", "1d"))) == len(held)
