"""What baselines have learned, as bytes that hold it exactly: arrays by safetensors, the rest as JSON, no pickle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.baselines.boosting import BoostedFit
from fints.baselines.per_series import PerSeriesForecaster, SeriesFit
from fints.baselines.trees import Trees
from fints.conformal import ResidualQuantiles
from fints.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.forecast import Forecaster

    Arrays = dict[str, np.ndarray[Any, Any]]

FORMAT = 1
"""Version of the layout. A reader refuses any other one."""


def to_bytes(model: Forecaster) -> bytes | None:
    """Write down what a fitted baseline has learned; None of one that cannot be written as plain arrays.

    Parameters
    ----------
    model : Forecaster
        HAR, for instance, or gradient boosting.
    """
    from safetensors.numpy import save

    fits: Mapping[str, SeriesFit] = model.fits if isinstance(model, PerSeriesForecaster) else {}
    kinds = {type(fit) for fit in fits.values()}
    if len(kinds) != 1 or not kinds <= {SeriesFit, BoostedFit}:
        return None
    card: dict[str, Any] = {"format": FORMAT, "name": model.name, "h": model.h, "series": list(fits)}
    card["fallbacks"] = [fit.fallback for fit in fits.values()]
    arrays: Arrays = {}
    for i, fit in enumerate(fits.values()):
        arrays |= {f"offsets/{i}": fit.bands.offsets, f"coefficients/{i}": fit.coefficients}
    boosted = [fit for fit in fits.values() if isinstance(fit, BoostedFit)]
    if boosted:
        grown = boosted[0].trees
        trees = grown if isinstance(grown, Trees) else Trees.of(grown)
        if trees is None or any(fit.trees is not grown for fit in boosted):
            return None
        card |= {"columns": list(boosted[0].columns), "start": trees.start.hex()}
        arrays |= {"sizes": trees.sizes, **{f"nodes/{name}": field for name, field in trees.nodes.items()}}
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return bytes(save(plain, metadata={"plain": json.dumps(card)}))


def from_bytes(model: Forecaster, content: bytes) -> PerSeriesForecaster[Any]:
    """Return a fitted baseline from what `to_bytes` wrote.

    Parameters
    ----------
    model : Forecaster
        Unfitted, made with the same settings: it says what is read. It stays as it is.
    content : bytes

    Raises
    ------
    BundleError
        If it is something else, damaged, of another version, or of another model.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        size = int.from_bytes(content[:8], "little")
        card = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["plain"])
        told = card["format"], card["name"], card["h"]
        if not isinstance(model, PerSeriesForecaster) or told != (FORMAT, model.name, model.h):
            raise BundleError(f"what {model.name} learned cannot be read from what {told[1]} did; fit it anew")
        return model.having(_fits(card, load(content)))
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"what {model.name} learned cannot be read: {error!r}; fit it anew") from error


def _fits(card: Mapping[str, Any], arrays: Arrays) -> dict[str, SeriesFit]:
    trees = None
    if "start" in card:
        nodes = {name.removeprefix("nodes/"): array for name, array in arrays.items() if name.startswith("nodes/")}
        trees = Trees(float.fromhex(card["start"]), arrays["sizes"], nodes)
    fits: dict[str, SeriesFit] = {}
    for i, (name, fallback) in enumerate(zip(card["series"], card["fallbacks"], strict=True)):
        bands, coefficients = ResidualQuantiles(arrays[f"offsets/{i}"]), arrays[f"coefficients/{i}"]
        if trees is None:
            fits[str(name)] = SeriesFit(bands=bands, coefficients=coefficients, fallback=str(fallback))
        else:
            columns = tuple(map(str, card["columns"]))
            fits[str(name)] = BoostedFit(
                bands=bands, coefficients=coefficients, fallback=str(fallback), trees=trees, columns=columns
            )
    return fits
