"""Where the claims were published, and the tags that stand for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A publication.

    Parameters
    ----------
    name : str
        Its tag, without brackets.
    reference : str
        Authors, title, place and year, as far as they are known.
    """

    name: str
    reference: str

    @property
    def tag(self) -> str:
        """How the text and the tables name it: ``[T-RoPE]``."""
        return f"[{self.name}]"

    def at(self, place: str) -> str:
        """Name a place in it: ``[T-RoPE] eq. 12``."""
        return f"{self.tag} {place}"


CYCLE_ROPE = Source(
    "cycle-RoPE",
    "“Transformer 旋转位置编码金融改进：让周期与相位进入注意力” (rotary position encoding for finance: period and "
    "phase enter attention). A note in Chinese with its scripts, which names no author.",
)
CLOCK_ROPE = Source(
    "ClockRoPE",
    "“ClockRoPE: Random Fourier Rotations for Temporal Routine Modeling”, YouTube and Google DeepMind, 2026-07-29.",
)
T_ROPE = Source("T-RoPE", "T-RoPE (Time-aware RoPE), Shopify, MIT and Liquid AI, arXiv 2609.30576 v1, 2026-09-24.")
TO_ROPE = Source("TO-RoPE", "TO-RoPE (Time-and-Order RoPE), arXiv 2510.20455.")
ROPE = Source("RoPE", "Su et al., “RoFormer: Enhanced Transformer with Rotary Position Embedding”, 2021.")
ALIBI = Source(
    "ALiBi",
    "Press et al., “Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation”, "
    "ICLR 2022.",
)
MCDIARMID = Source("McDiarmid", "McDiarmid, “On the method of bounded differences”, Surveys in Combinatorics, 1989.")

SOURCES = (CYCLE_ROPE, CLOCK_ROPE, T_ROPE, TO_ROPE, ROPE, ALIBI, MCDIARMID)
