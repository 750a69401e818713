import pytest
from pydantic import ValidationError

from fints.settings import DataSettings


def test_a_former_name_leads_to_the_present_one_through_others():
    settings = DataSettings(symbols=("META",), aliases={"TFB": "FB", "FB": "META"})
    assert settings.aliases["FB"] == "META"


def test_a_former_name_is_not_to_be_asked_for():
    with pytest.raises(ValidationError, match="FB is by `aliases` a former name of META; list META instead"):
        DataSettings(symbols=("FB", "SPY"), aliases={"FB": "META"})


@pytest.mark.parametrize("aliases", [{"A": "A"}, {"A": "B", "B": "A"}, {"A": "B", "B": "C", "C": "B"}])
def test_names_that_lead_back_to_themselves_are_refused(aliases):
    with pytest.raises(ValidationError, match="leads back to"):
        DataSettings(aliases=aliases)


def test_how_bars_are_fetched_does_not_bear_on_what_was_fitted():
    assert DataSettings(settle=30, refetch=9, inactive_after=0).hash_without() == DataSettings().hash_without()
    assert DataSettings(aliases={"FB": "META"}).hash_without() != DataSettings().hash_without()
