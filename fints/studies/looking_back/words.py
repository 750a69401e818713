"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Looking back one day and one week",
    question="Does attention look back one day and one week, as ClockRoPE's authors show, with RoPE, with ClockRoPE, "
    "and with both, and is it the same with symmetric and folded laws?",
    why="""\
ClockRoPE's authors draw attention by distance and find that a model with ClockRoPE looks back one day and one week,
where one with RoPE looks at the latest bars. Their data are private and there is one model of each, so it cannot be
told whether the look is learned, put there by the encoding, or luck. If an encoding decides where attention *can*
look, its choice is the most direct lever that fints has on what a forecast rests on, and the chart of attention in the
explanations of forecasts can be read as such.
""",
    design="""\
An exchange has about seven hours a session and five sessions a week; so the routines have a *day* of 7 bars and a
*week* of 35. In the *directed* one causes fall at random and are heard again one day and one week later: these two
looks back tell all that can be told, and bars of the same phase at any other distance add nothing. In the *undirected*
one every phase of the day and of the week has its own level, in noise: a week back tells all of it, a day back half.
The context holds two weeks and a half. Real bars are the daily log volume of two indices, where a week is 7 calendar
days and a day is a bar.

Arms are RoPE; ClockRoPE with the Gaussian law on half of the planes and RoPE on the others (*both*), folded and
symmetric; ClockRoPE on all planes (*clock*), folded and symmetric; and *cycle*, the product's default. All but RoPE are
told day and week, ClockRoPE as a mixture of both. Attention is read as in the explanations of forecasts: the weights of
the tokens of the bars asked for, in every layer and head, at the first four bars ahead (real bars: the first), whose
context begins near enough to see what surrounds a day.
""",
    limits="""\
- Attention says what a head reads from, not what the forecast makes of it: a value that is looked at may be weighed
  down by the layers behind.
- The mean over heads is that of attention's mass. One head that looks at a single bar outweighs the others, which the
  column of the strongest head shows.
- Two layers, and routines whose day and week are exact and known; a wrong period is the subject of `unknown-period`.
- A peak is read against the bars around it. A look that is as wide as these is no peak here, though it may be a look.
- Real daily bars have no hours, so of them only the week can be read, and weekends leave holes in the distances.
""",
    consequences="""\
- `cycle` stays the default encoding, which keeps half of its planes for RoPE: without covariates attention reaches the
  day and the week with it on a directed routine, and with *both* the same way. With covariates and the linear start the
  look is not seen, with any encoding.
- The attention by distance in the explanation of a forecast (`fints explain`) is to be read as learned: it is even
  before training, whatever the encoding.
- `gaussian-fold` stays ClockRoPE's default law for want of a reason to change it, see `fold-or-symmetric`.
""",
)
