"""The fits that a night may use or judge: found, brought back, and asked again about windows that are over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from pipelines.shadow import FILE, Replay, Shadow, bar_of, whole, windows_after
from pipelines.succession import KEY, seat_of

if TYPE_CHECKING:
    from fints.champion import Seat, Standing
    from pipelines.fits import Fits
    from pipelines.shadow import Window
    from pipelines.shelf import Shelved
    from pipelines.succession import Succession

    Contender = tuple[Seat, Shelved]


@dataclass(frozen=True, slots=True, eq=False)
class Contenders:
    """Fits of one target on one night.

    Parameters
    ----------
    fits : Fits
    succession : Succession
    known : dict of Seat to Shelved or None
        Those that were asked for already; None where one cannot be had.
    """

    fits: Fits
    succession: Succession
    known: dict[Seat, Shelved | None] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """Configuration whose models are compared."""
        return self.fits.shelf.folder.name

    @property
    def h(self) -> int:
        """Bars of a window."""
        return self.fits.settings.h

    def fit(self, seat: Seat) -> Shelved | None:
        """Return a fit; None where it cannot be had."""
        if seat not in self.known:
            self.known[seat] = self.fits.recalled(seat)
        return self.known[seat]

    def find(self, version: str) -> Seat | None:
        """Find the fit of a version on the shelf, or in the registry."""
        line, _, key = version.rpartition("/")
        if line != self.line or not KEY.fullmatch(key):  # what a registry says never becomes a path as it is
            return None
        if self.fits.shelf.find(key) is None and self.succession.fetch is not None:
            self.succession.fetch(version)
        return seat_of(self.fits.shelf, key)

    def first_of(self, state: Standing) -> Contender | None:
        """Return the first fit that can be had of those that may be asked for again."""
        return next(((seat, fit) for seat in state.seats if (fit := self.fit(seat)) is not None), None)

    def newest(self) -> Contender | None:
        """Return the newest fit that lies here and knows nothing that came after this night."""
        last = self.fits.panel["ds"].max()
        seats = (seat_of(self.fits.shelf, key) for key in reversed(self.fits.shelf.keys()))
        early = (seat for seat in seats if seat is not None and pd.Timestamp(seat.until) <= last)
        return next(((seat, fit) for seat in early if (fit := self.fit(seat)) is not None), None)

    def windows(self, start: pd.Timestamp) -> list[Window]:
        """Return the windows that began after an instant and are over."""
        return windows_after(self.fits.panel, start, self.h)

    def windows_since(self, night: pd.Timestamp) -> list[Window]:
        """Return the windows that began after the last bar of the night of an as-of, and are over."""
        return self.windows(bar_of(self.fits.panel, night))

    def trial(self, state: Standing) -> list[Window]:
        """Return the windows that neither the champion nor its challenger was fitted on; none without a challenger."""
        if state.challenger is None:
            return []
        return self.windows(pd.Timestamp(max(state.challenger.until, state.champion.until)))

    def over(self, state: Standing) -> int:
        """Count the windows of the trial that are over, side by side."""
        return whole(self.trial(state), self.h) if state.challenger is not None else 0

    def replay(self, seat: Seat) -> Replay | None:
        """Return a fit as it can be asked again; None where it cannot be had."""
        fit = self.fit(seat)
        if fit is None:
            return None
        by = self.succession.decided_by
        shadow = Shadow.open(self.fits.shelf.folder / seat.key / FILE, keep=by is None)
        learnt = self.fits.lesson_of(seat)
        return Replay(fit, learnt, self.fits.panel, self.fits.settings, shadow, self.succession.now, by)
