"""Grown trees as plain arrays, which can be kept without pickle and give the same forecasts to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray
    from sklearn.ensemble import HistGradientBoostingRegressor

_FIELDS = {
    "value": np.float64,
    "feature_idx": np.int64,
    "num_threshold": np.float64,
    "missing_go_to_left": np.uint8,
    "left": np.int64,
    "right": np.int64,
    "is_leaf": np.uint8,
}
_TRIED, _UNKNOWN = 500, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Boosted regression trees on numbers.

    Parameters
    ----------
    start : float
        What the trees add to.
    sizes : ndarray of int64, shape (trees,)
        Nodes of each.
    nodes : mapping of str to ndarray, shape (all nodes,)
        Fields of scikit-learn's nodes, tree after tree; children are counted from the first node of their tree.
    """

    start: float
    sizes: NDArray[np.int64]
    nodes: Mapping[str, NDArray[np.generic]]

    @classmethod
    def of(cls, grown: HistGradientBoostingRegressor) -> Self | None:
        """Take the trees out of scikit-learn's object; None where these would not say the same to the bit."""
        try:
            trees = [tree.nodes for stage in grown._predictors for tree in stage]  # noqa: SLF001
            start = float(np.asarray(grown._baseline_prediction).item())  # noqa: SLF001
            nodes = {name: np.concatenate([t[name] for t in trees]).astype(kind) for name, kind in _FIELDS.items()}
            made = cls(start, np.array([len(tree) for tree in trees], dtype=np.int64), nodes)
            same = not any(tree["is_categorical"].any() for tree in trees) and made._agrees(grown)
        except (AttributeError, KeyError, TypeError, ValueError):  # another version keeps them elsewhere
            return None
        return made if same else None

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Forecast.

        Parameters
        ----------
        x : ndarray, shape (n, features)
            NaN where a feature is unknown.

        Returns
        -------
        ndarray, shape (n,)
        """
        total = np.full(len(x), self.start)
        first = 0
        for size in self.sizes:
            total += self._one(x, {name: field[first : first + size] for name, field in self.nodes.items()})
            first += size
        return total

    def _one(self, x: NDArray[np.float64], tree: Mapping[str, NDArray[np.generic]]) -> NDArray[np.float64]:
        at = np.zeros(len(x), dtype=np.int64)
        going = np.arange(len(x))
        while len(going):
            here = at[going]
            inner = tree["is_leaf"][here] == 0
            going, here = going[inner], here[inner]
            value = x[going, tree["feature_idx"][here]]
            # a value that is unknown compares as larger
            left = (value <= tree["num_threshold"][here]) | (np.isnan(value) & (tree["missing_go_to_left"][here] == 1))
            at[going] = np.where(left, tree["left"][here], tree["right"][here])
        return np.asarray(tree["value"][at], dtype=np.float64)

    def _agrees(self, grown: HistGradientBoostingRegressor) -> bool:
        """Ask both about made-up rows around every threshold."""
        random, width = np.random.default_rng(0), int(grown.n_features_in_)
        x = random.normal(0, 1, (_TRIED, width))
        for feature in range(width):
            cuts = self.nodes["num_threshold"][(self.nodes["feature_idx"] == feature) & (self.nodes["is_leaf"] == 0)]
            cuts = cuts[np.isfinite(cuts)]
            if len(cuts):
                x[:, feature] = random.choice(cuts, _TRIED) + random.choice([-1e-9, 0.0, 1e-9], _TRIED)
        x[random.random(x.shape) < _UNKNOWN] = np.nan
        return bool(np.array_equal(self.predict(x), grown.predict(x)))
