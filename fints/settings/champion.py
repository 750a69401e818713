"""Settings of the succession of models."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from fints.champion.rules import PROMISE, Rules
from fints.settings.section import Section


class ChampionSettings(Section):
    """When another model is used; see `fints.champion`.

    Attributes
    ----------
    enabled : bool
        Whether models have to prove themselves; otherwise every night uses the newest fit.
    level : float
        Chance that a challenger which is no better is promoted in the course of its trial.
    looks : tuple of int
        Windows side by side after which a challenger is judged; the trial ends with the last.
    alarm : float
        Chance that one look takes a champion out of use although it is no worse than HAR; also that one look brings it
        back although it is no better.
    least, recent : int
        Windows side by side that a look at a champion needs, and takes at most; the latter are no fewer.
    margin : float
        How much farther than that of HAR the coverage of the 80 % band may be off before chance is asked; less than
        0.8, farther than which no coverage is off.
    drift : float
        Level of the milder sign of trouble, on which a new fit goes on trial.
    register_fits : bool
        Whether fits go into the MLflow registry.
    """

    enabled: bool = True
    level: float = Field(default=Rules().level, gt=0, lt=0.5)
    looks: tuple[int, ...] = Field(default=Rules().looks, min_length=1)
    alarm: float = Field(default=Rules().alarm, gt=0, lt=0.5)
    least: int = Field(default=Rules().least, ge=3)
    recent: int = Field(default=Rules().recent, ge=3)
    margin: float = Field(default=Rules().margin, ge=0, lt=PROMISE)
    drift: float = Field(default=Rules().drift, gt=0, lt=1)
    register_fits: bool = True

    @field_validator("looks")
    @classmethod
    def _in_order(cls, looks: tuple[int, ...]) -> tuple[int, ...]:
        if list(looks) != sorted(set(looks)) or looks[0] < 3:
            raise ValueError("give the looks in increasing order, the first at 3 windows or more")
        return looks

    @model_validator(mode="after")
    def _every_champion_is_judged(self) -> ChampionSettings:
        if self.least > self.recent:
            raise ValueError(
                f"champion: a look needs {self.least} windows (`least`) and takes {self.recent} at most (`recent`), so "
                f"that no champion would ever be judged; set `recent` to {self.least} or more"
            )
        return self

    @property
    def rules(self) -> Rules:
        """How much evidence a decision needs."""
        return Rules(self.level, self.looks, self.alarm, self.least, self.recent, self.margin, self.drift)
