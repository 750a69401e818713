"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Transposed or standard key",
    question="Does T-RoPE's non-stationary key, turned the other way, give anything that a standard key with "
    "coefficients of its own does not, and what do coefficients give that queries and keys share?",
    why="""\
T-RoPE turns keys the other way and calls that the source of its sensitivity to the date. Its authors report +4.2 %
NDCG@50 and +3.2 % recall at 200 for the transposed key, from one seed, without intervals, on data of their own, and do
not say whether the arm without it kept separate coefficients. If it did, both arms are one model, and the gain is
luck; if it did not, the gain belongs to separate coefficients. A switch that does nothing should not be searched over.
""",
    design="""\
Arms are T-RoPE with its default settings and

- `transposed key`: separate α for queries and keys, keys turned the other way, as published;
- `standard key`: separate α, keys turned as queries are;
- `shared α`: one α for both, standard key: logits depend on the time between query and key alone;
- `shared α, transposed`: one α, transposed key: logits depend on the sum of the two times.

With the same seed the arms draw the same α and the same first weights. One task has two steady cycles, so that nothing
depends on the date but where in the cycle it lies; in the other the period changes at a date in the middle of training,
which a model that knows the date could tell apart. Everything asked lies after the trained dates.
""",
    limits="""\
- That the two keys are one family needs coefficients that are separate, free in sign and drawn symmetrically. Of
  coefficients that are fixed, or started at periods of a plan, the sign matters.
- α is learned as a departure in radians per 1e9 seconds, which suits phases counted from 1970; within training it moves
  phases of a date by a radian, but the time between two bars of a window by next to nothing. What shared and separate
  coefficients come to with faster moving ones is not tried here; the study `learned-or-fixed` has shared ones that do.
- The authors' data, of many users and years, are not here. Dates after the trained ones are the rule in forecasting;
  where dates repeat between training and test, as in theirs, dependence on the date could serve better.
- Training side by side is for softmax blocks; on HSTU blocks the algebra is the same, and a test holds the two
  networks to the same output.
""",
    consequences="""\
- `non_stationary` stays as published, `True`, so that a configuration means what the paper means. With separate α it is
  a spelling, not a choice: `fints tune` does not search it, and should not.
- With `shared=True` the sign of the key *is* a choice. Where `fints tune` is told to search `t_rope.shared`, it tries
  shared α with a standard key, the family of distances instead of that of sums.
- For forecasts, which are always of later dates than training saw, the verdict on shared α says which to take.
- No difference between single trainings with a transposed and a standard key is to be reported as a gain.
""",
)
