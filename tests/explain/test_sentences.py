from dataclasses import replace

import pandas as pd
import pytest

from fints.explain import Gain, Measured, Part, cycle_sentences, gain_sentences
from fints.explain.gain import HAR, LEVEL, REST
from fints.explain.groups import OTHER_DAYS, Group
from fints.explain.sentences import percent


def gain(total, reference=HAR, **values):
    """A gain with parts given as (value, error), in percent of the reference."""
    whole = Measured(total[0] / 100, total[1] / 100)
    parts = tuple(
        Part(name, Measured(v / 100, e / 100), Measured(v / total[0], e / abs(total[0])))
        for name, (v, e) in values.items()
    )
    groups = tuple(Group(part.name) for part in parts if part.name != REST)
    days = pd.Timestamp("2016-09-22"), pd.Timestamp("2018-12-31")
    return Gain(reference, groups, {"RMSE": whole}, {"RMSE": parts}, 256, 28, *days, True)


def test_what_carries_a_gain_is_said_with_its_share_the_largest_first():
    found = gain((10, 1), **{"weekly cycle": (3.1, 0.4), OTHER_DAYS: (6, 0.5), REST: (0.9, 0.8)})
    first, *others = gain_sentences(found)
    assert first.startswith(
        "Over 256 forecasts of 2016-09-22 to 2018-12-31 (bars not trained on), the RMSE of the transformer alone is "
        "10 % (± 1.0 %) "
    )
    assert first.endswith("below that of a HAR without a calendar.")
    assert others == [
        "Holidays and other single days carry 60 % (± 5.0 %) of this gain and the weekly cycle 31 % (± 4.0 %).",
        "What everything else adds cannot be told from chance.",
    ]


def test_bars_that_were_trained_on_are_said_to_be():
    found = replace(gain((10, 1), **{"weekly cycle": (3.1, 0.4)}), unseen=False)
    assert "2018-12-31 (bars trained on in part), the RMSE" in gain_sentences(found)[0]
    nothing = replace(gain((0.4, 0.3), **{"weekly cycle": (3, 0.1)}), unseen=False)
    assert "2018-12-31 (bars trained on in part), the RMSE of the transformer alone" in gain_sentences(nothing)[0]


def test_a_part_that_costs_is_said_to_cost():
    found = gain((10, 1), **{"weekly cycle": (12, 1), "other cycles": (-2, 0.5)})
    assert gain_sentences(found)[1:] == (
        "The weekly cycle carries 120 % (± 10 %) of this gain.",
        "The other cycles make it smaller, by 20 % (± 5.0 %) of it.",
    )


@pytest.mark.parametrize(
    ("total", "says"),
    [
        ((0.4, 0.3), "0.4 % (± 0.3 %) below that of the mean of the context: nothing that can be told from chance"),
        ((-0.4, 0.3), "0.4 % (± 0.3 %) above that of the mean of the context: nothing that can be told from chance"),
        ((-4, 0.3), "4.0 % (± 0.3 %) above that of the mean of the context: no gain to divide."),
    ],
)
def test_without_a_gain_no_cycle_is_said_to_carry_any(total, says):
    (only,) = gain_sentences(gain(total, LEVEL, **{"weekly cycle": (3, 0.1)}))
    assert says in only
    assert gain(total, **{"weekly cycle": (3, 0.1)}).carried(0) == 0.0


@pytest.mark.parametrize(
    ("part", "text"), [(0.314, "31 %"), (0.0314, "3.1 %"), (0.00314, "0.31 %"), (float("inf"), "unknown")]
)
def test_a_part_has_two_digits(part, text):
    assert percent(part) == text


def test_the_short_form_tells_the_planted_cycle(weekly_model, weekly_panel, plain_model, plain_panel):
    said = cycle_sentences(weekly_model, weekly_panel)
    assert 2 <= len(said) <= 3
    assert "The weekly cycle carries" in said[1]
    (nothing,) = cycle_sentences(plain_model, plain_panel)
    assert "told from chance" in nothing
