import pytest

from fints.encodings import encoding_config
from fints.plan import Cycle, FrequencyPlan
from fints.tuning import Candidate
from fints.tuning.periods import moved
from tests.tuning.conftest import tiny_base, tiny_tuner

PLAN = FrequencyPlan((Cycle(20.0), Cycle(7.0, "calendar")))


def fitted(encoding, **training):
    candidate = Candidate(PLAN, encoding_config(encoding), training={"frequency_rate": 1000.0, **training})
    return candidate, candidate.model(tiny_base()).fit(tiny_tuner().panel.head(120))


@pytest.mark.parametrize(
    "encoding",
    [
        {"kind": "cycle", "share": 1.0, "learn": True},
        {
            "kind": "split",
            "by": "feature",
            "parts": [
                {"share": 0.5, "encoding": "rope"},
                {"share": 0.5, "encoding": {"kind": "cycle", "share": 1.0, "learn": True}},
            ],
        },
    ],
    ids=["alone", "in a split"],
)
def test_ends_and_paths_are_those_of_the_weights_that_were_kept(encoding):
    candidate, model = fitted(encoding)
    found = moved(candidate, model)
    assert set(found.end) == {"20 sessions", "7 days"}
    assert [step for step, _ in found.path["20 sessions"]] == [0, 2, 3]
    assert found.path["20 sessions"][0][1] == 20.0
    kept = model.fitted.records[0].best[0]
    assert found.end["7 days"] == pytest.approx(dict(found.path["7 days"])[kept])
    assert found.path["20 sessions"][-1][1] != 20.0


def test_what_is_not_learned_ends_where_it_starts():
    candidate, model = fitted({"kind": "cycle", "share": 1.0})
    assert moved(candidate, model).end == {"20 sessions": 20.0, "7 days": 7.0}
    assert moved(candidate, model).path == {}


def test_of_several_members_the_end_is_the_geometric_mean():
    candidate, model = fitted({"kind": "cycle", "share": 1.0, "learn": True}, members=2)
    ends = [network.encoding.periods()[0].item() for network in model.fitted.networks]
    assert moved(candidate, model).end["20 sessions"] == pytest.approx((ends[0] * ends[1]) ** 0.5)
