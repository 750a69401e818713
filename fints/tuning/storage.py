"""Where a study lies: a journal file, or a database that many machines reach."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fints.errors import ConfigError, FintsError, StoreError
from fints.tuning.journal import open_journal
from fints.tuning.quiet import quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optuna.storages import BaseStorage
    from sqlalchemy.engine import URL

CONNECT_SECONDS = 5
"""After which a server that does not answer counts as unreachable."""

RETRIES = 2
"""How often a trial whose worker died is tried again."""

_NAME = re.compile(r"[\w.][\w. -]*")
_TRIES = 5


@dataclass(frozen=True, slots=True)
class StudyStore:
    """A study by its name, in a storage.

    Parameters
    ----------
    name : str
        Letters, digits, dots, blanks, ``-`` and ``_``.
    url : str or Path
        ``postgresql://…``, for many machines, or another URL of SQLAlchemy; without ``://``, the path of a journal.
    heartbeat, grace : int
        Seconds between two signs of life of a trial in a database, and after which one without is taken for dead.

    Raises
    ------
    ConfigError
        If the name is none, or the URL cannot be read.
    """

    name: str
    url: str | Path
    heartbeat: int = 60
    grace: int = 180

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"a study is named by letters, digits, '.', '-' and '_'; got {self.name!r}")
        if self.heartbeat < 1 or self.grace <= self.heartbeat:
            raise ConfigError(
                f"signs of life come every {self.heartbeat} s, and a trial counts as dead after {self.grace} s; "
                "the latter has to be the longer"
            )
        if self.remote:
            self._parsed()

    @property
    def remote(self) -> bool:
        """Whether it lies in a database."""
        return "://" in str(self.url)

    @property
    def location(self) -> str:
        """Where it lies, without a password."""
        return self._parsed().render_as_string(hide_password=True) if self.remote else str(self.url)

    def named(self, name: str) -> StudyStore:
        """Return another study: in the same database, or in a journal beside this one's."""
        url = self.url if self.remote else Path(self.url).with_name(f"{name}.journal")
        return StudyStore(name, url, self.heartbeat, self.grace)

    def exists(self) -> bool:
        """Tell whether the study is there.

        Raises
        ------
        StoreError
            If the storage cannot be reached.
        """
        if not self.remote and not Path(self.url).exists():
            return False
        return any(study.study_name == self.name for study in self.open().get_all_studies())

    def check(self) -> None:
        """Reach the storage, and make what it needs where it is new.

        Raises
        ------
        StoreError
            If it cannot be reached or written.
        ConfigError
            If the package that talks to such a database is not installed.
        """
        self.open()

    def open(self) -> BaseStorage:
        """Open the storage; see `check`."""
        with quiet():
            return self._database() if self.remote else open_journal(Path(self.url))

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Say in words that the storage was lost, where what is done with it fails.

        Raises
        ------
        StoreError
            In the place of what the database, or the file, complains of.
        """
        try:
            yield
        except FintsError:
            raise
        except Exception as error:
            fault = _fault_of(error)
            if fault is None:
                raise
            raise StoreError(
                f"the storage {self.location} was lost: {self._cause(fault)}. What was finished is kept, and the same "
                "search goes on from there"
            ) from error

    def _parsed(self) -> URL:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            url = make_url(str(self.url))
        except ArgumentError as error:
            raise ConfigError("the URL of the storage cannot be read; write postgresql://user@host/database") from error
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        return url

    def _database(self) -> BaseStorage:
        import sqlalchemy.exc as faults
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random

        # Two that make the same tables at once: one of them finds that they are there.
        race = retry_if_exception_type((faults.IntegrityError, faults.ProgrammingError))
        try:
            tries = Retrying(retry=race, stop=stop_after_attempt(_TRIES), wait=wait_random(0.2, 1), reraise=True)
            for attempt in tries:
                with attempt:
                    return self._connected()
        except (faults.NoSuchModuleError, ImportError) as error:
            raise ConfigError(
                f"{self.location} needs a package that is not installed ({error}); for PostgreSQL: "
                "pip install 'fints[postgresql]'"
            ) from error
        except faults.SQLAlchemyError as error:
            raise StoreError(f"the storage {self.location} cannot be used: {self._cause(error)}") from None
        raise AssertionError("unreachable")

    def _connected(self) -> BaseStorage:
        from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
        from sqlalchemy.pool import NullPool

        url = self._parsed()
        # A connection for each call: none is left open where a process is killed, or goes on without the storage.
        engine: dict[str, object] = {"poolclass": NullPool}
        if url.get_backend_name() == "postgresql":
            engine["connect_args"] = {"connect_timeout": CONNECT_SECONDS}
        return RDBStorage(
            url.render_as_string(hide_password=False),
            engine_kwargs=engine,
            heartbeat_interval=self.heartbeat,
            grace_period=self.grace,
            heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(max_retry=RETRIES),
        )

    def _cause(self, error: BaseException) -> str:
        """Say what a database complains of, without the password."""
        text = " ".join(str(getattr(error, "orig", None) or error).split()).rstrip(".")
        if not self.remote:
            return text
        password = self._parsed().password
        said = text.replace(str(password), "***") if password else text
        return f"{said}. Check that the server runs, its address, user and password"


def _fault_of(error: BaseException | None) -> BaseException | None:
    """Return what a storage complained of, behind what Optuna made of it: its own clean-up may fail on the way."""
    from sqlalchemy.exc import SQLAlchemyError

    while error is not None and not isinstance(error, SQLAlchemyError | OSError):
        error = error.__cause__ or error.__context__
    return error
