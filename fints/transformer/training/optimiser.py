"""AdamW with its groups of weights and the schedule of its learning rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.optim.adamw import adamw

from fints.encodings import Encoding

if TYPE_CHECKING:
    from torch import Tensor, nn

    from fints.transformer.config import TrainingConfig

BETAS, EPSILON = (0.9, 0.999), 1e-8


@dataclass(slots=True, eq=False)
class Group:
    """Weights that share a learning rate and a decay, with the moments of their gradients.

    Parameters
    ----------
    weights : list of Tensor
    rate : float
        Peak of the schedule.
    decay : float
    """

    weights: list[Tensor]
    rate: float
    decay: float
    first: list[Tensor] = field(init=False)
    second: list[Tensor] = field(init=False)
    counts: list[Tensor] = field(init=False)

    def __post_init__(self) -> None:
        self.first, self.second = ([torch.zeros_like(w) for w in self.weights] for _ in range(2))
        self.counts = [torch.zeros((), dtype=torch.float32, device=w.device) for w in self.weights]

    def state(self) -> list[Tensor]:
        """Everything that changes, the weights apart."""
        return [*self.first, *self.second, *self.counts]


class Optimiser:
    """AdamW (Loshchilov and Hutter, 2019).

    Matrices are decayed; biases, norms and the query are not; nor are learned frequencies, which have a learning rate
    of their own. Weights that need no gradient are left alone.

    The arithmetic is torch's, called as a function: its class loads torch's compiler, a second and 150 MB which a
    short training has no use for.

    Parameters
    ----------
    network : nn.Module
    config : TrainingConfig
    """

    def __init__(self, network: nn.Module, config: TrainingConfig) -> None:
        self.config, self.steps = config, 0
        encoding = encoding_of(network)
        apart = set() if encoding is None else {id(p) for p in encoding.frequency_parameters()}
        weights: list[Tensor] = [p for p in network.parameters() if p.requires_grad]
        others = [p for p in weights if id(p) not in apart]
        rate = config.learning_rate
        self.groups = (
            Group([p for p in others if p.ndim > 1], rate, config.weight_decay),
            Group([p for p in others if p.ndim <= 1], rate, 0.0),
            Group([p for p in weights if id(p) in apart], config.frequency_rate * rate, 0.0),
        )

    def clear(self) -> None:
        """Forget the gradients."""
        for group in self.groups:
            for weight in group.weights:
                weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights that have a gradient."""
        factor = schedule(self.steps, self.config)
        for group in self.groups:
            moved = [i for i, weight in enumerate(group.weights) if weight.grad is not None]
            adamw(
                [group.weights[i] for i in moved],
                [grad for i in moved if (grad := group.weights[i].grad) is not None],
                [group.first[i] for i in moved],
                [group.second[i] for i in moved],
                [],
                [group.counts[i] for i in moved],
                fused=True,
                amsgrad=False,
                beta1=BETAS[0],
                beta2=BETAS[1],
                lr=factor * group.rate,
                weight_decay=group.decay,
                eps=EPSILON,
                maximize=False,
            )
        self.steps += 1

    def state_dict(self) -> dict[str, object]:
        """Everything that decides how it goes on, the weights apart."""
        return {"steps": self.steps, "groups": [group.state() for group in self.groups]}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, object]) -> None:
        """Go on from where another one of the same network was."""
        steps, groups = state["steps"], state["groups"]
        assert isinstance(steps, int)
        assert isinstance(groups, list)
        self.steps = steps
        for group, saved in zip(self.groups, groups, strict=True):
            for own, other in zip(group.state(), saved, strict=True):
                own.copy_(other)


def schedule(step: int, config: TrainingConfig) -> float:
    """Share of the peak learning rate: a linear warm-up, then half a cosine to zero at the last step."""
    warm_up = max(1, round(config.warm_up * config.max_steps))
    if step < warm_up:
        return (step + 1) / warm_up
    done = (step - warm_up) / max(1, config.max_steps - warm_up)
    return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


def encoding_of(network: nn.Module) -> Encoding | None:
    """Return the position encoding of a network; None if it has none."""
    return next((module for module in network.modules() if isinstance(module, Encoding)), None)
