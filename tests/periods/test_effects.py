from fints.periods.effects import ONE_OFF
from fints.sessions import FEATURES


def test_effects_are_features_and_no_cycle_is_among_them():
    assert set(ONE_OFF) <= set(FEATURES)
    cycles = {"monday", "tuesday", "thursday", "friday", "month_sin", "month_cos", "month_start", "month_end"}
    assert not cycles & set(ONE_OFF)
