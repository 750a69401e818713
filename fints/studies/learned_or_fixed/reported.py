"""What was reported of learned and fixed frequencies, and whether its sign is found here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd

from fints.studies.comparison.wording import times
from fints.studies.findings import Table
from fints.studies.learned_or_fixed.arms import COSINE, COSINE_LEARNED, FAST, FIXED, PRIOR, ROPE, ZERO_FAST

if TYPE_CHECKING:
    from fints.studies.comparison import Contrast, Results


@dataclass(frozen=True, slots=True)
class Claim:
    """A difference that was reported.

    Parameters
    ----------
    text : str
    figure : str
        As reported, of the mean average precision over the production model's.
    first, second : str
        The arms that stand for it here.
    error : {"lower", "higher"}
        Of the first over the second, if it is so here too.
    """

    text: str
    figure: str
    first: str
    second: str
    error: Literal["lower", "higher"]

    def sign(self, contrast: Contrast) -> str:
        """Say whether a contrast of its two arms has the reported sign."""
        match contrast.ruling:
            case "equal":
                return "no difference"
            case "undecided":
                leans = "lower" if contrast.times.mean < 1 else "higher"
                return f"cannot tell (leans {'the same' if leans == self.error else 'the other'} way)"
            case ruling:
                return "the same" if ruling == self.error else "the opposite"


CLAIMS = (
    Claim("learned from zero is worse than the control", "−1.44 %", ZERO_FAST, ROPE, "higher"),
    Claim("fixed, Gaussian law, is better than the control", "+3.61 %", FIXED, ROPE, "lower"),
    Claim("learned from the Gaussian law is better than the control", "+3.23 %", PRIOR, ROPE, "lower"),
    Claim("learned from zero is worse than from the law", "−1.44 against +3.23 %", ZERO_FAST, FAST, "higher"),
    Claim("learning costs the Gaussian law something", "+3.61 to +3.23 %", PRIOR, FIXED, "higher"),
    Claim("learning gives the cosine law something", "+1.96 to +2.01 %", COSINE_LEARNED, COSINE, "lower"),
)


def found_here(results: Results) -> list[tuple[Claim, Contrast, str]]:
    """List every claim with each contrast that speaks of it, and what that says of its sign."""
    return [
        (claim, contrast, claim.sign(contrast))
        for claim in CLAIMS
        for contrast in results.contrasts
        if (contrast.first, contrast.second) == (claim.first, claim.second)
    ]


def reported_table(results: Results) -> Table | None:
    """Return claims and signs as a table; None where nothing speaks of them."""
    rows = [
        {
            "reported": claim.text,
            "by how much": claim.figure,
            "here": f"{claim.first} / {claim.second}",
            "task": contrast.place.task,
            "mode": contrast.place.mode,
            "times the error": times(contrast).replace(" times", ""),
            "sign": sign,
        }
        for claim, contrast, sign in found_here(results)
    ]
    return Table("What was reported, and its sign here", pd.DataFrame(rows)) if rows else None
