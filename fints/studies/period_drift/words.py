"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Drifting periods",
    question="Do T-RoPE's effective periods 2πβ/|α| drift away from their nominal bands in training, as [TR]'s figure "
    "suggests?",
    why="""\
T-RoPE's authors ([TR], arXiv 2609.30576) label planes by their time scales β and show coefficients of 0.005 to 0.023
after training, while theirs start at N(0, 1). Taken at its word, planes named after hours would then turn in days and
weeks: periods 50 to 200 times longer than their labels. If training does that, a plane's nominal band says nothing, and
a learned bank cannot be read as a spectrum; if it does not, the bank has to be right before training.
""",
    design="""\
Every arm is T-RoPE on bars of a day, from the same first coefficients by seed. `t_rope` is as fints has it: it learns
the departure of each frequency in radians per 1e9 seconds, at ten times the network's rate (`frequency_rate`), without
decay. `rate × 1` learns it at the network's rate, `fixed` not at all. `near epoch` counts phases from 2020 and learns
in radians per 1e7 seconds, so that a step moves a period by what the bars can tell. `raw α` is as published: α itself
is a weight like others, with their rate and their decay. `distance` shares α and turns keys as queries, so that scores
depend on the time between bars, and the periods alone can tell the cycle; its unit is 1e9 seconds, too.
""",
    limits="""\
- Networks are small and trained for 300 or 400 steps. What a training of a hundred thousand steps does is seen here
  only through the table of what weight decay alone would do; that its time scale fits the reported coefficients is an
  explanation, not a proof.
- The figure of [TR] shows one layer of one model, of which we have neither weights nor data. Coefficients that
  start smaller than reported would explain it as well.
- Planes are called near before training, so a change at random takes them away on average: "move away" is what noise
  does, and only "come closer" would show a search.
- A period is taken from |α|: a plane whose coefficient changes its sign passes through an infinite period unseen.
""",
    consequences="""\
- `TRopeConfig` keeps its parameterisation in radians per `unit`, undecayed: what a plane is called in the plan and in
  the explanation is what it does.
- An `epoch` of 1970 and a `unit` of 1e9 seconds, fints' own, leave all but the slowest periods as good as fixed on a
  few years of daily bars. Where scores depend on distances alone (shared α, standard key), a `unit` as long as a window
  lets periods move, and is the default since this study: it had the smaller error beyond the horizon on two cycles, and
  nowhere a larger one. Where scores depend on the date the two units were not compared, so 1e9 stays.
- Periods come to an encoding from the plan (`plan_share`), from detection or tuning; none is expected of gradients.
""",
)
