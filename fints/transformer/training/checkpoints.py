"""States of an unfinished training on disk, from which it goes on after a kill.

A state is one file, named by its step and by the hash of its content: it appears whole or not at all, and one that was
damaged later is recognised and passed over. The newest two are kept.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from fints.errors import BundleError

if TYPE_CHECKING:
    from pathlib import Path

LOG = logging.getLogger(__name__)

_KEEP = 2
_SUFFIX = ".state"
_PARTIAL = ".partial"
_MEMBER = "member-"


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """A folder for the states of one training.

    Parameters
    ----------
    folder : Path
        Made when it is needed. Other files in it are left alone.
    purpose : str
        What is trained, as far as weights, settings and data do not say it: a state of another purpose is not used.
    """

    folder: Path
    purpose: str = ""

    def member(self, number: int) -> Checkpoints:
        """Return the place for one of several networks that are trained for the same purpose."""
        return Checkpoints(self.folder / f"{_MEMBER}{number}", self.purpose)

    def write(self, step: int, key: str, state: dict[str, Any]) -> None:
        """Write a state, all of it or nothing, and remove those before the previous one.

        Parameters
        ----------
        step : int
        key : str
            Digest of everything that the training depends on.
        state : dict
            Tensors, numbers and text, in lists and dicts.

        Raises
        ------
        BundleError
            If the folder cannot be written.
        """
        buffer = io.BytesIO()
        torch.save({"key": key, **state}, buffer)
        content = buffer.getvalue()
        target = self.folder / f"{step:09d}-{_digest(content)}{_SUFFIX}"
        partial = target.with_suffix(_PARTIAL)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
            for old in [*self._files()[_KEEP:], *self.folder.glob(f"*{_PARTIAL}")]:
                old.unlink()
        except OSError as error:
            raise BundleError(
                f"the state of the training cannot be written to {self.folder}: {error}; choose a writable folder"
            ) from error

    def newest(self, key: str) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
        """Read the newest state that is whole, and remove what cannot be used.

        Parameters
        ----------
        key : str
            Of the training that wants to go on.

        Returns
        -------
        state : dict or None
            None if there is no state of this training.
        notes : tuple of str
            What was found, in words.
        """
        notes = []
        for path in self._files():
            state = _read(path)
            if state is None:
                notes.append(f"{path} is damaged and was removed")
                path.unlink(missing_ok=True)
            elif state.get("key") != key:
                notes.append(
                    f"the states in {self.folder} were removed: they are of another training (data, settings, seed or "
                    "version differ)"
                )
                self.clear()
                break
            else:
                notes.append(f"went on from step {int(path.name.split('-')[0])}, where a training was stopped")
                _log(notes)
                return state, tuple(notes)
        _log(notes)
        return None, tuple(notes)

    def clear(self) -> None:
        """Remove the states of this training and of its members, and the folder if nothing else is in it."""
        if not self.folder.is_dir():
            return
        for member in self.folder.glob(f"{_MEMBER}*"):
            Checkpoints(member).clear()
        for path in [*self._files(), *self.folder.glob(f"*{_PARTIAL}")]:
            path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _files(self) -> list[Path]:
        """Return the states, the newest first."""
        return sorted(self.folder.glob(f"*{_SUFFIX}"), reverse=True)


def _read(path: Path) -> dict[str, Any] | None:
    """Read a state; None if it is not the one that was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if path.stem.partition("-")[2] != _digest(content):
        return None
    state: dict[str, Any] = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return state


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _log(notes: list[str]) -> None:
    for note in notes:
        LOG.warning("%s", note)
