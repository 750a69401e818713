import numpy as np

from fints.periods.harmonics import group_harmonics


def test_harmonics_go_under_their_fundamental_and_others_stand_alone():
    frequency = np.array([0.41421, 0.20711, 0.0317, 0.62131])
    groups = group_harmonics(frequency, np.full(4, 1e-4), np.array([40.0, 30.0, 20.0, 9.0]))
    assert groups == {2: {1: 2}, 1: {1: 1, 2: 0, 3: 3}}


def test_a_strong_line_is_no_harmonic_of_a_faint_one():
    frequency, strength = np.array([0.0414, 0.2070]), np.array([12.0, 90.0])
    assert group_harmonics(frequency, np.full(2, 1e-4), strength) == {0: {1: 0}, 1: {1: 1}}
