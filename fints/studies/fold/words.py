"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Folded or symmetric frequencies",
    question="Does folding ClockRoPE's frequencies win on directed routines, where a cause precedes its effect, and "
    "only there?",
    why="""\
ClockRoPE draws the frequency of each plane from a law that is symmetric about zero, or from the same law folded onto
positive frequencies. Its authors report a little more for the folded laws (+3.61 % against +3.19 % with the Gaussian
kernel, on private data) and explain it by a sense of direction: with all planes turning the same way, attention could
tell the day before the weekly mark from the day after it, and projections would learn what precedes what. If that were
so, the choice would have to follow the data, and fints would have to ask whether a routine is directed.
""",
    design="""\
Arms are ClockRoPE's four laws on half of the planes, the others keeping RoPE: `cosine-sym`, `cosine-fold`,
`gaussian-sym`, `gaussian-fold`. All are told the period. With the same seed a folded draw is the absolute value of the
symmetric one, and all other first weights are equal, so a pair differs in the signs of some planes alone.

On a *directed* routine, causes fall at random, and echoes of nine tenths follow one lag later: one period in
`directed`, one period and two bars in `off-phase`, where the bar at the mirrored phase (two bars less than a period
ago) is a decoy. What stands one lag ahead tells nothing. In the *undirected* routine a bar depends on its phase alone,
by a law that runs the same backwards. Real bars are the log volume of two indices, with the week as the cycle. The
directed routines are asked for no further ahead than their causes are known; there "beyond" means beyond the trained 12
bars, up to 24.
""",
    limits="""\
- The argument needs first weights that are symmetric in sign and queries and keys that are linear projections without
  bias; all networks of fints on softmax blocks are so. With queries and keys divided by their root mean
  square it still holds; with biases or a nonlinearity there, as in HSTU blocks, it does not, and there only
  measurement speaks, on the routines that were tried.
- The private data on which folding was reported to win by 0.4 % are not here, nor is that model. A difference of that
  size between two trainings is what luck of the draw makes; how many seeds it was averaged over is not reported.
- Learned frequencies are not tried: they would move alike, since the sign of the departure is mirrored with the rest.
""",
    consequences="""\
- `gaussian-fold` stays the default law, because some law has to be, not because it forecasts better.
- Nothing in fints asks whether a routine is directed. `fints tune` searches the law only where it is told which; to
  list a law and its folded twin there is to search over luck.
- Nothing is to be read into a difference between a folded and a symmetric law in a single training on softmax blocks.
""",
)
