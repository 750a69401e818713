"""Where a store may lie: libraries read its path as a URL, and some names do not survive that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from fints.errors import ConfigError, StoreError

_MISREAD: Final = re.compile(r"[?\[\]^|\\\x00-\x1f\x7f]|%[0-9A-Fa-f]{2}")


def misread(path: Path) -> str:
    r"""Return the first piece of a path that is taken for something else; empty where there is none.

    Measured with deltalake 1.6: it aborts on ``[``, ``]``, ``^`` and ``|``, refuses control characters, and decodes
    ``\`` and ``%20`` and their like, so that it would write into another folder. So would MLflow with the database that
    lies beside a store: the URL of SQLite ends for it at ``?``.
    """
    found = _MISREAD.search(str(path.absolute()))
    return found.group() if found else ""


def check_place(path: Path) -> None:
    """Pass a path that a store can lie under.

    Raises
    ------
    StoreError
        It holds a piece that is misread.
    """
    if piece := misread(path):
        raise StoreError(
            f"nothing can be kept under {path}: the libraries that write tables misread {piece!r} in a path. "
            "Set FINTS_HOME to a folder whose path is without it; nothing was written"
        )


def full_path(text: str | Path, named: str) -> Path:
    """Return an absolute path, with the home of a user for ``~``.

    Parameters
    ----------
    text : str or pathlib.Path
    named : str
        The variable, option or setting that is to be changed where this cannot be.

    Raises
    ------
    ConfigError
        That user has no home, as one whom only a container knows.
    """
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError(f"{text} is nowhere: no home is known for its ~; set {named} to a full path") from error
