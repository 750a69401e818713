"""What the theory of kernels says: the error of a forecaster that reads a routine through a prior kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings.kernels import PeriodicGaussianKernel
from fints.studies.kernel_width.routines import harmonic_law

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Reading:
    """What can be read of a routine: so many noisy periods of it.

    Parameters
    ----------
    period : int
        Bars, which are the phases.
    width : float
        Of the routine, in bars.
    sigma : float
        Standard deviation of the noise of one bar; the routine's own is 1.
    times : float
        Periods that were seen.
    """

    period: int
    width: float
    sigma: float
    times: float

    @property
    def law(self) -> NDArray[np.float64]:
        """Variance of the routine by frequency of its phases, shape (period,), summing to 1."""
        one_sided = harmonic_law(self.period, self.width)
        harmonics = np.arange(len(one_sided))
        return self._folded(np.concatenate((harmonics, -harmonics)), np.concatenate((one_sided, one_sided)) / 2)

    def expected_error(self, sigma: float, truncation: int) -> float:
        """Return the root mean square error of Gaussian-process regression with ClockRoPE's kernel as its prior.

        Phases are equally often seen, so the regression shrinks every harmonic on its own, by
        ``λ = p / (p + noise)`` with `p` the prior's share of it: what it shrinks of the routine and what it lets
        through of the noise is the error. It is least where the prior is the routine's own law.

        Parameters
        ----------
        sigma : float
            Width of the prior, in bars.
        truncation : int
            Largest harmonic s of the prior.

        References
        ----------
        C. E. Rasmussen and C. K. I. Williams (2006), Gaussian Processes for Machine Learning, sections 2.6 and 7.1.
        """
        kernel = PeriodicGaussianKernel(period=self.period, sigma=sigma, truncation=truncation)
        prior = self._folded(np.arange(-truncation, truncation + 1), kernel.pmf())
        noise = self.sigma**2 / (self.times * self.period)
        kept = prior / (prior + noise)
        return float(np.sqrt(np.sum((1 - kept) ** 2 * self.law + kept**2 * noise)))

    def _folded(self, harmonics: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum shares of harmonics that are one on whole bars."""
        law: NDArray[np.float64] = np.zeros(self.period)
        np.add.at(law, harmonics % self.period, shares)
        return law


def enough(period: float, sigma: float) -> float:
    """Return the truncation that holds all but 5 % of the kernel: two standard deviations of its law of harmonics."""
    return float(2 * period / (2 * np.pi * sigma))
