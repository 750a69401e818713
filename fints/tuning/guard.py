"""Drawing from a surface that may break down."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Drawn = TypeVar("Drawn")

LOG = logging.getLogger(__name__)


def drawn_or_none(draw: Callable[[], Drawn]) -> Drawn | None:
    """Draw; None where the surface that is drawn from breaks down, as a Gaussian process on equal values does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return draw()
        except (ValueError, RuntimeError, ArithmeticError) as error:
            LOG.debug("a point is drawn at random, as the sampler failed: %s", error)
            return None
