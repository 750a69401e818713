"""What was revised in the bars since the night before."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from fints.bars.nights import NightEntry
    from fints.bars.store import BarStore
    from pipelines.gathered import Reading


def restated_since(
    entries: Iterable[NightEntry], begun: NightEntry, store: BarStore, reading: Reading, latest: pd.DataFrame
) -> pd.DataFrame:
    """Return what was revised since another night was made, whichever ingest met it.

    What the ingest of this very run met is not enough: it may have been stopped and run again, or the night may be run
    anew, and what was revised has to be told in the report that is read.

    Parameters
    ----------
    entries : iterable of NightEntry
        Of the ledger.
    begun : NightEntry
        The night that tells.
    store : BarStore
    reading : Reading
        Its bars.
    latest : pandas.DataFrame
        What this run's own ingest revised; it is all there is to tell where no other night was made before.

    Returns
    -------
    pandas.DataFrame
        ``fints.bars.revision.RESTATED_COLUMNS``.
    """
    before = [
        entry
        for entry in entries
        if entry.state == "done" and entry.night != begun.night and entry.made_at < begun.made_at
    ]
    if not before:
        return latest
    known = max(before, key=lambda entry: entry.made_at).data_version
    found = store.restated(known, reading.version)
    own = {*reading.symbols, *reading.aliases}
    return found[(found["interval"] == reading.interval) & found["symbol"].isin(own)].reset_index(drop=True)
