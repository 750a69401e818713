import pytest

from fints.encodings import encoding_config
from fints.tuning.knobs import OPTIONS, kinds_of, listens, settled, turned

SUM = encoding_config({"kind": "sum", "parts": ["alibi", {"kind": "cycle", "learn": True}]})


@pytest.mark.parametrize(("kind", "parameter"), sorted(OPTIONS))
def test_every_option_exists_in_the_settings_that_it_belongs_to(kind, parameter):
    assert OPTIONS[kind, parameter] in type(encoding_config(kind)).model_fields


def test_combinations_are_made_of_the_kinds_of_their_parts():
    assert kinds_of(SUM) == {"sum", "alibi", "cycle"}
    assert listens(SUM, "share")
    assert not listens(SUM, "t_rope.sigma")


def test_settled_cycles_keep_their_periods_and_what_is_tied_to_no_cycle_goes_on_learning():
    both = encoding_config(
        {
            "kind": "split",
            "by": "head",
            "parts": [
                {"share": 0.5, "encoding": {"kind": "cycle", "learn": True}},
                {"share": 0.5, "encoding": {"kind": "clock", "learn": True}},
            ],
        }
    )
    cycle, clock = (part.encoding for part in settled(both).parts)
    assert (cycle.learn, clock.learn) == (False, True)
    assert settled(encoding_config("t_rope")) == encoding_config("t_rope")


def test_parameters_of_others_are_passed_over():
    rope = encoding_config("rope")
    assert turned(rope, {"share": 0.3, "clock.law": "cosine-sym"}) is rope
    assert turned(SUM, {"share": 0.3}).parts[1].share == 0.3
