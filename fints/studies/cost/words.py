"""What the study says of itself."""

QUESTION = (
    "What do forward, forward and backward, and a whole training step cost with each encoding, over plain RoPE, and "
    "does T-RoPE lose as little throughput as reported?"
)

WHY = """\
T-RoPE's authors report a training throughput that is lower by 3.6 % to 11.5 %, and ClockRoPE's none lower at all; both
on models and machines of their own. An encoding that forecasts a little better may not be worth a night that takes half
as long again, and one that costs nothing needs no reason to be tried. So the price has to be known by encoding, at the
size that fints trains every night and at one where matrix products weigh more.
"""

DESIGN = """\
Every encoding of fints with its defaults, three that also learn their frequencies, and the sum of Time-RAB and T-RoPE
are timed against plain RoPE with the same network, batch and first weights. `rope again` is plain RoPE a second time:
what it shows is what a difference of nothing looks like. The tables of an encoding (*prepare*) are made once for a
batch and serve all layers, so they are timed apart from the rotation, which every layer does again.
"""

LIMITS = """\
- One thread of one kind of CPU, eager, float32. Compiled, in half precision or on a GPU a rotation weighs differently;
  `make bench` times compiled rotations.
- The allocator is left as it is: at these sizes glibc keeps its memory after the first turns. Tensors above 32 MiB
  would be mapped afresh each time, and make everything look alike.
- A rotation of the small network takes less than a millisecond: what is timed there is the number of operators as much
  as their size.
- Ratios of time, not of results: what an encoding gives for its price is in the other studies.
- A table of learned frequencies is made with its graph once in *rotate and back*; *forward and back* and *step* make
  it every time.
"""

CONSEQUENCES = """\
- `cycle` stays the default of the forecaster and of the nightly run: its price is in the first verdict.
- `objective.cost` of `fints tune`, which makes seconds a second objective, stays off by default: between encodings
  within 5 % of a step it would choose by noise. Where a space names dear ones, such as `time_rab`, switch it on.
- T-RoPE is neither made the default by its price nor kept from it; its error decides.
"""
