"""Options of encodings that a search may turn, wherever in a combination the encoding stands."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.encodings.combine import SplitConfig, SumConfig
from fints.encodings.registry import encoding_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.encodings import EncodingConfig

OPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("cycle", "share"): "share",
        ("cycle", "base"): "base",
        ("cycle", "learn"): "learn",
        ("cycle", "cycle.learn"): "learn",
        ("clock", "share"): "share",
        ("clock", "base"): "base",
        ("clock", "learn"): "learn",
        ("clock", "clock.sigma_over_period"): "sigma_over_period",
        ("clock", "clock.truncation"): "truncation",
        ("clock", "clock.law"): "law",
        ("t_rope", "learn"): "learnable",
        ("t_rope", "t_rope.sigma"): "sigma",
        ("t_rope", "t_rope.epoch"): "epoch",
        ("t_rope", "t_rope.shared"): "shared",
        ("t_rope", "t_rope.plan_share"): "plan_share",
        ("rope", "base"): "base",
    }
)
"""Option of an encoding's settings that a parameter of the search stands for, by kind and parameter."""

PARTS = 2
"""Of a split whose shares are searched."""


def kinds_of(encoding: EncodingConfig) -> set[str]:
    """Return the kinds of which an encoding is made."""
    match encoding:
        case SplitConfig():
            return {"split"}.union(*(kinds_of(part.encoding) for part in encoding.parts))
        case SumConfig():
            return {"sum"}.union(*(kinds_of(part) for part in encoding.parts))
        case _:
            return {encoding.kind}


def listens(encoding: EncodingConfig, parameter: str) -> bool:
    """Tell whether a parameter changes anything of an encoding."""
    if parameter == "split":
        return isinstance(encoding, SplitConfig) and len(encoding.parts) == PARTS
    return any((kind, parameter) in OPTIONS for kind in kinds_of(encoding))


def turned(encoding: EncodingConfig, values: Mapping[str, object]) -> EncodingConfig:
    """Return an encoding with options set by the parameters of a search.

    Parameters
    ----------
    encoding : EncodingConfig
    values : mapping
        By parameter; those that mean nothing to an encoding are passed over.

    Raises
    ------
    EncodingError
        If a value is out of range.
    """
    match encoding:
        case SplitConfig():
            shares = [part.share for part in encoding.parts]
            if "split" in values and len(shares) == PARTS:
                first = float(values["split"])  # type: ignore[arg-type]
                shares = [first, 1 - first]
            parts = [
                {"share": share, "encoding": turned(part.encoding, values).model_dump()}
                for share, part in zip(shares, encoding.parts, strict=True)
            ]
            return encoding_config({**encoding.model_dump(), "parts": parts})
        case SumConfig():
            parts = [turned(part, values).model_dump() for part in encoding.parts]
            return encoding_config({**encoding.model_dump(), "parts": parts})
        case _:
            kind = encoding.kind
            changes = {OPTIONS[kind, name]: value for name, value in values.items() if (kind, name) in OPTIONS}
            if changes.get("shared"):
                # A transposed key would then depend on sums of dates, of which forecasts bring only new ones.
                changes["non_stationary"] = False
            return encoding_config({**encoding.model_dump(), **changes}) if changes else encoding


def settled(encoding: EncodingConfig) -> EncodingConfig:
    """Return an encoding whose cycles keep the plan's periods; what is tied to no cycle goes on learning."""
    return turned(encoding, {"cycle.learn": False}) if listens(encoding, "cycle.learn") else encoding
