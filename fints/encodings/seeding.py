"""The lines of a plan that the planes of an encoding can take."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fints.plan import FrequencyPlan, Line


def seeded_lines(plan: FrequencyPlan, planes: int, kind: str, share: str) -> tuple[Line, ...]:
    """Share planes out among the strongest lines of a plan, and warn of those that are left out.

    Parameters
    ----------
    plan : FrequencyPlan
    planes : int
    kind : str
        Of the encoding, for the warning.
    share : str
        Name of its option that decides how many planes there are.

    Returns
    -------
    tuple of Line, length `planes`
    """
    kept = plan.strongest(planes)
    left_out = plan.lost(kept)
    if left_out:
        warnings.warn(
            f"{kind!r} leaves out {', '.join(left_out)}: the plan has {len(plan.lines)} lines, but the planes for them "
            f"are {planes}; widen the heads, raise {share}, or pass plan.strongest({planes})",
            UserWarning,
            stacklevel=2,
        )
    return kept.allocate(planes)
