"""What is known of a group of claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.studies.findings import Chapter, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.claims.claim import Claim
    from fints.studies.findings import Chart


OWN = "own"
"""Stands for the source of a claim that nobody published."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A group of claims with the numbers and the pictures behind them.

    Parameters
    ----------
    title, text : str
        Of the chapter.
    claims : sequence of Claim
    holds : str
        The verdict if all of them pass.
    tables : sequence of Table
    charts : sequence of Chart
    """

    title: str
    text: str
    claims: Sequence[Claim]
    holds: str
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()

    @property
    def failed(self) -> list[Claim]:
        """The claims that do not hold."""
        return [claim for claim in self.claims if not claim.passed]

    @property
    def verdict(self) -> str:
        """One sentence: what holds, or what does not."""
        if not self.failed:
            return self.holds
        wrong = "; ".join(f"{c.statement}: stated {c.stated}, computed {c.computed_text}" for c in self.failed)
        return f"{self.title}: {len(self.failed)} of {len(self.claims)} claims do not hold. {wrong}."

    def chapter(self) -> Chapter:
        """Lay the claims out as the first table of a chapter."""
        rows = [(c.statement, c.source or OWN, str(c.stated), c.computed_text, c.result) for c in self.claims]
        columns = ["claim", "source", "stated", "computed", "result"]
        table = Table(self._caption(), pd.DataFrame(rows, columns=columns))
        return Chapter(self.title, self.text, (table, *self.tables), self.charts)

    def _caption(self) -> str:
        against = [c for c in self.claims if c.kind == "refutation"]
        kept, wrong = len(self.claims) - len(against), sum(c.kind != "refutation" for c in self.failed)
        text = f"{kept - wrong} of {kept} claims hold."
        if against:
            text += f" Rows that refute a published statement: {sum(c.passed for c in against)} of {len(against)}."
        return text
