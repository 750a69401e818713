"""What the study says of itself."""

from __future__ import annotations

from fints.studies.comparison import Words

WORDS = Words(
    title="Width and truncation of ClockRoPE's kernel",
    question="Is the best width σ of ClockRoPE's kernel where the theory of kernels puts it, and how many harmonics s "
    "does it need?",
    why="""\
ClockRoPE draws the frequencies of its planes so that attention fades, on average, as a Gaussian of width σ around every
whole period. Its authors chose 2 hours of 24 by trial on private data (1 to 2 hours was worth +0.95 % to +2.12 %), and
fints has taken σ = T/12 and s = 6 over for cycles of any length. If theory told the width, it could be read off the
data; if the network did not care, there would be nothing to set.
""",
    design="""\
64 series of 24 hours a day, each with a random profile of its own that repeats every day, in noise as large as itself.
Profiles are Gaussian processes around the clock: two hours are alike by their distance, exp(−d²/2w²), with w of half an
hour, one hour and two hours (T/48, T/24, T/12). A window shows three days, so the network has to average over days and
over neighbouring hours, as far as these are alike. Errors are held against the profile.

Arms are ClockRoPE (`gaussian-fold`, all planes) told the period, over a grid of σ (T/96 to T/7.5, beyond which the
kernel no longer falls off within its period) and s (2, 6, 12; on 24 hours there is no harmonic above 12). With the same
seed all have the same first weights, windows and data. All planes turn with the day, so all days ahead have the same
error, and the horizon is not divided. The quick budget leaves the grid out: σ at s = 12, and s on the broadest routine.
The arm with calendar covariates and a linear start (*whole*) has the broadest routine, and real bars the week.
""",
    limits="""\
- The grid is coarse: a factor of two between widths, and less at the broad end, where the kernel ceases to be one. An
  optimum is known up to its neighbours.
- Three days a window, noise as large as the routine, one network of 32 channels and one length of training. With
  shorter training, more heads or less noise a prior may count for more or less.
- Each head draws 8 planes, so it realises its kernel roughly; the theory is that of infinitely many.
- Profiles are Gaussian processes with one width. Real routines have sharp hours and flat ones.
- On real bars the truth is not known, and daily bars show five phases of a week: only whether σ matters is asked there.
""",
    consequences="""\
- `clock` keeps `sigma_over_period` = 1/12 and `truncation` = 6: no other width was shown to be better, on planted
  routines or on real bars, and they hold all but a thousandth of the kernel they describe (2σ* = 3.8).
- `fints tune` searches σ only where it is given a range: over a factor of twelve the error changes by less than luck
  does.
- Who sets σ below T/12 has to raise s with it, to T/πσ: at σ = T/24 that is 8. fints does not do so by itself.
- σ above T/7.4 is warned of and above T/4.9 refused, whatever this study finds: the law is no Gaussian there.
""",
)
