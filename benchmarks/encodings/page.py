"""The page: targets in words, and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.encodings.rotations import COPY, COPY_BOTH_WAYS
from benchmarks.encodings.shapes import KINDS, LAYERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.encodings.shapes import Shape
    from benchmarks.encodings.timing import Race

PACKAGES = ("rotary-embedding-torch", "x-transformers")
NOISE = 0.05


@dataclass(frozen=True)
class Target:
    """A figure and its bound.

    Parameters
    ----------
    name : str
    found, bound : float
    at_least : bool
        The bound is a lower one.
    """

    name: str
    found: float
    bound: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure keeps the bound."""
        return self.found >= self.bound if self.at_least else self.found <= self.bound


def targets(kinds: Mapping[str, Race], eager: Race, compiled: Race | None, steps: Race) -> list[Target]:
    """Compare the figures of the large shape with what is aimed at."""
    rope = "rope, shared places"
    both = ("shared", "own")
    every = [
        Target("eager rotate over the floor, forward", eager.ratio(rope, COPY), 1.3),
        Target("the same, forward + backward", eager.ratio(f"{rope} both ways", COPY_BOTH_WAYS), 1.4),
    ]
    every += [Target(f"times faster than {name}", eager.ratio(name, rope), 6, at_least=True) for name in PACKAGES]
    every += [
        Target(
            f"ClockRoPE's rotate over RoPE's, {places} places",
            eager.ratio(f"clock, {places} places", f"rope, {places} places"),
            1 + NOISE,
        )
        for places in both
    ]
    every += [
        Target(
            f"ClockRoPE's prepare over the floor, per layer, {places} places",
            kinds["clock"].ratio(f"prepare {places}", COPY) / LAYERS,
            0.5,
        )
        for places in both
    ]
    if compiled is not None:
        every.append(Target("compiled rotate over the floor, forward", compiled.ratio(rope, COPY), 1.35))
    every.append(Target("training step with T-RoPE over RoPE", steps.ratio("t_rope", "rope"), 1.05))
    return every


def target_list(found: Sequence[Target]) -> str:
    """Say which targets are met."""
    rows = [
        (t.name, f"{t.found:.2f}", f"{'≥' if t.at_least else '≤'} {t.bound:g}", "met" if t.met else "**missed**")
        for t in found
    ]
    return "## Targets\n\n" + _table(("", "found", "target", ""), rows)


def peer_table(shape: Shape, race: Race, mode: str) -> str:
    """Set RoPE and ClockRoPE beside the public packages."""
    names = [n for n in race.seconds if not n.endswith("both ways") and n != COPY]
    rows = [(name, _over(race, name, COPY), _over(race, f"{name} both ways", COPY_BOTH_WAYS)) for name in names]
    head = ("", "forward", "forward + backward")
    return f"## Rotate, {mode}, {shape} float32\n\n" + _table(head, rows)


def kind_table(shape: Shape, kinds: Mapping[str, Race]) -> str:
    """List every rotary encoding, per layer."""
    rows = [_kind_row(kind, kinds[kind], places) for kind in KINDS for places in ("shared", "own")]
    head = ("encoding, places", "prepare", "rotate", "rotate f+b", "both", "both f+b")
    return (
        f"## Every rotary encoding, eager, {shape} float32\n\n"
        f"Per layer, of an encoding of {LAYERS} layers that share what they can. Places are shared, (1, T), or each "
        "sample's own, (B, T), on all clocks but the index. `prepare` includes tables that wait until a layer asks. "
        "T-RoPE and TO-RoPE learn, and make their tables within a rotation that has a backward: there `rotate f+b` "
        "includes them.\n\n"
    ) + _table(head, rows)


def _kind_row(kind: str, race: Race, places: str) -> tuple[str, ...]:
    return (
        f"`{kind}`, {places}",
        f"{race.ratio(f'prepare {places}', COPY) / LAYERS:.2f}",
        f"{race.ratio(f'rotate {places}', COPY):.2f}",
        f"{race.ratio(f'rotate both ways {places}', COPY_BOTH_WAYS):.2f}",
        f"{race.ratio(f'all {places}', COPY) / LAYERS:.2f}",
        f"{race.ratio(f'all both ways {places}', COPY_BOTH_WAYS) / LAYERS:.2f}",
    )


def memory_table(found: Mapping[str, Sequence[float]]) -> str:
    """List peak memory."""
    if not found:
        return "## Peak memory\n\nThis system has no resettable high-water mark, so memory was not measured."
    rows = [(name, *(f"{value:.0f}" for value in values)) for name, values in found.items()]
    return (
        "## Peak memory, MiB\n\n"
        "One layer at the large shape, places of each sample, tables included, above queries, keys and gradients; the "
        "rotated queries and keys are 64 MiB of it, their gradients another 64. The kernel's high-water mark of "
        "resident memory (`/proc/self/clear_refs`), in a process where glibc maps every large tensor by itself.\n\n"
    ) + _table(("", "forward", "forward + backward"), rows)


def bias_table(race: Race) -> str:
    """List attention with a bias over attention without."""
    rows = [(name, _over(race, name, "no bias")) for name in race.seconds]
    return "## Causal attention with a bias, (8, 8, 512, 64), forward + backward\n\n" + _table(("", "over none"), rows)


def step_table(race: Race) -> str:
    """List training steps over RoPE's."""
    rows = [(f"`{name}`", _over(race, name, "rope")) for name in race.seconds]
    title = "## A whole training step of the nightly model, by encoding\n\n"
    return title + _table(("", "over rope"), rows)


def _over(race: Race, name: str, floor: str) -> str:
    return f"{race.ratio(name, floor):.2f} ± {race.spread(name, floor):.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
