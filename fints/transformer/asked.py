"""What is asked of a fitted model: the last window of every series, and the bars that come after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.series.asof import known_instants
from fints.series.windows import Tape
from fints.transformer.peers.table import last_tokens

if TYPE_CHECKING:
    import pandas as pd

    from fints.series.windows import Windows
    from fints.transformer.design import Fitted
    from fints.transformer.peers.attention import PeerTokens


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Bars to forecast, and what they are forecast from.

    Parameters
    ----------
    future : pandas.DataFrame
        From `fints.series.future_frame`.
    windows : Windows
        The last one of every series.
    peers : PeerTokens, optional
        What each of them knows of the others; None without cross-asset attention.
    """

    future: pd.DataFrame
    windows: Windows
    peers: PeerTokens | None


def ask(
    fitted: Fitted,
    history: pd.DataFrame,
    size: int,
    future: pd.DataFrame,
    known_at: str | pd.Timestamp | None = None,
) -> Asked:
    """Cut the windows that forecasts are made from.

    Parameters
    ----------
    fitted : Fitted
    history : pandas.DataFrame
        A valid panel with the columns that the model reads, every series at least as long as the context.
    size : int
        Bars of context.
    future : pandas.DataFrame
        The bars asked for, from `fints.series.future_frame`.
    known_at : date or instant, optional
        The one given to `future_frame`.
    """
    if fitted.links is None:
        history = history.groupby("unique_id", sort=False).tail(size).reset_index(drop=True)
    tape = Tape.from_panel(history, fitted.past, fitted.calendar)
    peers = None
    if fitted.links is not None:
        exchanges = history.drop_duplicates("unique_id")["exchange"].tolist()
        instants = known_instants(tape, exchanges, known_at)
        peers = last_tokens(tape, fitted.start, size, fitted.links, instants)
    return Asked(future, tape.last(size, future, fitted.calendar, known_at), peers)
