"""Failures met in public, as small literal frames; the numbers are those of the reports or of the market."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fints.bars.finding import KINDS, findings_frame
from fints.bars.quality import check_bars
from fints.bars.schema import validate_bars
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import SyntheticConfig
from fints.bars.sources.sample import sample_bars
from fints.bars.sources.synthetic import SyntheticSource
from fints.errors import UnknownNameError

NOW = pd.Timestamp("2024-06-01", tz="UTC")
WEEK = {"2018-12-17": 100.0, "2018-12-18": 101.0, "2018-12-19": 102.0, "2018-12-20": 103.0, "2018-12-21": 104.0}


def kinds(findings) -> list[tuple[str, str]]:
    return sorted((finding.severity, finding.kind) for finding in findings)


def test_good_bars_pass_without_a_finding(make_bars) -> None:
    kept, findings = check_bars(make_bars(WEEK), now=NOW)
    assert findings == []
    pd.testing.assert_frame_equal(kept, validate_bars(make_bars(WEEK)))


def test_the_sample_has_two_days_without_volume_and_nothing_else() -> None:
    kept, findings = check_bars(sample_bars(), now=NOW)
    assert len(kept) == 2 * 5031
    assert {(f.symbol, f.kind, f.severity, str(f.session.date())) for f in findings} == {
        ("^IXIC", "zero_volume", "suspect", "2015-05-12"),
        ("^IXIC", "zero_volume", "suspect", "2018-01-09"),
    }


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("missing_price", {"high": np.nan}),
        ("missing_price", {"close": np.inf}),
        ("non_positive_price", {"low": 0.0}),
        ("high_below_low", {"high": 99.0, "low": 101.5}),
        ("open_outside_range", {"open": 103.5}),
        ("close_outside_range", {"close": 99.5}),
        ("negative_volume", {"volume": -1}),
    ],
)
def test_a_row_that_cannot_be_true_is_set_aside_with_its_values(make_bars, kind, row) -> None:
    bars = make_bars(WEEK)
    for column, value in row.items():
        bars.loc[1, column] = value
    kept, findings = check_bars(bars, now=NOW)
    finding = next(f for f in findings if f.severity == "quarantine")
    assert (finding.kind, finding.row, finding.symbol) == (kind, 1, "AAA")
    assert finding.values["session"] == pd.Timestamp("2018-12-18")
    assert "2018-12-18" not in kept["session"].astype(str).tolist()
    # what is set aside leaves a gap, which is named too
    assert ("gap", "missing_sessions") in kinds(findings)


def test_float_noise_around_the_range_is_no_violation(make_bars) -> None:
    bars = make_bars(WEEK)
    bars.loc[1, "open"] = bars.loc[1, "high"] * (1 + 1e-12)
    assert check_bars(bars, now=NOW)[1] == []


def test_zero_volume_keeps_the_price(make_bars) -> None:
    bars = make_bars(WEEK)
    bars.loc[2, "volume"] = 0
    kept, findings = check_bars(bars, now=NOW)
    assert kinds(findings) == [("suspect", "zero_volume")]
    assert len(kept) == 5


def test_of_rows_with_one_key_the_newest_fetch_wins(make_bars) -> None:
    old = make_bars(WEEK)
    new = make_bars({"2018-12-19": 102.5}, fetched_at=pd.Timestamp("2024-02-01", tz="UTC"))
    for order in ([old, new], [new, old]):
        kept, findings = check_bars(pd.concat(order, ignore_index=True), now=NOW)
        assert kept.set_index("session").loc["2018-12-19", "close"] == 102.5
        assert kinds(findings) == [("quarantine", "duplicate")]
        assert findings[0].values["close"] == 102.0


def test_a_doubled_last_row_is_one_bar(make_bars) -> None:
    # the live quote comes as a second row of the newest session; the later snapshot has traded more
    bars = pd.concat([make_bars(WEEK), make_bars({"2018-12-21": 104.4}, volume=1500)], ignore_index=True)
    kept, _ = check_bars(bars, now=NOW)
    assert kept["volume"].tolist() == [1000] * 4 + [1500]


@given(order=st.permutations(range(8)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12)
def test_the_order_of_rows_changes_nothing(make_bars, order) -> None:
    bars = pd.concat(
        [make_bars(WEEK), make_bars({"2018-12-19": 102.5, "2018-12-22": 100.0, "2018-12-24": 0.0})], ignore_index=True
    )
    kept, findings = check_bars(bars, now=NOW)
    again, found = check_bars(bars.iloc[list(order)], now=NOW)
    pd.testing.assert_frame_equal(again, kept)
    pd.testing.assert_frame_equal(findings_frame(found), findings_frame(findings))


def test_a_weekend_row_of_an_equity_is_set_aside(make_bars) -> None:
    bars = make_bars({"2018-12-21": 100.0, "2018-12-22": 100.0, "2018-12-24": 101.0})
    kept, findings = check_bars(bars, now=NOW)
    assert len(kept) == 2
    assert [(f.kind, f.reason) for f in findings] == [("non_session", "XNYS has no session on 2018-12-22, a Saturday")]


def test_a_row_of_nan_on_a_holiday_leaves_no_gap(make_bars) -> None:
    bars = make_bars({"2018-12-24": 100.0, "2018-12-25": np.nan, "2018-12-26": 101.0})
    assert kinds(check_bars(bars, now=NOW)[1]) == [("quarantine", "non_session")]


def test_known_closures_are_no_gaps(make_bars) -> None:
    around_the_attack = make_bars({"2001-09-10": 100.0, "2001-09-17": 95.0})
    day_of_mourning = make_bars({"2018-12-04": 100.0, "2018-12-06": 101.0}, "BBB")
    assert check_bars(pd.concat([around_the_attack, day_of_mourning]), now=NOW)[1] == []


def test_a_missing_session_is_named_by_its_date_and_not_filled(make_bars) -> None:
    bars = make_bars({"2018-12-17": 1e2, "2018-12-19": 1e2, "2018-12-24": 1e2})
    kept, findings = check_bars(bars, now=NOW)
    assert len(kept) == 3
    assert [f.reason for f in findings] == [
        "no bar for 2018-12-18",
        "no bar for 2018-12-20 to 2018-12-21 (2 sessions)",
    ]
    assert findings[1].values == {"first": "2018-12-20", "last": "2018-12-21", "count": 2}


def test_gaps_of_one_symbol_do_not_depend_on_another(make_bars) -> None:
    early, late = make_bars({"2018-01-02": 1e2, "2018-01-03": 1e2}), make_bars(WEEK, "BBB")
    assert check_bars(pd.concat([early, late]), now=NOW)[1] == []


@pytest.mark.parametrize(("clock", "final"), [("21:14:59", False), ("21:15:00", True)])
def test_a_bar_is_final_fifteen_minutes_after_the_close(make_bars, clock, final) -> None:
    now = pd.Timestamp(f"2018-12-21 {clock}", tz="UTC")
    kept, findings = check_bars(make_bars(WEEK), now=now)
    assert (len(kept) == 5) is final
    assert kinds(findings) == ([] if final else [("quarantine", "not_final")])


def test_finality_on_a_half_day_is_earlier(make_bars) -> None:
    half_day = make_bars({"2018-12-24": 100.0})
    assert len(check_bars(half_day, now=pd.Timestamp("2018-12-24 18:15", tz="UTC"))[0]) == 1
    assert len(check_bars(half_day, now=pd.Timestamp("2018-12-24 18:14", tz="UTC"))[0]) == 0


def test_an_unapplied_split_that_stays_is_a_suspect(make_bars) -> None:
    # Apple's 7-for-1 of 2014-06-09, unadjusted
    bars = make_bars({"2014-06-05": 647.35, "2014-06-06": 645.57, "2014-06-09": 93.70, "2014-06-10": 94.25})
    kept, findings = check_bars(bars, now=NOW)
    assert len(kept) == 4
    assert [(f.kind, f.severity, str(f.session.date())) for f in findings] == [("split_jump", "suspect", "2014-06-09")]


def test_a_split_that_the_adjusted_close_knows_is_said_to_be_known(make_bars) -> None:
    bars = make_bars({"2014-06-05": 647.35, "2014-06-06": 645.57, "2014-06-09": 93.70}, adj_close=[92.48, 92.22, 93.70])
    (finding,) = check_bars(bars, now=NOW)[1]
    assert finding.severity == "suspect"
    assert "the adjusted close knows of it" in finding.reason


def test_a_jump_on_the_newest_row_waits_for_confirmation(make_bars) -> None:
    bars = make_bars({"2014-06-05": 647.35, "2014-06-06": 645.57, "2014-06-09": 93.70})
    kept, findings = check_bars(bars, now=NOW)
    assert kinds(findings) == [("quarantine", "unconfirmed_jump")]
    assert len(kept) == 2


def test_prices_in_pence_for_two_days_are_set_aside(make_bars) -> None:
    bars = make_bars(dict(zip(WEEK, [100.0, 101.0, 10150.0, 10230.0, 102.0], strict=True)))
    bars = bars.assign(high=bars["close"] * 1.01, low=bars["close"] * 0.99)
    kept, findings = check_bars(bars, now=NOW)
    assert kept["close"].tolist() == [100.0, 101.0, 102.0]
    assert [f.kind for f in findings] == ["price_excursion", "price_excursion", "missing_sessions"]


def test_a_crash_that_is_no_split_is_nothing_to_report(make_bars) -> None:
    # the S&P 500 on 1987-10-19
    bars = make_bars({"1987-10-15": 298.08, "1987-10-16": 282.70, "1987-10-19": 224.84, "1987-10-20": 236.83})
    assert check_bars(bars, now=NOW)[1] == []


def test_a_symbol_that_another_company_had_is_two_instruments(make_bars) -> None:
    # EEM before 2003-04-11
    bars = make_bars({"2002-12-04": 9.9, "2002-12-05": 9.98, "2003-04-11": 99.7, "2003-04-14": 101.0})
    findings = check_bars(bars, now=NOW)[1]
    assert {f.kind for f in findings} == {"long_hole", "recycled_symbol", "split_jump"}
    hole = next(f for f in findings if f.kind == "long_hole")
    assert hole.values == {"first": "2002-12-06", "last": "2003-04-10", "count": 86}


def test_a_close_only_series_is_kept_and_said_to_be_one() -> None:
    kept, findings = check_bars(sample_bars(["^VIX"]), now=NOW)
    assert [(f.kind, f.severity) for f in findings] == [("close_only", "suspect")]
    assert (kept["open"] == kept["close"]).all()
    assert kept["volume"].isna().all()


def test_single_missing_volumes_are_suspects(make_bars) -> None:
    bars = make_bars(WEEK)
    bars.loc[3, "volume"] = pd.NA
    assert [(f.kind, str(f.session.date())) for f in check_bars(bars, now=NOW)[1]] == [("missing_volume", "2018-12-20")]


def test_an_unknown_exchange_is_named(make_bars) -> None:
    with pytest.raises(UnknownNameError, match="XNYZ"):
        check_bars(make_bars(WEEK, exchange="XNYZ"), now=NOW)


def hourly(exchange: str, start: str, end: str) -> pd.DataFrame:
    config = SyntheticConfig(exchange=exchange, interval="1h", start=start, end=end, names=("AAA",))
    return SyntheticSource(config).fetch(BarRequest("AAA", "1h")).bars


def test_hourly_bars_of_a_half_day_are_complete() -> None:
    bars = hourly("XNYS", "2018-11-21", "2018-11-26")
    assert bars.groupby("session").size().tolist() == [7, 4, 7]
    assert check_bars(bars, now=NOW)[1] == []


def test_missing_hours_are_named_as_one_run() -> None:
    bars = hourly("XNYS", "2018-11-21", "2018-11-26").drop(index=[2, 3, 8])
    assert [f.reason for f in check_bars(bars, now=NOW)[1]] == [
        "no bar for 2018-11-21 16:30 UTC to 2018-11-21 17:30 UTC (2 bars)",
        "no bar for 2018-11-23 15:30 UTC",
    ]


def test_a_bar_in_the_lunch_break_is_off_the_grid() -> None:
    bars = hourly("XTKS", "2018-11-21", "2018-11-22")
    lunch = bars.iloc[[0]].assign(
        start=pd.Timestamp("2018-11-21 02:30", tz="UTC"), end=pd.Timestamp("2018-11-21 03:30", tz="UTC")
    )
    kept, findings = check_bars(pd.concat([bars, lunch], ignore_index=True), now=NOW)
    assert kinds(findings) == [("quarantine", "off_grid")]
    pd.testing.assert_frame_equal(kept, validate_bars(bars))


def test_every_kind_that_the_checks_use_is_explained(make_bars) -> None:
    bars = pd.concat([make_bars({**WEEK, "2018-12-22": 1.0}), make_bars(dict.fromkeys(WEEK, -1.0), "BBB")])
    assert {finding.kind for finding in check_bars(bars, now=NOW)[1]} <= KINDS.keys()


def test_findings_make_a_sorted_frame_with_values_as_json(make_bars) -> None:
    bars = make_bars({"2018-12-17": 1e2, "2018-12-19": 1e2})
    frame = findings_frame(check_bars(bars, now=NOW)[1])
    assert frame.loc[0, "values"] == '{"count": 1, "first": "2018-12-18", "last": "2018-12-18"}'
    assert frame["session"].dtype == "datetime64[ns]"
