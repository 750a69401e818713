import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fints.transformer.start.memory import fades, memory_kernels, n_memories

sizes = st.integers(2, 1000)


@given(sizes)
def test_every_memory_is_a_mean(size):
    kernels = memory_kernels(size)
    assert (kernels >= 0).all()
    assert np.allclose(kernels.sum(axis=0), 1.0)
    assert np.allclose(np.full(size, 7.0) @ kernels, 7.0)


@given(sizes)
def test_memories_reach_from_the_last_value_to_the_whole_context(size):
    kernels = memory_kernels(size)
    assert np.array_equal(kernels[:, 0], np.arange(size) == size - 1)
    assert np.allclose(kernels[:, -1], 1 / size)
    assert (np.diff(kernels, axis=0) >= 0).all()  # what is later never counts less
    ages = np.arange(size)[::-1] @ kernels
    assert (np.diff(ages) > 0).all()


def test_a_year_of_sessions_remembers_about_a_day_a_week_a_month_and_a_quarter():
    kernels = memory_kernels(252)
    constants = [-1 / np.log(k[-2] / k[-1]) for k in kernels.T[1:-1]]
    assert np.allclose(constants, [2.5, 8.0, 25.6, 81.92])


@given(sizes, st.integers(0, 2000))
def test_a_longer_context_with_as_many_memories_has_the_same_time_constants_and_its_own_mean(size, more):
    short, longer = memory_kernels(size), memory_kernels(size + more, n_memories(size))
    assert longer.shape == (size + more, short.shape[1])
    ratios, before = (k[1:, 1:-1] / k[:-1, 1:-1] for k in (longer[-size:], short))
    assert np.allclose(ratios, before)
    assert np.allclose(longer[:, -1], 1 / (size + more))


@given(st.integers(1, 100_000))
def test_a_weight_fades_from_one_or_not_at_all(step):
    here, next_one = fades(np.array([step, step + 1]))
    first = fades(np.array([1]))[0]
    assert np.array_equal(first, np.ones_like(first))
    assert ((here >= 0) & (here <= 1)).all()
    assert (next_one <= here).all()
    assert here[-1] == next_one[-1] == 1


def test_fades_of_a_batch_are_those_of_each_step():
    steps = np.array([[1, 2, 3], [4, 9, 500]])
    assert np.array_equal(fades(steps)[1, 2], fades(np.array([500]))[0])
