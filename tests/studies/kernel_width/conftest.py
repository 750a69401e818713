import numpy as np
import pytest

from fints.studies.comparison import BARE, Results
from fints.studies.kernel_width.grid import COSINE, DIVISORS, FULLEST, TRUNCATIONS, WIDTHS, arm_name
from fints.studies.kernel_width.study import ARMS, ONE_LINE, TASKS, kernel_width

MODES = {BARE.name: BARE}


@pytest.fixture
def swept():
    """Results whose error rises with the distance of log σ from a best one, and with harmonics that are left out."""

    def make(best, steep=0.3, spread=0.01, short=1.0, seeds=8, truncations=TRUNCATIONS):
        units, luck = {}, spread * np.random.default_rng(0).standard_normal(seeds)
        for name, own in WIDTHS.items():
            for s in truncations:
                for divisor in DIVISORS:
                    level = 0.4 * np.exp(steep * abs(np.log(divisor / best(own)))) * (short if s < FULLEST else 1.0)
                    # No width is lucky on average: every kernel has the same luck in another order of the seeds.
                    levels = level * np.exp(np.roll(luck, DIVISORS.index(divisor)))
                    units[name, BARE.name, arm_name(divisor, s)] = [
                        {"squared": [float(one) ** 2] * 48, "loss": 0.1, "seconds": 1.0, "learned": {}}
                        for one in levels
                    ]
            units[name, BARE.name, COSINE] = units[name, BARE.name, arm_name(own, FULLEST)]
        return Results(
            budget="full",
            arms={arm.name: arm for arm in (*ARMS.values(), ONE_LINE)},
            tasks=TASKS,
            modes=MODES,
            units=units,
            pairs=kernel_width().pairs,
        )

    return make
