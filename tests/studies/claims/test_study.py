"""The study holds every published number, and one wrong number fails it."""

import re
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal

import pytest

from fints.studies import Bench, Study, get_study
from fints.studies.claims import Claims, study
from fints.studies.claims import arithmetic as arithmetic_module
from fints.studies.claims import convergence as convergence_module
from fints.studies.claims import dates as dates_module
from fints.studies.claims import extrapolation as extrapolation_module
from fints.studies.claims import gradients as gradients_module
from fints.studies.claims import harmonics as harmonics_module
from fints.studies.claims import scan as scan_module
from fints.studies.claims import score_maps as score_maps_module
from fints.studies.claims import traps as traps_module
from fints.studies.claims import unbiasedness as unbiasedness_module
from fints.studies.claims.arithmetic import naive
from fints.studies.claims.bases import Errors
from fints.studies.claims.claim import Above, Below, Near, Value
from fints.studies.claims.sources import SOURCES
from fints.studies.claims.study import conclude
from fints.studies.claims.summary import headline

DRAWS = 2000
PARTS = {
    "extrapolation": extrapolation_module.extrapolation,
    "scan": scan_module.frequency_scan,
    "score_maps": score_maps_module.score_maps,
    "traps": traps_module.traps,
    "unbiasedness": lambda: unbiasedness_module.unbiasedness(DRAWS),
    "convergence": lambda: convergence_module.convergence(DRAWS),
    "harmonics": harmonics_module.harmonics,
    "dates": dates_module.dates,
    "gradients": gradients_module.gradients,
    "arithmetic": arithmetic_module.arithmetic,
}
PUBLISHED = ["0.7071", "0.7300", "0.2500", "0.3124", "0.3142", "0.7092", "0.7071", "1.1181", "0.3027"]


class Silent:
    """A tracker that remembers figures only."""

    def __init__(self):
        self.metrics = {}

    def log_params(self, params):
        pass

    def log_metrics(self, metrics, step=0):
        self.metrics.update(metrics)

    def log_curves(self, curves):
        pass

    def child(self, name, tags):
        return nullcontext(self)


@pytest.fixture(scope="module")
def evidence():
    return {name: part() for name, part in PARTS.items()}


def test_every_claim_holds(evidence):
    findings = conclude(evidence.values())
    assert findings.passed, findings.verdicts
    assert findings.verdicts[-len(evidence) :] == [e.holds for e in evidence.values()]


def every_claim(evidence):
    return [claim for e in evidence.values() for claim in e.claims]


def counts_of(sentence):
    """Read the headline as the reader does: what is counted, and how many."""
    parts = [part.split(": ") for part in sentence.rstrip(".").split(". ") if ": " in part]
    return {name: count.split(",")[0] for name, count in parts}


def test_the_headline_counts_numbers_propositions_own_checks_and_refutations_apart(evidence):
    claims = every_claim(evidence)
    published = [c for c in claims if c.source and not c.refutes]
    numbers = sum(isinstance(c.stated, Value) for c in published)
    own = sum(not c.source for c in claims)
    assert counts_of(headline(claims)) == {
        "Published numbers reproduced to the digits stated": f"{numbers} of {numbers}",
        "Checks of published propositions that hold": f"{len(published) - numbers} of {len(published) - numbers}",
        "Further checks, of this page's own, that hold": f"{own} of {own}",
        "Published statements found wrong": str(len({c.refutes for c in claims if c.refutes})),
    }
    assert len(published) + own < len(claims)


def test_what_was_published_wrongly_is_named_in_a_sentence_each(evidence):
    findings = conclude(evidence.values())
    named = [sentence for sentence in findings.verdicts if sentence.startswith("Found wrong: ")]
    assert findings.verdicts[1 : 1 + len(named)] == named
    for told in ("[cycle-RoPE] §2 and §3 see the stripes", "[cycle-RoPE] §7, trap 3", "[T-RoPE] eq. 12"):
        assert sum(told in sentence for sentence in named) == 1
    assert len(named) == 3


def test_a_statement_that_is_not_refuted_is_not_called_wrong(evidence):
    whole = evidence["score_maps"]
    first = next(i for i, c in enumerate(whole.claims) if c.refutes)
    claims = [*whole.claims[:first], spoilt(whole.claims[first]), *whole.claims[first + 1 :]]
    findings = conclude([replace(whole, claims=claims)])
    assert not findings.passed
    assert counts_of(findings.verdicts[0])["Published statements found wrong"] == "0"
    assert not any(sentence.startswith("Found wrong") for sentence in findings.verdicts)
    assert "Rows that refute a published statement: 1 of 2." in findings.chapters[1].tables[0].caption


def test_every_claim_cites_a_source_that_is_listed_and_every_source_is_cited(evidence):
    findings = conclude(evidence.values())
    tags = {source.tag for source in SOURCES}
    cited = {claim.source.split(" ")[0] for claim in every_claim(evidence) if claim.source}
    assert cited <= tags
    text = " ".join(chapter.text for chapter in findings.chapters[:-1])
    assert {tag for tag in tags if tag in text} == tags
    assert all(tag in findings.chapters[-1].text for tag in tags)
    assert not re.search(
        r"(?<!\] )(?:[Ee]q\.|[Ee]quation|[Pp]roposition|Algorithm) ?\d", " ".join([*findings.verdicts, text])
    )


def test_every_published_number_of_least_squares_is_there_with_four_digits(evidence):
    stated = [str(c.stated) for name in ("extrapolation", "scan") for c in evidence[name].claims]
    for text in PUBLISHED:
        assert stated.count(text) >= PUBLISHED.count(text)
    assert stated.count("< 1e-12") == 3
    assert "< 1e-6" in stated


def test_no_figure_of_the_report_is_drawn_twice(evidence):
    slugs = [chart.slug for e in evidence.values() for chart in e.charts]
    assert len(slugs) == len(set(slugs))
    assert sum(slug.startswith("scores_") for slug in slugs) == 3


def spoilt(claim):
    match claim.stated:
        case Value(text):
            wrong = float(text) + 0.6 * 10.0 ** int(Decimal(text).as_tuple().exponent)
        case Below(limit):
            wrong = limit * 1.001
        case Above(limit):
            wrong = limit * 0.999
        case Near(value, tolerance):
            wrong = value + 1.001 * tolerance
    return replace(claim, computed=wrong)


@pytest.mark.parametrize("name", sorted(PARTS))
def test_any_single_wrong_number_fails_the_study(evidence, name):
    whole = evidence[name]
    for i, claim in enumerate(whole.claims):
        claims = [*whole.claims[:i], spoilt(claim), *whole.claims[i + 1 :]]
        findings = conclude([replace(whole, claims=claims), *(e for n, e in evidence.items() if n != name)])
        assert not findings.passed, claim.statement
        assert findings.verdicts[0].startswith("1 of ")
        assert claim.statement in findings.verdicts[1]


def shifted_errors(basis, y, trained=200):
    found = shifted_errors.real(basis, y, trained)
    return Errors(found.fitted, found.extrapolated + 2e-4)


shifted_errors.real = extrapolation_module.errors


def in_float32(alpha, seconds, *, half=False):
    return naive(alpha, seconds)


MUTANTS = {
    "least squares off by 2e-4": ("extrapolation", extrapolation_module, "errors", lambda real: shifted_errors),
    "a scan off by 2e-4": ("scan", scan_module, "scan", lambda real: lambda t, y: real(t, y) + 2e-4),
    "no refinement": ("scan", scan_module, "refine", lambda real: lambda theta, y: theta),
    "maps mirrored": (
        "score_maps",
        score_maps_module,
        "rotary_scores",
        lambda real: lambda encoding: real(encoding)[:, ::-1],
    ),
    "a transform that always finds 20": ("traps", traps_module, "fft_period", lambda real: lambda period: 20.0),
    "frequencies 5 % too high": (
        "unbiasedness",
        unbiasedness_module,
        "draw",
        lambda real: lambda kernel, shape, seed: 1.05 * real(kernel, shape, seed),
    ),
    "deviations that do not shrink": (
        "convergence",
        convergence_module,
        "deviations",
        lambda real: lambda kernel, dim, draws, seed: real(kernel, 16, draws, seed),
    ),
    "coefficients 1e-9 too large": (
        "harmonics",
        harmonics_module,
        "integrals",
        lambda real: lambda n: real(n) * (1 + 1e-9),
    ),
    "keys given their own sign": (
        "dates",
        dates_module,
        "with_key",
        lambda real: lambda encoding, bank, sign: real(encoding, bank, -sign),
    ),
    "transposed taken for standard": ("gradients", gradients_module, "TRANSPOSED", lambda real: 1),
    "phases in float32": (
        "arithmetic",
        arithmetic_module,
        "ours",
        lambda real: in_float32,
    ),
}


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_a_wrong_computation_fails_the_study(monkeypatch, mutant):
    part, module, name, make = MUTANTS[mutant]
    monkeypatch.setattr(module, name, make(getattr(module, name)))
    findings = conclude([PARTS[part]()])
    assert not findings.passed
    assert "do not hold" in findings.verdicts[0]


def test_the_study_runs_by_its_name_and_counts_what_it_checked(monkeypatch, tmp_path):
    names = ("unbiasedness", "convergence", "frequency_scan", "score_maps", "dates", "harmonics", "arithmetic")
    small = extrapolation_module.extrapolation()
    for name in names:
        monkeypatch.setattr(study, name, lambda *draws: small)
    tracker, seen = Silent(), []
    found = get_study("claims")
    assert isinstance(found, Study)
    assert isinstance(found, Claims)
    findings = found.run(Bench(tmp_path, "quick", 1, tracker, lambda done, of: seen.append((done, of))))
    assert findings.passed
    assert seen == [(i, 10) for i in range(1, 11)]
    rows = sum(len(chapter.tables[0].frame) for chapter in findings.chapters[1:-1])
    assert tracker.metrics == {"claims": rows, "claims_failed": 0, "statements_refuted": 1}


def test_zeros_that_the_figure_of_the_tails_leaves_out_are_named(evidence):
    whole = evidence["convergence"]
    chart = next(chart for chart in whole.charts if chart.slug == "tails")
    drawn = {(line.name, dim) for line in chart.lines if line.name.startswith("draws") for dim in line.x}
    for epsilon in (0.2, 0.5):
        for dim in convergence_module.DIMS:
            named = f"D = {dim}, ε = {epsilon:g}" in whole.text
            assert named is ((f"draws, ε = {epsilon:g}", dim) not in drawn)
    assert "zeros left out" in chart.title
