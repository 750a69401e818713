"""Absolute positions, added to the token embeddings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from fints.encodings.config import EncodingConfig
from fints.encodings.kinds import AddedEncoding, SmallEmbedding
from fints.errors import EncodingError

if TYPE_CHECKING:
    from fints.encodings.base import TimeAxis


class AbsoluteLinearConfig(EncodingConfig):
    """``[1, t / scale]`` projected and added.

    Attributes
    ----------
    scale : float
        Places, in bars, that make one unit of the regressor. At about the length of a window both columns are O(1),
        so one learning rate fits both; the function family does not depend on it.
    """

    kind: Literal["absolute_linear"] = "absolute_linear"
    scale: float = Field(default=256.0, gt=0)


class AbsoluteSinusoidalConfig(EncodingConfig):
    """The sine and cosine table of Vaswani et al. (2017), added.

    Attributes
    ----------
    base : float
    """

    kind: Literal["absolute_sinusoidal"] = "absolute_sinusoidal"
    base: float = Field(default=10_000.0, gt=1)


class AbsoluteLearnedConfig(EncodingConfig):
    """One learned vector per place, added.

    Attributes
    ----------
    places : int
        Rows of the table: the context's and the horizon's bars, at least.
    """

    kind: Literal["absolute_learned"] = "absolute_learned"
    places: int = Field(default=1024, ge=1)


class AbsoluteLinear(AddedEncoding):
    """A straight line in the place, per channel.

    Parameters
    ----------
    config : AbsoluteLinearConfig
    dim : int
        Width C of the model.
    n_layers : int
    """

    def __init__(self, config: AbsoluteLinearConfig, dim: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.scale = config.scale
        self.project = nn.Linear(1, dim)

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add ``W [1, t / scale]`` to tokens of shape (B, T, C).

        The product is formed in float64: in a bf16 module the place itself would keep only 8 bits.
        """
        place = at.clock("index")[..., None] / self.scale
        line = place * self.project.weight[:, 0].double() + self.project.bias.double()
        return x_btc + line.to(x_btc.dtype)


class AbsoluteSinusoidal(AddedEncoding):
    """Sines and cosines of geometrically spaced frequencies, at any place.

    Parameters
    ----------
    config : AbsoluteSinusoidalConfig
    dim : int
        Width C of the model; even.
    n_layers : int

    Raises
    ------
    EncodingError
        If C is odd.
    """

    def __init__(self, config: AbsoluteSinusoidalConfig, dim: int, n_layers: int) -> None:
        super().__init__(n_layers)
        if dim % 2:
            raise EncodingError(f"a sinusoidal table pairs sines with cosines; a model of width {dim} is odd")
        self.frequencies = tuple(config.base ** (-2 * i / dim) for i in range(dim // 2))

    def table(self, places: Tensor) -> Tensor:
        """Evaluate the table.

        Parameters
        ----------
        places : Tensor, shape (B or 1, T), float64

        Returns
        -------
        Tensor, shape (B or 1, T, C), float64
            Channel 2i is ``sin(t · base^(−2i/C))``, channel 2i + 1 its cosine (Vaswani et al., 2017, §3.5).
        """
        angle = places[..., None] * torch.tensor(self.frequencies, dtype=torch.float64, device=places.device)
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add the table to tokens of shape (B, T, C)."""
        return x_btc + self.table(at.clock("index")).to(x_btc.dtype)


class AbsoluteLearned(AddedEncoding):
    """One learned vector per whole place, counted from 0.

    Rows past the places seen in training keep their random start: asked beyond them, the model sees noise. That is
    the known fault of this encoding, and it is kept.

    Parameters
    ----------
    config : AbsoluteLearnedConfig
    dim : int
        Width C of the model.
    n_layers : int
    """

    def __init__(self, config: AbsoluteLearnedConfig, dim: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.table = SmallEmbedding(config.places, dim)

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add the rows of the places to tokens of shape (B, T, C).

        Raises
        ------
        EncodingError
            If a place is not a whole number within the table. Not checked while compiling, nor on the meta device.
        """
        places = at.clock("index")
        self._check(places)
        rows: Tensor = self.table(places.long())
        return x_btc + rows.to(x_btc.dtype)

    def _check(self, places: Tensor) -> None:
        if places.is_meta or torch.compiler.is_compiling():
            return
        n = self.table.num_embeddings
        outside = ~((places >= 0) & (places < n) & (places == places.floor()))
        if outside.any():
            place = float(places[outside][0])
            named = f"{place:.0f}" if math.isfinite(place) and place == math.floor(place) else f"{place:g}"
            raise EncodingError(
                f"the place {named} on the index clock is not a row of the learned table (0 … {n - 1}); "
                "raise `places`, or choose an encoding that extrapolates"
            )
