from __future__ import annotations

import pandas as pd

from fints.bars.finding import Finding, findings_frame
from fints.report.shortfalls import MOST_NAMED, MOST_TOLD, findings_in_words


def finding(
    symbol: str, first: str, last: str, kind: str = "stale", severity: str = "gap", reason: str = "why"
) -> Finding:
    values = {"first": first, "last": last, "count": 1}
    return Finding(symbol, "1d", pd.Timestamp(first), pd.Timestamp(first, tz="UTC"), severity, kind, reason, values)


def aside(symbol: str, day: str, reason: str = "the high 62.48 is below the low 63.51") -> Finding:
    return finding(symbol, day, day, "high_below_low", "quarantine", reason)


def test_symbols_whose_bar_has_not_come_are_named_with_the_session() -> None:
    found = [finding("BBB", "2026-10-09", "2026-10-09"), finding("A&B", "2026-10-08", "2026-10-09")]
    assert findings_in_words(findings_frame(found)) == (
        "data: no bar yet of 2026-10-09: BBB; no bar yet of 2026-10-08 to 2026-10-09: A&B (listed in the report)"
    )


def test_of_many_symbols_a_handful_is_named() -> None:
    found = [finding(f"S{number}", "2026-10-09", "2026-10-09") for number in range(MOST_NAMED + 2)]
    assert "S0, S1, S2, S3, S4 and 2 more (" in findings_in_words(findings_frame(found))


def test_other_findings_are_counted_and_a_few_symbols_named() -> None:
    gaps = [finding(f"S{n}", "2026-10-01", "2026-10-02", kind="missing_sessions") for n in range(MOST_TOLD + 1)]
    odd = finding("AAA", "2026-10-01", "2026-10-01", kind="duplicate", severity="quarantine")
    assert findings_in_words(findings_frame([*gaps, odd])) == (
        "data: 4 gaps: S0, S1, S2 and 1 more; 1 in quarantine: AAA (listed in the report)"
    )
    assert findings_in_words(findings_frame([])) == "data: no findings"


def test_a_bar_that_came_and_was_set_aside_is_not_said_to_be_still_to_come() -> None:
    late = [finding(symbol, "2026-11-17", "2026-11-17") for symbol in ("BBB", "CCC")]
    earlier = aside("BBB", "2026-11-02")
    assert findings_in_words(findings_frame([*late, aside("CCC", "2026-11-17"), earlier])) == (
        "data: CCC: its bar of 2026-11-17 is in quarantine: the high 62.48 is below the low 63.51; "
        "no bar yet of 2026-11-17: BBB; 1 in quarantine: BBB (listed in the report)"
    )


def test_of_several_sessions_that_lack_the_one_set_aside_is_told_beside_them() -> None:
    late = finding("CCC", "2026-11-16", "2026-11-17")
    assert findings_in_words(findings_frame([late, aside("CCC", "2026-11-17", "why")])) == (
        "data: CCC: its bar of 2026-11-17 is in quarantine: why; "
        "no bar yet of 2026-11-16 to 2026-11-17: CCC (listed in the report)"
    )


def test_of_many_bars_set_aside_a_few_are_told_with_their_reason() -> None:
    names = [f"S{number}" for number in range(MOST_TOLD + 2)]
    found = [finding(name, "2026-11-17", "2026-11-17") for name in names]
    said = findings_in_words(findings_frame([*found, *(aside(name, "2026-11-17", "why") for name in names)]))
    assert said.count("its bar of 2026-11-17") == MOST_TOLD
    assert said.endswith("; 2 more of such bars in quarantine (listed in the report)")
    assert "no bar yet" not in said
