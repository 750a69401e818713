"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Order or time",
    question="What does T-RoPE forecast better than index RoPE and a correct TO-RoPE, and does it matter whether the "
    "cycle runs with the order of bars or with time?",
    why="""\
T-RoPE was published without index RoPE among its rivals, and with a TO-RoPE that loses all that its time bias had
gained, which looks more like a fault of that implementation than like its limit. So nobody knows whether the gain of
turning planes by timestamps is one over turning them by order, nor whether it needs T-RoPE's two parts that break with
distance: coefficients of their own for queries and keys, and keys that turn the other way.
""",
    design="""\
On *even* bars order and time are one clock but for its unit. On the others bars are the closes of real New York
sessions, with weekends, holidays and half-days between: on *order* the cycle runs with sessions, whatever the gaps, on
*time* it runs through weekends and holidays, *both* has one of each. `rope` knows the order. `to_rope` knows both, with
one coefficient per plane for queries and keys, exact phases and rescaled learning: `early` adds the two angles in every
plane, `planes` and `heads` give each a half. `t_rope` knows the date, as published; `t_rope + rope` has it on half of
the planes with index RoPE on the others; `t_rope, distance` shares its coefficients and turns keys as queries, so that
only the time between bars counts (`unit: 1e9`, as for the others). `t_rope, 4 × steps` is trained four times as long,
in the full budget.
""",
    limits="""\
- The planted cycles are sines, and one period of each kind is tried; a routine that depends on the date itself
  (Christmas) is not planted. There T-RoPE's keys could tell what distances cannot.
- On daily bars order and time differ by weekends and holidays alone; where gaps are wilder time gains more.
- The published comparison is on recommendation data with thousands of items and a bias for time beside the rotation;
  this one is on series. That TO-RoPE does well here says that a correct one is no weak rival, not what it would have
  had there.
""",
    consequences="""\
- `t_rope` stays an encoding that is chosen, never a default: with transposed keys it is for what depends on the date
  itself. For a routine it is the wrong one: to give it the order beside (`t_rope + rope`, a split) leaves more error
  than the order alone wherever the two were tried, but on *order*. Coefficients shared and keys turned as queries are
  the subject of `transposed-key`; here the table of errors has them without a test.
- Where order and time differ and no period is known, `to_rope` is the encoding of fints that knows both clocks. Its
  `fusion` follows the cycle: take `planes` where it runs with the order of bars, for `early` had twice the error
  there. No other difference between them was shown, and they lean both ways, so that is no reason to change the
  default for all. Where a period is known, `cycle` and `clock` take it with its clock from the plan.
- TO-RoPE's coefficients stay shared between queries and keys, with exact phases and rescaled learning.
""",
)
