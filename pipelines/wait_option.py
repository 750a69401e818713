"""``--wait-for-close``: the night sleeps until there is something to forecast from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.options import screen

if TYPE_CHECKING:
    import pandas as pd

    from fints.settings import NightlySettings


def wait_for_close(settings: NightlySettings, asked: pd.Timestamp | None) -> None:
    """Say until when, and sleep; the home is not held meanwhile.

    Raises
    ------
    ConfigError
        If an as-of was asked for.
    """
    import pandas as pd

    from fints.errors import ConfigError
    from pipelines import clock
    from pipelines.home import Home
    from pipelines.schedule_exchanges import exchanges_of
    from pipelines.waiting import following, tonight, wait_until

    if asked is not None:
        raise ConfigError("--wait-for-close waits for tonight, and --as-of names another night; leave one of them out")
    places, settle = exchanges_of(settings, Home.from_environment()), pd.Timedelta(minutes=settings.settle)

    def look() -> pd.Timestamp | None:
        now = clock.now()
        end = tonight(places.names, now, settle)
        if end is None:
            later = following(places.names, now, settle).when
            names = ", ".join(places.names)
            said = f"nothing to wait for: no session of {names} is still to end today; the next night is {later}"
        else:
            said = f"waiting until {end.when}: {end.why}"
        screen(stderr=True).print(said, highlight=False, markup=False, soft_wrap=True)
        return None if end is None else end.until

    until = look()
    if until is not None:
        wait_until(until, clock.now, anew=look)
