"""The study: attention across series on panels that are led or not, with three encodings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, WHOLE, Arm, Block, Comparison, Pair, Scope
from fints.studies.comparison.sample import SAMPLE
from fints.studies.cross_asset.chapters import panel_chapters
from fints.studies.cross_asset.gains import ENCODINGS, alone, together
from fints.studies.cross_asset.tasks import APART, LED, told
from fints.studies.cross_asset.trial import PanelTrial
from fints.studies.cross_asset.verdicts import verdict
from fints.studies.cross_asset.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Budget

ALONE = {kind: Arm(alone(kind), kind, plan=told) for kind in ENCODINGS}
TOGETHER = {kind: Arm(together(kind), kind, plan=told, network={"cross_asset": True}) for kind in ENCODINGS}
ARMS = tuple(arm for kind in ENCODINGS for arm in (ALONE[kind], TOGETHER[kind]))
TWO = tuple(arms[kind] for kind in ("rope", "cycle") for arms in (ALONE, TOGETHER))

PAIRS = tuple(Pair(together(kind), alone(kind)) for kind in ENCODINGS)

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope((Block((LED, APART), ARMS, (BARE,), seeds=5), Block((SAMPLE,), TWO, (WHOLE,), seeds=2))),
        "full": Scope(
            (
                Block((LED, APART), ARMS, (BARE,), seeds=10),
                Block((LED, APART), TWO, (WHOLE,), seeds=6),
                Block((SAMPLE,), TWO, (WHOLE,), seeds=5),
            )
        ),
    }
)
"""Extent of the study by budget; training is the same."""


def cross_asset() -> Comparison:
    """Return the study."""
    return Comparison(
        name="cross-asset",
        words=WORDS,
        pairs=PAIRS,
        scopes=SCOPES,
        verdict=verdict,
        chapters=panel_chapters,
        drawn=((LED.name, BARE.name), (APART.name, BARE.name)),
        unit=PanelTrial,
    )
