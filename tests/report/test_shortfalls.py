from __future__ import annotations

import pandas as pd

from fints.bars.finding import Finding, findings_frame
from fints.report.shortfalls import MOST_NAMED, findings_in_words


def finding(symbol: str, first: str, last: str, kind: str = "stale", severity: str = "gap") -> Finding:
    values = {"first": first, "last": last, "count": 1}
    return Finding(symbol, "1d", pd.Timestamp(first), pd.Timestamp(first, tz="UTC"), severity, kind, "why", values)


def test_symbols_whose_bar_has_not_come_are_named_with_the_session() -> None:
    found = [finding("BBB", "2026-10-09", "2026-10-09"), finding("A&B", "2026-10-08", "2026-10-09")]
    assert findings_in_words(findings_frame(found)) == (
        "data: no bar yet of 2026-10-09: BBB; no bar yet of 2026-10-08 to 2026-10-09: A&B (listed in the report)"
    )


def test_of_many_symbols_a_handful_is_named() -> None:
    found = [finding(f"S{number}", "2026-10-09", "2026-10-09") for number in range(MOST_NAMED + 2)]
    assert "S0, S1, S2, S3, S4 and 2 more (" in findings_in_words(findings_frame(found))


def test_other_findings_are_counted() -> None:
    gap = finding("AAA", "2026-10-01", "2026-10-02", kind="missing_sessions")
    odd = finding("AAA", "2026-10-01", "2026-10-01", kind="duplicate", severity="quarantine")
    assert findings_in_words(findings_frame([gap, odd])) == "data: 1 gap; 1 in quarantine (listed in the report)"
    assert findings_in_words(findings_frame([])) == "data: no findings"
