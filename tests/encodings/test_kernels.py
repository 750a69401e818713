import math

import numpy as np
import pytest
from scipy import integrate, stats

from fints.encodings.kernels import (
    CallableKernel,
    CosineKernel,
    GaussianKernel,
    LaplaceKernel,
    MaternKernel,
    PeriodicGaussianKernel,
)
from fints.errors import EncodingError

DAY, HOUR = 86_400.0, 3_600.0
KERNELS = {
    "gaussian": GaussianKernel(length=20),
    "laplace": LaplaceKernel(length=20),
    "matern 1.5": MaternKernel(length=20, smoothness=1.5),
    "matern 2.5": MaternKernel(length=20, smoothness=2.5),
    "cosine": CosineKernel(period=20),
    "cosine folded": CosineKernel(period=20, fold=True),
    "periodic gaussian": PeriodicGaussianKernel(period=24, sigma=2),
    "periodic gaussian folded": PeriodicGaussianKernel(period=24, sigma=2, fold=True),
    "triangle": CallableKernel(function=lambda x: np.clip(1 - np.abs(x) / 30, 0, None), extent=40),
    "two waves": CallableKernel(function=lambda x: 0.7 * np.cos(x) + 0.3 * np.cos(3 * x), period=2 * math.pi),
}
DISTANCES = np.array([0.0, 0.5, 3.0, 11.7, 20.0, -20.0, 24.0, 31.0])


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_the_mean_wave_of_the_drawn_frequencies_is_the_kernel(name):
    kernel, n = KERNELS[name], 200_000
    xi = kernel.draw(np.random.default_rng(0), (n,))
    mean = np.cos(2 * np.pi * xi[:, None] * DISTANCES).mean(axis=0)
    assert mean == pytest.approx(kernel.value(DISTANCES), abs=5 / math.sqrt(2 * n) + 5e-4)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_kernel_is_one_at_zero_even_and_never_above(name):
    kernel = KERNELS[name]
    assert kernel.value(np.zeros(1)) == pytest.approx(1)
    assert kernel.value(-DISTANCES) == pytest.approx(kernel.value(DISTANCES))
    assert (np.abs(kernel.value(np.linspace(0, 100, 999))) <= 1 + 1e-12).all()


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_draws_depend_on_the_generator_alone(name):
    one, same, other = (KERNELS[name].draw(np.random.default_rng(s), (3, 40)) for s in (5, 5, 6))
    assert one.shape == (3, 40)
    assert np.array_equal(one, same)
    if name != "cosine folded":
        assert not np.array_equal(one, other)


def test_the_roughest_matern_kernel_is_the_laplace_kernel():
    rough = MaternKernel(length=20, smoothness=0.5)
    assert rough.value(DISTANCES) == pytest.approx(LaplaceKernel(length=20).value(DISTANCES))


def test_the_smooth_matern_kernel_has_its_closed_form():
    scaled = math.sqrt(3) * np.abs(DISTANCES) / 20
    assert KERNELS["matern 1.5"].value(DISTANCES) == pytest.approx((1 + scaled) * np.exp(-scaled))


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("gaussian", stats.norm(scale=1 / (2 * math.pi * 20))),
        ("laplace", stats.cauchy(scale=1 / (2 * math.pi * 20))),
    ],
)
def test_frequencies_follow_the_transform_of_the_kernel(name, law):
    xi = KERNELS[name].draw(np.random.default_rng(1), (20_000,))
    assert stats.kstest(xi, law.cdf).pvalue > 1e-3


def test_a_function_is_drawn_from_like_the_kernel_it_is():
    kernel = CallableKernel(function=lambda x: np.exp(-0.5 * (x / 20) ** 2), extent=160)
    xi = kernel.draw(np.random.default_rng(2), (20_000,))
    assert stats.kstest(xi, stats.norm(scale=1 / (2 * math.pi * 20)).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("period", "sigma"), [(24.0, 2.0), (24.0, 3.0), (7.0, 0.9), (DAY, 2 * HOUR)])
def test_exact_coefficients_are_the_fourier_integral(period, sigma):
    kernel = PeriodicGaussianKernel(period=period, sigma=sigma, truncation=12)
    for k, coefficient in enumerate(kernel.exact_coefficients()):
        half, _ = integrate.quad(
            lambda t: math.exp(-0.5 * (t / sigma) ** 2), 0, period / 2, weight="cos", wvar=2 * math.pi * k / period
        )
        assert coefficient == pytest.approx(2 * half / period, abs=1e-12)


def test_the_truncated_law_is_the_exact_one_where_sigma_is_small():
    kernel = PeriodicGaussianKernel(period=24, sigma=2)
    exact = kernel.exact_coefficients()
    assert kernel.pmf()[6:] == pytest.approx(exact / (exact[0] + 2 * exact[1:].sum()), abs=1e-9)
    assert kernel.pmf() == pytest.approx(kernel.pmf()[::-1])
    assert kernel.pmf().sum() == pytest.approx(1)


def test_exact_coefficients_dip_below_zero_only_within_the_tolerance():
    exact = PeriodicGaussianKernel(period=24, sigma=2, truncation=30).exact_coefficients()
    assert -1e-6 * exact.max() < exact.min() < 0


def test_a_gaussian_as_wide_as_its_period_is_refused_with_the_number():
    with pytest.raises(EncodingError, match=r"f\(T/2\) = 0\.135"):
        PeriodicGaussianKernel(period=24, sigma=6)


def test_a_wide_gaussian_warns_with_the_number():
    with pytest.warns(UserWarning, match=r"f\(T/2\) = 0\.0111"):
        PeriodicGaussianKernel(period=24, sigma=4)


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ({"function": lambda x: 1.2 * np.cos(x) - 0.2 * np.cos(3 * x), "period": 2 * math.pi}, "harmonic 3 is -0.167"),
        ({"function": lambda x: (np.abs(x) < 10) * 1.0, "extent": 40.0}, "transform at frequency 0.07"),
        ({"function": lambda x: 2 * np.exp(-(x**2)), "extent": 10.0}, r"f\(0\) = 2"),
        ({"function": lambda x: np.exp(-(x**2)) + np.sin(x), "period": 20.0}, "even"),
        ({"function": lambda x: np.exp(-np.abs(x)), "extent": 3.0}, "still 0.0498 at the extent 3"),
        ({"function": lambda x: x / x, "extent": 3.0}, "not finite"),
        ({"function": np.cos}, "period, or the extent"),
        ({"function": np.cos, "period": 1.0, "extent": 1.0}, "period, or the extent"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_kernel_is_refused(kernel, says):
    with pytest.raises(EncodingError, match=says):
        CallableKernel(**kernel)
