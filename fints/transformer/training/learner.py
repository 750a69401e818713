"""One network on its way: steps of the optimiser, and the average of the weights that they pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from fints.forecast import QUANTILES
from fints.transformer.losses import window_losses
from fints.transformer.training.guard import check_gradient, check_losses, gradient_norm
from fints.transformer.training.hardware import Hardware
from fints.transformer.training.optimiser import Optimiser

if TYPE_CHECKING:
    from torch import Tensor

    from fints.transformer.config import TrainingConfig
    from fints.transformer.training.windows import Batch


class Learner:
    """A network with its optimiser and the exponential moving average of its weights.

    Dropout at a step follows from seed, step and process alone. So a training that goes on after a kill needs no state
    of a random generator.

    Parameters
    ----------
    network : nn.Module
        From `fints.transformer.model.Inputs` to scaled quantiles, shape (B, H, len(QUANTILES)). Trained in place.
    config : TrainingConfig
    seed : int
    hardware : Hardware
    """

    def __init__(
        self, network: nn.Module, config: TrainingConfig, seed: int = 0, hardware: Hardware | None = None
    ) -> None:
        self.hardware = hardware or Hardware()
        self.network = network.to(self.hardware.device).train()
        self.config, self.seed = config, seed
        average = get_ema_multi_avg_fn(config.average)  # type: ignore[no-untyped-call]
        self._average = AveragedModel(self.network, multi_avg_fn=average).eval()
        self._parameters = list(self.network.parameters())
        self._optimiser = Optimiser(self.network, config)
        self._probabilities = torch.tensor(QUANTILES, device=self.hardware.device)

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._optimiser.steps

    @property
    def averaged(self) -> nn.Module:
        """The network with averaged weights, in evaluation mode; before the first step, the network as it came."""
        average: nn.Module = self._average.module
        return average

    def step(self, batch: Batch) -> float:
        """Take one step of the optimiser, and return the loss before it.

        Raises
        ------
        TrainingError
            If the loss or its gradient is not a number, naming the windows that are at fault.
        """
        self.hardware.seed(self._dropout_seed())
        place = f"step {self.steps}"
        batch = batch.to(self.hardware.device)
        losses = self._losses(batch)
        check_losses(losses.detach(), batch, place, self.config)
        loss = losses.mean()
        self._optimiser.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        self.hardware.average(p.grad for p in self._parameters if p.grad is not None)
        norm = clip_grad_norm_(self._parameters, self.config.clip)
        check_gradient(norm, batch, place, self.config, self._norm_of)
        self._optimiser.step()
        self._average.update_parameters(self.network)
        return loss.item()

    def validate(self, batch: Batch) -> Tensor:
        """Losses of the averaged weights, in float32.

        Returns
        -------
        Tensor, shape (B,)

        Raises
        ------
        TrainingError
            If one is not a number.
        """
        batch = batch.to(self.hardware.device)
        with torch.inference_mode():
            losses = window_losses(self.averaged(batch.inputs), batch.target, self._probabilities)
        check_losses(losses, batch, f"the look at step {self.steps}", self.config)
        return losses

    def state_dict(self) -> dict[str, Any]:
        """Everything that decides how the training goes on."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "average": self._average.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where another learner of the same design was."""
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._average.load_state_dict(state["average"])

    def _losses(self, batch: Batch) -> Tensor:
        with self.hardware.autocast():
            quantiles = self.network(batch.inputs)
        return window_losses(quantiles.float(), batch.target, self._probabilities)

    def _norm_of(self, batch: Batch) -> Tensor:
        self.network.zero_grad()
        self._losses(batch.to(self.hardware.device)).mean().backward()  # type: ignore[no-untyped-call]
        return gradient_norm(self.network)

    def _dropout_seed(self) -> int:
        return int(np.random.SeedSequence([self.seed, self.steps, self.hardware.rank]).generate_state(1)[0])
