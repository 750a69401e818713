import pytest

from fints.conformal.adaptive import Pace
from fints.errors import ConfigError
from fints.settings import load_settings


def test_a_night_combines_and_its_bands_follow_unless_told_otherwise():
    settings = load_settings()
    assert settings.combination.enabled
    assert settings.combination.members == ("har_calendar", "gradient_boosting")
    assert settings.bands.adaptive
    assert settings.bands.pace == Pace()
    off = load_settings(None, ["combination.enabled=false", "bands.adaptive=false"])
    assert not off.combination.enabled
    assert not off.bands.adaptive


def test_one_member_is_a_list_of_one():
    assert load_settings(None, ["combination.members=arima"]).combination.members == ("arima",)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("combination.members=[hra]", "combination.members: unknown baseline 'hra'. Did you mean 'har'"),
        ("combination.members=[transformer]", "takes part without being named"),
        ("combination.members=[har, ets, har]", "HAR would take part more than once"),
        ("combination.members=[]", "or set enabled: false"),
        ("combination.member=[har]", "unknown key 'combination.member', did you mean 'members'"),
        ("bands.half_life=0", "bands.half_life: Input should be greater than 0"),
        ("bands.half_life=.inf", "bands.half_life: Input should be a finite number"),
        ("bands.rate=1", "bands.rate: Input should be less than 1"),
        ("bands.shrink=2", "bands.shrink: Input should be less than or equal to 1"),
        ("bands.adaptive=soon", "bands.adaptive"),
    ],
)
def test_what_does_not_fit_is_named(override, said):
    with pytest.raises(ConfigError) as error:
        load_settings(None, [override])
    assert said in str(error.value)


@pytest.mark.parametrize("override", ["combination.members=[ets]", "bands.rate=0.03", "combination.enabled=false"])
def test_what_decides_on_a_night_is_in_its_digest(override):
    assert load_settings(None, [override]).digest != load_settings().digest
