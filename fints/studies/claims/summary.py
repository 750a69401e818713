"""The headline of the claims: what is reproduced, what holds and what was published wrongly."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fints.studies.claims.sources import CLOCK_ROPE, CYCLE_ROPE, SOURCES, T_ROPE
from fints.studies.findings import Chapter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.claims.claim import Claim


def refutations(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """Group the claims that refute by the statement refuted; all of a group have to pass."""
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.refutes:
            groups.setdefault(claim.refutes, []).append(claim)
    return {statement: group for statement, group in groups.items() if all(c.passed for c in group)}


def headline(claims: Sequence[Claim]) -> str:
    """Count published numbers, published propositions, checks of our own and refuted statements apart.

    Parameters
    ----------
    claims : sequence of Claim

    Returns
    -------
    str
        Begins with the claims that do not hold, if there are any.
    """
    every, passed = Counter(c.kind for c in claims), Counter(c.kind for c in claims if c.passed)
    failed = len(claims) - passed.total()
    wrong = len(refutations(claims))
    return (
        (f"{failed} of {len(claims)} claims do not hold. " if failed else "")
        + f"Published numbers reproduced to the digits stated: {passed['number']} of {every['number']}. "
        f"Checks of published propositions that hold: {passed['proposition']} of {every['proposition']}. "
        f"Further checks, of this page's own, that hold: {passed['own']} of {every['own']}. "
        f"Published statements found wrong: {wrong}{', named below' if wrong else ''}."
    )


def found_wrong(claims: Sequence[Claim]) -> list[str]:
    """Name every published statement that is refuted, with the numbers that refute it, in a sentence each."""
    return [
        f"Found wrong: {statement} ({'; '.join(f'{c.statement}: {c.computed_text}' for c in group)})."
        for statement, group in refutations(claims).items()
    ]


def what_is_checked() -> Chapter:
    """Say whose claims are checked, against which code, and how the tables are to be read."""
    return Chapter(
        "What is checked",
        f"The claims are those of {CYCLE_ROPE.tag}, {CLOCK_ROPE.tag} (with its Random Fourier Rotations) and "
        f"{T_ROPE.tag}; the sources stand at the end. They are checked against the encodings of this package, "
        "`fints.encodings`, which its forecasters use: bases, phases, scores and gradients are taken from that code, "
        "and what they are judged by (closed forms, rational arithmetic, numerical integrals, finite differences) is "
        "computed apart from it. A few rows check a formula, or float32, by itself. Nothing is trained here.\n\n"
        "A plain number under 'stated' has to be met by rounding the one computed; < and > are limits that a statement "
        "has to keep in floating point. Where the source is 'own', nobody published the claim: it is a property of "
        "the code, or a number that this page adds. A row that 'refutes the source' shows a published statement to be "
        "wrong.",
    )


def sources() -> Chapter:
    """List the publications by tag."""
    listed = "\n".join(f"- {source.tag} {source.reference}" for source in SOURCES)
    return Chapter(
        "Sources",
        f"{listed}\n\n"
        f"{CLOCK_ROPE.tag} and {T_ROPE.tag} are checked as detailed reading notes in Chinese restate them, with the "
        "equation numbers given there; whether a slip is the paper's or the note's was not looked up. 'note' marks "
        "what such a note adds to its paper, 'script' what the code printed in a note computes.",
    )
