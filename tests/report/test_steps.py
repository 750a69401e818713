from hypothesis import given
from hypothesis import strategies as st

from fints.report.figures import steps_axis


@given(st.integers(1, 5000))
def test_an_axis_of_steps_has_whole_and_few_ticks(most: int) -> None:
    between = steps_axis("session", most)["dtick"]
    assert isinstance(between, int)
    assert between >= 1
    assert most / between <= 10
    assert between == 1 or most / between > 4
    assert str(between).rstrip("0") in {"1", "2", "5"}


def test_an_axis_of_steps_names_its_unit() -> None:
    assert steps_axis("session", 5)["title"]["text"] == "Sessions ahead"
