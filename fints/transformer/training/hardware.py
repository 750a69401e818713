"""What a training computes on: a CPU or a GPU, in what precision, and whether other processes share the work."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import torch

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from fints.transformer.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class Hardware:
    """What one process of a training computes on.

    Parameters
    ----------
    device : torch.device
    precision : {"32", "bf16"}
        Of the forward pass of a step; weights, optimiser, average and validation stay in float32.
    rank, world : int
        Which of how many processes this is; each takes its share of every batch.
    """

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    precision: Literal["32", "bf16"] = "32"
    rank: int = 0
    world: int = 1

    @classmethod
    def chosen_by(cls, config: TrainingConfig) -> Hardware:
        """Find what the settings ask for.

        Raises
        ------
        ConfigError
            If this machine does not have it.
        """
        found = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if config.accelerator == "cuda" and not found:
            raise ConfigError("accelerator: cuda is asked for, and torch finds no CUDA device; use auto or cpu")
        cuda = found > 0 and config.accelerator != "cpu"
        world = config.devices if config.devices != "auto" else max(1, found if cuda else 1)
        if cuda and world > found:
            raise ConfigError(f"devices: {world} are asked for, and torch finds {found}; lower it, or use auto")
        if config.batch_size % world:
            raise ConfigError(
                f"batch_size: {config.batch_size} does not divide among {world} devices; make it a multiple of {world}"
            )
        if cuda and config.precision == "bf16" and not torch.cuda.is_bf16_supported():
            raise ConfigError("precision: bf16 is asked for, and this GPU does not compute in it; use 32")
        return cls(torch.device("cuda", 0) if cuda else torch.device("cpu"), config.precision, world=world)

    def process(self, rank: int) -> Hardware:
        """Return what one of the processes computes on."""
        cuda = self.device.type == "cuda"
        return replace(self, rank=rank, device=torch.device("cuda", rank) if cuda else self.device)

    def autocast(self) -> torch.autocast:
        """Open a context in which matrix products are made in the precision asked for."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16")

    def seed(self, value: int) -> None:
        """Seed what dropout draws from on this device."""
        torch.default_generator.manual_seed(value)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(value)

    def average(self, gradients: Iterable[Tensor]) -> None:
        """Average gradients over the processes, in place."""
        if self.world == 1:
            return
        by_dtype: dict[torch.dtype, list[Tensor]] = {}
        for gradient in gradients:
            by_dtype.setdefault(gradient.dtype, []).append(gradient)
        for alike in by_dtype.values():
            flat = torch.cat([gradient.flatten() for gradient in alike])
            torch.distributed.all_reduce(flat)
            start = 0
            for gradient in alike:
                part = flat[start : start + gradient.numel()]
                gradient.copy_(part.view_as(gradient) / self.world)
                start += gradient.numel()

    def share(self, origins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take the part of this process."""
        return origins[self.rank :: self.world]

    def joined(self, part: Tensor, count: int) -> Tensor:
        """Put the parts of all processes together again: the inverse of `share`.

        Parameters
        ----------
        part : Tensor, shape (n,)
        count : int
            Length of the whole.

        Returns
        -------
        Tensor, shape (count,)
        """
        if self.world == 1:
            return part
        whole = torch.zeros(count, dtype=part.dtype, device=part.device)
        whole[self.rank :: self.world] = part
        torch.distributed.all_reduce(whole)
        return whole

    def forked_generators(self) -> list[int]:
        """Return the indices of the GPUs whose random state a training has to leave as it was."""
        return [self.device.index] if self.device.type == "cuda" else []
