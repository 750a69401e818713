"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Learned or fixed frequencies",
    question="Do frequencies that are learned beat those that ClockRoPE's prior fixes, and does it matter where "
    "learning starts?",
    why="""\
Two schools disagree on where frequencies come from. ClockRoPE draws them from a kernel of known period and keeps them;
its authors report that learning them from zero loses (−1.44 %) and that learning them from the drawn ones changes next
to nothing (+2.01 % for +1.96 %, +3.23 % for +3.61 %). T-RoPE has a bank of time scales and learns a coefficient for
every plane. If learning found periods, fints would need no detection; if it does not, a plan has to come first.
""",
    design="""\
Arms differ in where half of the planes start, the others keeping RoPE, and in whether and how fast training moves them:

- `fixed`, `prior, learned`, `prior, learned fast`: ClockRoPE's Gaussian law of the true periods;
- `zero, learned fast`: planes that stand still at first;
- `random, fixed`, `random, learned fast`: frequencies of a normal law with a standard deviation of 0.08 turns per bar,
  which knows no period but covers all that are here;
- `T-RoPE` with its published settings, whose scores depend on the date; `bank, fixed` and `bank, learned fast`, which
  is its bank without that dependence: one α for queries and keys, and a standard key; all without a plan, and on all
  planes;
- `rope`, which has no such planes;
- in the full budget also the prior on all planes, the cosine law fixed and learned, learning from zero slowly, and
  periods told 5 % too long, fixed and learned.

Learned frequencies are departures in radians per unit. *Fast* means a unit of one bar: in 400 steps the optimiser can
move a plane by about 0.14 turns per bar, which is beyond every period here. The others have fints' default of 100 bars
(T-RoPE: 1e9 seconds), where it moves a hundredth of that, or less. Zero and random starts are fast, because slow ones
could not arrive. Errors are over the whole horizon, up to the trained one and beyond.
""",
    limits="""\
- Prior and data agree: the period that ClockRoPE is told is the true one. With a wrong one learning has more to gain;
  the full budget tries that once, and the studies `valley` and `unknown-period` treat it in full.
- 400 steps of one learning rate for weights and frequencies. More steps and a rate of their own would move frequencies
  farther; whether nearer, the table of moves lets one guess.
- The reported figures are of a ranking model with far more data. Signs are compared, not sizes.
- The bank has all planes, ClockRoPE half of them beside RoPE, as either is used; the full budget holds the bank
  against ClockRoPE on all planes too. All heads of a layer share the bank's frequencies, the others have their own.
- Bars are a day apart, so the bank's scales below a day are frequencies at random.
- On real bars "true" means the week and its harmonics, which is what daily bars show, not all that there is.
""",
    consequences="""\
- `learn` stays False by default in `clock`, `cycle`, `rope` and `rfr`: nowhere was learning from a prior that knows the
  period shown to gain.
- How far learned frequencies may go is the doing of `unit`: 100 bars by default, which keeps them by a start that is
  worth keeping. T-RoPE's 1e9 seconds hardly move the frequencies of a window at all; where its scores depend on
  distances alone the default is now 1e7, and a bank that shall find periods wants the seconds of a bar.
- The default of the product stays a plan of detected or given periods. A learned bank is not shown to forecast better
  than the prior anywhere, and on `sample` the two are equal.
- T-RoPE is not the default of anything. For forecasts of later dates than training saw, give it `shared: true` and
  `non_stationary: false`, so that scores depend on distances; see `transposed-key`.
""",
)
