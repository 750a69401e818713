"""Networks whose encoding is made over before training: variants that a study needs and the product does not have."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from fints.transformer.design import Design

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.encodings import Encoding
    from fints.transformer import CycleTransformer
    from fints.transformer.model import CycleNetwork


def as_built(encoding: Encoding) -> Encoding:
    """Return the encoding itself."""
    return encoding


@dataclass(frozen=True, slots=True)
class RemadeDesign(Design):
    """A design whose networks get another encoding once they are built; all other first weights are the same.

    Parameters
    ----------
    remake : callable
        Makes the encoding that is trained of the one that the settings say. It can be sent to another process.
    """

    remake: Callable[[Encoding], Encoding] = as_built

    def network_for(self, n_past: int, n_cal: int, member: int = 0) -> CycleNetwork:
        """See `Design.network_for`."""
        network = Design.network_for(self, n_past, n_cal, member)
        network.encoding = self.remake(network.encoding)
        return network


def remade(model: CycleTransformer, remake: Callable[[Encoding], Encoding]) -> CycleTransformer:
    """Let a model that is not fitted make its encoding over, and return it.

    Parameters
    ----------
    model : CycleTransformer
        Changed in place.
    remake : callable
        See `RemadeDesign`.
    """
    settings = {field.name: getattr(model.design, field.name) for field in fields(Design)}
    model.design = RemadeDesign(**settings, remake=remake)
    return model
