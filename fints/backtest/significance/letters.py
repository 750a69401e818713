"""Letters that say at a glance which models differ."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def compact_letters(models: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give models letters so that two share one exactly where they could not be told apart.

    Parameters
    ----------
    models : sequence of str
        In the order of the table; ``a`` goes to the first.
    different : iterable of pairs of str
        The pairs that a test told apart, in either order.

    Returns
    -------
    dict of str to str
        By model: ``"a"``, ``"ab"`` …

    Notes
    -----
    Insert and absorb, Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons",
    Journal of Computational and Graphical Statistics 13, 456-466: from one column that holds all, each column with a
    pair that differs is split in two, and a column inside another is dropped.

    Examples
    --------
    >>> compact_letters(["HAR", "ETS", "Naive"], [("HAR", "Naive")])
    {'HAR': 'a', 'ETS': 'ab', 'Naive': 'b'}
    """
    columns = [frozenset(models)]
    for one, other in different:
        split = [part for column in columns for part in _split(column, one, other)]
        columns = [c for i, c in enumerate(split) if not any(c < d or (c == d and j < i) for j, d in enumerate(split))]
    place = {model: i for i, model in enumerate(models)}
    columns.sort(key=lambda column: sorted(place[model] for model in column))
    return {model: "".join(_letter(i) for i, column in enumerate(columns) if model in column) for model in models}


def _split(column: frozenset[str], one: str, other: str) -> list[frozenset[str]]:
    return [column - {one}, column - {other}] if {one, other} <= column else [column]


def _letter(number: int) -> str:
    """Name a column: ``a`` … ``z``, then ``a2`` …."""
    turn, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(turn + 1) if turn else "")
