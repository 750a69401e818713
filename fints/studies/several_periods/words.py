"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Several periods in ClockRoPE",
    question="For several periods, is it better to draw every plane from one weighted mixture of all, or to give each "
    "period planes of its own in every head, or heads of its own?",
    why="""\
ClockRoPE's authors give each period a shard of the planes (half for a day, half for a week) and name a mixture, one
law of frequencies over all periods, as something that they did not try. Market plans hold several cycles as a rule, so
fints has to choose. A split needs planes that divide evenly, or as many heads as there are periods; a mixture needs
neither, but a draw may leave a period out.
""",
    design="""\
Half of the planes of each head turn with cycles, the others keep the same planes of RoPE in all arms. `mixture` draws
period and harmonic for every plane (`mixture: true`, equal weights), `split by feature` gives each period as many
planes in every head, `split by head` gives each period heads of its own, all of them by the law `gaussian-fold` with
σ = T/12 and s = 6. `strongest alone` (`mixture: false`) takes of periods of equal strength the shortest.
`cycle` is the reference: planes at the periods themselves, nothing drawn.

Two or three sines in noise of standard deviation 0.3, commensurate (the longer periods are multiples of the shorter, so
that harmonics of one period are the fundamental of another) and not; two routines with shapes of their own, 64 series
of them, which need harmonics; and real bars. Three periods are tried on three heads. The question is asked beyond the
trained horizon, where periods alone carry on. On real bars the week (7 days) and the quarter (91.3 days) are told. The
second arm (*whole*) has calendar covariates and a linear start.
""",
    limits="""\
- Small networks: 2 or 3 heads with 3 or 4 planes for the cycles. In wide heads a draw leaves nothing out, and the ways
  grow alike; the table of chances says how fast.
- Equal weights. A mixture draws periods by their strength in the plan, without whole planes; unequal strengths are not
  tried here.
- The periods are true. What a wrong one costs is the matter of the study of unknown periods.
- Sines are the worst case for a law that draws harmonics: most of its planes turn with lines that are not there. The
  two routines are a fairer one.
""",
    consequences="""\
- `split` by feature or by head and `mixture` all stay: they are the same machinery, and cost the same.
- `clock` draws from all cycles of its plan by default since this study; before, it took the strongest alone. `cycle`,
  the forecaster's default encoding, holds all periods of its plan by itself.
""",
)
