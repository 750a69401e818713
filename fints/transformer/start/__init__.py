"""The linear start: a regression in closed form that training begins at and corrects."""

from fints.transformer.start.fit import fit_start, refit_start
from fints.transformer.start.linear import LinearStart, Located, flat_start
from fints.transformer.start.stored import from_plain, to_plain

__all__ = ["LinearStart", "Located", "fit_start", "flat_start", "from_plain", "refit_start", "to_plain"]
