"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Exact phases",
    question="How much of T-RoPE's behaviour at β = 100 s is rounding noise of float32 phases?",
    why="""\
T-RoPE turns planes by α·t/β with t in Unix seconds and prescribes float32 for it. Float32 holds today's times to 128 s
and an angle of 16 million radians to 1 or 2 radians, so in the fastest planes neighbouring bars get phases that have
little to do with their times. Whether the model suffers, or merely learns to look past these planes, was not asked;
and the small coefficients that are reported after training were suspected to be a flight from that noise.
""",
    design="""\
Each pair is one model, with the same seed, data and first weights, once with fints's phases (float64 in two parts,
error below 1e-6 rad) and once with places, angles and trigonometry in plain float32. The variant lives in this study;
the product does not have it. `exact` and `float32` are T-RoPE as published, whose transposed key makes scores depend on
the date. `distance` shares α between queries and a standard key, so scores depend on the time between bars alone
(`unit: 1e9`). `β = 100 s` is that with every plane at the fast end of the bank. On *minutes* bars come at irregular
times, four minutes apart on average, and a cycle of 48 minutes runs with time: there the order tells less than the
clock, and the fast planes are those that could tell. On *days* an 11-day cycle is seen at the closes of New York
sessions; there planes below a day alias, exactly or not.
""",
    limits="""\
- Float32 is emulated for T-RoPE's formula in the order α·(t/β); other orders round elsewhere by about as much.
- The networks are small and trained for 400 steps; a long training could learn to silence noisy planes.
- On a bank of eight planes one or two are noisy, and a plane that is noise can be left unused at little cost.
  `β = 100 s` shows what the noisy planes are worth by themselves.
- Coefficients start at N(0, 1). With the coefficients of 0.005 to 0.023 that are reported after training, angles are a
  hundred times smaller, and so is the noise.
""",
    consequences="""\
- Phases stay exact in fints, with no switch for float32: `cost` has the price of T-RoPE with them, and what a plane
  knows does not depend on the year in which it is asked.
- `t_rope` keeps `beta_min = 100` as published: with exact phases a plane there is worth its place even on daily bars,
  whose whole turns between bars leave a longer period that is the same every day.
""",
)
