"""The study that checks every published claim which seconds can check."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.errors import ConfigError
from fints.studies.claims.arithmetic import arithmetic
from fints.studies.claims.convergence import convergence
from fints.studies.claims.dates import dates
from fints.studies.claims.extrapolation import extrapolation
from fints.studies.claims.gradients import gradients
from fints.studies.claims.harmonics import harmonics
from fints.studies.claims.scan import frequency_scan
from fints.studies.claims.score_maps import score_maps
from fints.studies.claims.summary import found_wrong, headline, refutations, sources, what_is_checked
from fints.studies.claims.traps import traps
from fints.studies.claims.unbiasedness import unbiasedness
from fints.studies.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fints.studies.claims.evidence import Evidence
    from fints.studies.study import Bench, Budget

DRAWS: Mapping[Budget, int] = MappingProxyType({"quick": 20_000, "full": 50_000})
"""Monte-Carlo draws by budget."""


def conclude(parts: Iterable[Evidence]) -> Findings:
    """Gather what is known of every group of claims; one claim that does not hold fails the study."""
    groups = list(parts)
    claims = [claim for group in groups for claim in group.claims]
    wrong, right = ([g.verdict for g in groups if bool(g.failed) is failed] for failed in (True, False))
    return Findings(
        title="Published claims of the encodings, recomputed",
        verdicts=[headline(claims), *wrong, *found_wrong(claims), *right],
        chapters=[what_is_checked(), *(g.chapter() for g in groups), sources()],
        passed=not wrong,
    )


class Claims:
    """Recomputes the numbers and the propositions that the encodings rest on."""

    name = "claims"
    question = (
        "Do the published numbers and propositions of cycle-RoPE, ClockRoPE and T-RoPE hold of the encodings that "
        "fints itself forecasts with?"
    )

    def run(self, bench: Bench) -> Findings:
        """Answer the question. Nothing is trained and nothing is kept; see `fints.studies.Study`.

        Raises
        ------
        ConfigError
            If a number of seeds is asked for: nothing is trained, so there is nothing to repeat.
        """
        if bench.seeds is not None:
            raise ConfigError("the study of claims trains nothing and has no seeds; leave --seeds out")
        draws = DRAWS[bench.budget]
        parts: list[Callable[[], Evidence]] = [
            extrapolation,
            frequency_scan,
            score_maps,
            traps,
            partial(unbiasedness, draws),
            partial(convergence, draws),
            harmonics,
            dates,
            gradients,
            arithmetic,
        ]
        found = []
        for done, part in enumerate(parts, start=1):
            found.append(part())
            bench.progress(done, len(parts))
        bench.tracker.log_params({"budget": bench.budget, "draws": draws})
        findings = conclude(found)
        claims = [claim for evidence in found for claim in evidence.claims]
        counts = {
            "claims": len(claims),
            "claims_failed": sum(not claim.passed for claim in claims),
            "statements_refuted": len(refutations(claims)),
        }
        bench.tracker.log_metrics({name: float(count) for name, count in counts.items()})
        return findings
