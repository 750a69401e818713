"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Attention across series, with and without a cycle",
    question="Does an encoding that knows the cycle let attention learn the residual and what crosses between series, "
    "so that attending to other series gains more with it than without?",
    why="""\
The write-up on rotary encodings for finance argues that an encoding which carries the cycle sets attention free: it
need not spend itself on what repeats, and can "learn the residual and cross-asset interaction". If that is so, the
choice of the encoding and that of a panel model belong together, and fints should switch attention across series on
where it uses cycles. If it is not, they are two choices, each to be judged by itself.
""",
    design="""\
A panel of four series has a cycle of 20 bars, of another amplitude and phase in each series, a slow residual, and
noise. In the panel that is *led* the residual of the first series is seen in the three others two bars later; so the
first one tells what its followers will do next, and nothing else does. In the other panel *nothing crosses*: each
series has a residual of its own, of the same law. Errors are those of the three followers, against cycle and residual
without the noise. Up to the trained horizon the leader has something to tell; beyond it the cycle is left.

Arms are no encoding, RoPE and `cycle`, each alone and with attention to the others (*+ others*, the setting
`cross_asset` of the network), which is told of every other series as it was when the context ended. Real bars are the
daily log volume of two indices, with everything that the forecaster has beside it.
""",
    limits="""\
- What a series is told of the others is their latest surprise and means of their past, as the product has it, not all
  of their bars. Leads that are longer than a few bars reach it through these means only.
- Without the linear start the surprise of a bar is its distance from the mean of its context, and holds its cycle; with
  it most of the cycle is taken out first. So the panel without covariates is the harder one for every encoding.
- One law of residuals, one lag and one cycle for all series. Cycles that differ between series, or leaders that
  change, are not tried.
- Of real bars there are two series, and what crosses there within a day is known to both at the same time.
- Seeds of real bars decide the weights alone, so their intervals are those of training, not of the market.
""",
    consequences="""\
- `cross_asset` stays a setting of its own, off by default in the forecaster and in the nightly run, and is not tied to
  the encoding: where series may lead each other, try it with the encoding that is in use anyway. In `fints tune` it is
  tried by naming it under `space.network`. Real bars would have to show a gain before the default changes.
- `cycle` stays the default encoding with and without the others.
""",
)
