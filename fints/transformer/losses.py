"""What training minimises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def window_losses(quantiles_btq: Tensor, target_bt: Tensor, probabilities: Tensor) -> Tensor:
    """Twice the mean pinball loss of each window, an approximation of the continuous ranked probability score.

    Parameters
    ----------
    quantiles_btq : Tensor, shape (B, T, Q)
    target_bt : Tensor, shape (B, T)
    probabilities : Tensor, shape (Q,)

    Returns
    -------
    Tensor, shape (B,)
        In the unit of the target. (Koenker and Bassett, 1978; Gneiting and Ranjan, 2011.)
    """
    error = target_bt[..., None] - quantiles_btq
    return 2 * (probabilities * error).maximum((probabilities - 1) * error).mean(dim=(1, 2))


def pinball_loss(quantiles_btq: Tensor, target_bt: Tensor, probabilities: Tensor) -> Tensor:
    """Mean of `window_losses`, a scalar."""
    return window_losses(quantiles_btq, target_bt, probabilities).mean()
