"""One fixed colour for every encoding and baseline, in every page, chart and run list."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.baselines.config import BaselineConfig
    from fints.encodings.config import EncodingConfig

ENCODING_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "none": "#23282f",
        "cycle": "#0072b2",
        "rope": "#d55e00",
        "alibi": "#2da596",
        "clock": "#b42d87",
        "xpos": "#874b00",
        "t_rope": "#2d96ff",
        "absolute_linear": "#0f2d96",
        "to_rope": "#ff5a78",
        "rote": "#2d3c00",
        "time_rab": "#783c4b",
        "absolute_sinusoidal": "#5a2dc3",
        "absolute_learned": "#1e69ff",
        "calendar_features": "#690069",
        "fourier_features": "#c34b5a",
        "rfr": "#2d96c3",
        "interval_bias": "#0f00ff",
    }
)
"""By kind. Any two stay apart (by 0.08 in OKLab) for readers of any colour vision, red- and green-blind ones too
(Machado, Oliveira & Fernandes 2009), and each stands out on white, with a contrast of 3 and more."""

BASELINE_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "har": "#4f5a66",
        "naive": "#8a949e",
        "seasonal_naive": "#717b86",
        "drift": "#85929b",
        "ewma": "#7b8077",
        "time_of_day": "#677277",
        "ets": "#5f6a6b",
        "arima": "#59616e",
        "garch": "#6b6a74",
        "gradient_boosting": "#3f4a52",
    }
)
"""By kind: greys, so that what is compared stands out; dashes tell them apart in charts."""

UNKNOWN = "#6f7780"
"""Of what is neither."""

VARIANT_DASHES = ("", "7 3", "2 2", "9 3 2 3")
BASELINE_DASHES = ("5 3", "2 3", "8 3 2 3", "1 2", "11 4", "4 2 1 2")

_BLACK = "#000000"
_DARKER = 0.5
_BEND, _SLOPE, _OFFSET, _POWER = 0.04045, 12.92, 0.055, 2.4


def colour(model: EncodingConfig | BaselineConfig | str) -> str:
    """Return the colour of an encoding or a baseline.

    Parameters
    ----------
    model : settings or str
        Settings, or a kind. A combination has its parts' colours mixed: as much of each as its share, or evenly.

    Returns
    -------
    str
        ``#rrggbb``.

    Examples
    --------
    >>> colour("rope")
    '#d55e00'
    """
    kind = model if isinstance(model, str) else model.kind
    parts = getattr(model, "parts", ())
    if not parts:
        return ENCODING_COLOURS.get(kind, BASELINE_COLOURS.get(kind, UNKNOWN))
    shares = [float(getattr(part, "share", 1.0)) for part in parts]
    mixed = [colour(getattr(part, "encoding", part)) for part in parts]
    return _mix(mixed, shares)


def colours(models: Mapping[str, EncodingConfig | BaselineConfig | str]) -> dict[str, str]:
    """Return the colour of every model by its name.

    Parameters
    ----------
    models : mapping of str to settings or str
        What each model is, by name; see `colour`.

    Returns
    -------
    dict of str to str
        The second model of a kind, and any other whose colour is taken, is darker, so that no two are alike.

    Examples
    --------
    >>> colours({"RoPE": "rope", "RoPE, learned": "rope"})
    {'RoPE': '#d55e00', 'RoPE, learned': '#9c4300'}
    """
    given: dict[str, str] = {}
    for name, model in models.items():
        wanted = colour(model)
        while wanted in given.values() and wanted != _BLACK:
            wanted = _mix([wanted, _BLACK], [_DARKER, 1 - _DARKER])
        given[name] = wanted
    return given


def _mix(several: Sequence[str], shares: Sequence[float]) -> str:
    """Mix light, not its codes: the mixture is never brighter than its brightest part."""
    weights = [share / sum(shares) for share in shares]
    lights = [_light(one) for one in several]
    return _code([sum(w * light[i] for w, light in zip(weights, lights, strict=True)) for i in range(3)])


def _light(code: str) -> list[float]:
    """Linear light of an sRGB code (IEC 61966-2-1)."""
    return [_linear(int(code[i : i + 2], 16) / 255) for i in (1, 3, 5)]


def _linear(value: float) -> float:
    return value / _SLOPE if value <= _BEND else ((value + _OFFSET) / (1 + _OFFSET)) ** _POWER


def _code(light: Sequence[float]) -> str:
    return "#" + "".join(f"{round(255 * _bent(value)):02x}" for value in light)


def _bent(light: float) -> float:
    return light * _SLOPE if light <= _BEND / _SLOPE else (1 + _OFFSET) * light ** (1 / _POWER) - _OFFSET


@dataclass(frozen=True, slots=True)
class Look:
    """How the line of a model is drawn.

    Parameters
    ----------
    colour : str
        ``#rrggbb``.
    dash : str
        Lengths of dashes and gaps as SVG takes them; empty for a whole line.
    """

    colour: str
    dash: str = ""


def looks(models: Mapping[str, EncodingConfig | BaselineConfig | str]) -> dict[str, Look]:
    """Return how each model is drawn: encodings in whole lines, variants of one kind and baselines dashed.

    Parameters
    ----------
    models : mapping of str to settings or str
        What each model is, by name; see `colour`.
    """
    found: dict[str, Look] = {}
    drawn: dict[str, int] = {}
    for name, shade in colours(models).items():
        model = models[name]
        kind = model if isinstance(model, str) else model.kind
        family = "baseline" if kind in BASELINE_COLOURS else kind
        turn = drawn.get(family, 0)
        drawn[family] = turn + 1
        dashes = BASELINE_DASHES if family == "baseline" else VARIANT_DASHES
        found[name] = Look(shade, dashes[turn % len(dashes)])
    return found
