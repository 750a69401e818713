"""The planted cycle, and how it is searched."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from fints.plan import FrequencyPlan
from fints.studies.planted import PlantedCycles
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
from fints.tuning import SearchSpace, SpaceConfig, Tuner, TuningFolds

if TYPE_CHECKING:
    import pandas as pd

    from fints.encodings import EncodingConfig
    from fints.tuning.sampler import SamplerName

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""

PERIOD, PRIOR = 20.37, 20.0
"""True and told period, in bars."""

TASK = PlantedCycles("valley", "A cycle of 20.37 bars in as much noise", (PERIOD,), (1.0,), 0.5**0.5)
"""Amplitude A and noise of standard deviation σ with A²/2σ² = 1, that is 0 dB."""

CYCLE = "20 sessions"
"""Name of the cycle in the search: that of the prior."""


def cramer_rao(n: int) -> float:
    """Return the Cramér–Rao bound of the relative error of the period of `TASK` in n bars (Rife & Boorstyn 1974)."""
    ratio = TASK.amplitudes[0] ** 2 / (2 * TASK.sigma**2)
    angular = 2 * 3.141592653589793 / PERIOD
    return float((12 / (ratio * n * (n**2 - 1))) ** 0.5 / angular)


@dataclass(frozen=True, slots=True)
class ValleyProtocol:
    """Bars, folds, network and training.

    Parameters
    ----------
    known : int
        Bars before the test period: all that a search may use.
    trained_h, input_size : int
        Horizon that is trained for, and context.
    folds : TuningFolds
    trials : int
    network, training : NetworkConfig, TrainingConfig
        Small and short, so that a trial costs seconds; nothing but the encoding knows of a cycle.
    longer : int
        How many times as many steps the second arm of gradient descent gets.
    """

    known: int = 2000
    trained_h: int = 40
    input_size: int = 120
    folds: TuningFolds = field(
        default_factory=lambda: TuningFolds(
            h=350,
            n_folds=3,
            block=4,
            step_size=40,
            confirm_folds=2,
            confirm_windows=5,
            confirm_h=140,
            test_windows=16,
        )
    )
    trials: int = 40
    network: NetworkConfig = field(
        default_factory=lambda: NetworkConfig(
            dim=32, n_layers=1, n_heads=2, dropout=0.0, covariates=False, companions=False, linear_skip=False
        )
    )
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(
            max_steps=60,
            batch_size=8,
            learning_rate=1e-2,
            frequency_rate=30.0,
            validate_every=20,
            validation_windows=64,
            patience=20,
        )
    )
    longer: int = 10

    @property
    def bars(self) -> int:
        """Bars of the series: what is known, and the test period."""
        return self.known + self.folds.test_windows * self.folds.h

    @property
    def read(self) -> int:
        """Known bars that the search and its confirmation forecast; the others come before."""
        return self.folds.bars - self.folds.test_windows * self.folds.h

    def panel(self, seed: int) -> pd.DataFrame:
        """Return the series as it is observed."""
        return TASK.panel(self.bars, seed)

    def base(
        self, encoding: EncodingConfig | dict[str, object], seed: int, *, longer: bool = False
    ) -> CycleTransformer:
        """Return an unfitted model.

        Parameters
        ----------
        encoding : EncodingConfig or dict
        seed : int
        longer : bool
            Give it `longer` times as many steps.
        """
        training = self.training
        if longer:
            training = training.model_copy(update={"max_steps": self.longer * training.max_steps})
        plan = FrequencyPlan.from_periods([PRIOR])
        model = CycleTransformer(self.trained_h, self.input_size, encoding, plan, random_seed=seed)
        return model.with_settings(self.network, training)

    def tuner(self, seed: int, sampler: SamplerName = "auto") -> Tuner:
        """Return the search.

        Parameters
        ----------
        seed : int
            Of the noise, of the first weights, and of what is drawn.
        sampler : {"auto", "random"}
            ``random``: periods are drawn at random over the whole guard band and kept, no training moves them.
        """
        base = self.base({"kind": "cycle", "share": 1.0}, seed)
        config = SpaceConfig(learn="off") if sampler == "random" else SpaceConfig()
        space = SearchSpace(config, base.plan, base.design.encoding)
        return Tuner(self.panel(seed), space, self.folds, base, sampler=sampler, seed=seed)

    def settings(self) -> dict[str, object]:
        """Return what decides a result, as plain values; settings that are not stated are left out."""
        folds = self.folds
        return {
            "valley": VERSION,
            "bars": [self.known, self.input_size, self.trained_h],
            "folds": asdict(folds),
            "trials": self.trials,
            "network": self.network.model_dump(mode="json", exclude_unset=True),
            "training": self.training.model_dump(mode="json", exclude_unset=True),
        }
