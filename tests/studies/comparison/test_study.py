import dataclasses

import pytest

from fints.errors import ConfigError
from fints.studies import Bench, Chapter, Forest, LineChart, Study
from fints.studies.comparison import BARE, HSTU, Arm, ArmTrial, Block, Comparison, Pair, Scope, Words

WORDS = Words("Title", "Is it?", "Why.", "Design.", "Limits.", "Consequences.")
ARMS = (Arm("cycle", {"kind": "cycle", "share": 1.0}), Arm("rope", "rope"), Arm("none", "none"))
UNITS = 3 * 2 + 2


@dataclasses.dataclass(frozen=True)
class Own:
    number: int

    def settings(self):
        return {"own": self.number}

    def run(self):
        return {"number": self.number, "seconds": 0.5}


def compared(tiny, **rest):
    scope = Scope((Block((tiny,), ARMS, (BARE,), seeds=2), Block((tiny,), ARMS[:2], (HSTU,), seeds=1)), (Own(7),))
    return Comparison(
        name="toy",
        words=WORDS,
        pairs=(Pair("cycle", "rope"), Pair("none", "rope", bands=("beyond",))),
        scopes={"quick": scope},
        verdict=lambda results: [f"Own: {results.extra[0]['number']}."],
        chapters=lambda results: [Chapter("More", f"{len(results.contrasts)} contrasts.")],
        **rest,
    )


@pytest.fixture
def runs(monkeypatch):
    done = []
    run = ArmTrial.run
    monkeypatch.setattr(ArmTrial, "run", lambda self: (done.append(self), run(self))[1])
    return done


def test_it_answers_with_every_part_that_a_page_needs(tiny, bench, recorder):
    study = compared(tiny)
    assert isinstance(study, Study)
    findings = study.run(bench)
    assert findings.verdicts[0] == "Own: 7."
    assert "cannot tell" in findings.verdicts[-1]
    chapters = {chapter.title: chapter for chapter in findings.chapters}
    assert list(chapters) == [
        "Why it matters",
        "Design",
        "Results",
        "More",
        "What fints does because of this",
        "Limits",
        "Data, command and time",
    ]
    contrasts, errors = chapters["Results"].tables
    assert len(contrasts.frame) == 2 + 2 + 1
    assert len(errors.frame) == 3 + 2
    assert [type(chart) for chart in chapters["Results"].charts] == [Forest, LineChart]
    repeat = chapters["Data, command and time"].text
    assert "fints study toy --budget quick" in repeat
    assert tiny.draw(0).digest in repeat
    assert set(recorder.children) == {"cycle", "rope", "none"}
    assert sorted(recorder.children["rope"].curves["by_horizon/wave.bare.rmse"]) == list(range(1, 9))
    assert recorder.curves["wave/cycle_over_rope.bare.within.times"][0] > 0


def test_a_study_that_was_stopped_goes_on_and_a_finished_one_does_nothing(tiny, bench, runs):
    class Killed(BaseException):
        pass

    def stop(done, total):
        if done == 3:
            raise Killed

    with pytest.raises(Killed):
        compared(tiny).run(dataclasses.replace(bench, progress=stop))
    assert len(runs) == 3
    first = compared(tiny).run(bench)
    assert len(runs) == UNITS
    again = compared(tiny).run(bench)
    assert len(runs) == UNITS
    assert again.verdicts == first.verdicts
    assert [c.text for c in again.chapters] == [c.text for c in first.chapters]


def test_more_seeds_are_asked_for_by_the_bench_and_what_is_done_is_kept(tiny, bench, runs):
    compared(tiny).run(bench)
    compared(tiny).run(Bench(bench.folder, "quick", 1, bench.tracker, bench.progress, seeds=3))
    assert len(runs) == 3 * 3 + 2 * 3
    assert {trial.seed for trial in runs} == {0, 1, 2}


@pytest.mark.parametrize("kind", ["arms", "tasks", "modes"])
def test_names_are_unique(tiny, bench, kind):
    one = {"arms": ARMS[0], "tasks": tiny, "modes": BARE}[kind]
    given = {"arms": (ARMS[0],), "tasks": (tiny,), "modes": (BARE,)}
    given[kind] = (one, dataclasses.replace(one))
    study = dataclasses.replace(compared(tiny), scopes={"quick": Scope((Block(**given, seeds=1),))})
    with pytest.raises(ConfigError, match=f"two {kind}"):
        study.run(bench)


def test_figures_can_be_held_to_a_band_and_to_cells(tiny, bench):
    findings = compared(tiny, drawn=(("wave", "hstu"),), forest="beyond").run(bench)
    forest, lines = findings.chapters[2].charts
    assert len(forest.rows) == 3
    assert [line.name for line in lines.lines] == ["cycle", "rope"]
