from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

from pipelines.backtest_note import describe, describe_model

HOSTILE = "<img src=x onerror=alert(1)>"


def test_names_are_no_elements_of_the_description_and_what_is_less_stays_less() -> None:
    said = (f"{HOSTILE} is better than HAR (p < 0.001).", "One of two pairs differs.")
    board = pd.DataFrame({"RMSE": [0.1]}, index=pd.Index([HOSTILE], name="model"))
    scores = SimpleNamespace(
        board=board, target=SimpleNamespace(headlines=lambda: said, in_brief=lambda: f"{HOSTILE} beats HAR")
    )
    note = describe({"log_volume": scores}, {"Report": "#/report"})
    first, second, *_ = note.split("\n\n")
    assert first == "&lt;img src=x onerror=alert(1)> beats HAR. [Report](#/report)"
    assert second == "&lt;img src=x onerror=alert(1)> is better than HAR (p < 0.001)."
    assert "<img" not in note
    found = SimpleNamespace(
        target="log_volume", result=SimpleNamespace(failures={HOSTILE: "</p>"}), said_of=lambda _: [said[0]]
    )
    own = describe_model(found, HOSTILE)
    assert "<img" not in own
    assert "</p>" not in own
