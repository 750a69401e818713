"""What stops a training: a number that is none, and whose fault it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import torch

from fints.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor, nn

    from fints.transformer.config import TrainingConfig
    from fints.transformer.training.windows import Batch

_LISTED = 5


def check_losses(losses_b: Tensor, batch: Batch, place: str, config: TrainingConfig) -> None:
    """Refuse losses that are not numbers.

    Parameters
    ----------
    losses_b : Tensor, shape (B,)
        Of each window of the batch.
    batch : Batch
    place : str
        What they are the losses of: ``"step 12"``, ``"the look at step 20"``.
    config : TrainingConfig

    Raises
    ------
    TrainingError
        Naming the windows that are at fault.
    """
    finite = torch.isfinite(losses_b)
    if not finite.all():
        faults = (~finite).nonzero().flatten().tolist()
        _refuse(f"the loss of {place} is not a number", batch, faults, config)


def check_gradient(
    norm: Tensor, batch: Batch, place: str, config: TrainingConfig, alone: Callable[[Batch], Tensor]
) -> None:
    """Refuse a gradient that is not a number.

    Parameters
    ----------
    norm : Tensor, scalar
        Of the gradient of the whole batch.
    batch : Batch
    place : str
        What it is the gradient of.
    config : TrainingConfig
    alone : callable
        Norm of the gradient of another batch; asked for each window, only if something is wrong.

    Raises
    ------
    TrainingError
        Naming the windows that are at fault.
    """
    if torch.isfinite(norm):
        return
    singles = [batch.source.batch(batch.origins[i : i + 1]) for i in range(len(batch))]
    faults = [i for i, single in enumerate(singles) if not torch.isfinite(alone(single))]
    _refuse(f"the gradient of {place} is not a number", batch, faults, config)


def gradient_norm(network: nn.Module) -> Tensor:
    """Euclidean norm of all gradients of a network."""
    return torch.nn.utils.get_total_norm([p.grad for p in network.parameters() if p.grad is not None])


def _refuse(what: str, batch: Batch, faults: Sequence[int], config: TrainingConfig) -> NoReturn:
    if not faults:
        names = [batch.source.describe(int(origin)) for origin in batch.origins[:_LISTED]]
        raise TrainingError(
            f"{what}, though that of each window of its batch alone is one ({'; '.join(names)} …); "
            f"lower learning_rate ({config.learning_rate:g}) or clip ({config.clip:g})"
        )
    names = [batch.source.describe(int(batch.origins[i])) for i in faults]
    rest = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    cure = (
        "mend or leave out those bars"
        if any("not finite" in name for name in names)
        else f"the series are finite there, so lower learning_rate ({config.learning_rate:g}) or clip ({config.clip:g})"
    )
    raise TrainingError(
        f"{what}; at fault are {len(names)} of the {len(batch)} windows of its batch "
        f"({'; '.join(names[:_LISTED])}{rest}); {cure}"
    )
