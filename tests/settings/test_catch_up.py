import pytest

from fints.errors import ConfigError
from fints.settings import load_settings


def test_nights_are_made_up_for_unless_told_otherwise():
    policy = load_settings().catch_up
    assert (policy.missed, policy.late, policy.most) == ("run", "rerun", 10)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("catch_up.missed=later", "catch_up.missed"),
        ("catch_up.late=yes", "catch_up.late"),
        ("catch_up.most=0", "greater than or equal to 1"),
        ("catch_up.mostly=3", "did you mean 'most'"),
    ],
)
def test_what_does_not_fit_is_named(override, said):
    with pytest.raises(ConfigError) as error:
        load_settings(None, [override])
    assert said in str(error.value)


def test_what_becomes_of_missed_nights_is_no_matter_of_a_fitted_model():
    assert load_settings(None, ["catch_up.missed=skip"]).digest == load_settings().digest
