"""A digest of everything that the weights of a training depend on."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fints.series.windows import Tape


def fingerprint(settings: object, tape: Tape, network: torch.nn.Module) -> str:
    """Digest settings, data, first weights, and the versions of what computes with them.

    Parameters
    ----------
    settings : object
        Plain values: dicts, lists, text, numbers.
    tape : Tape
    network : nn.Module
        Before the first step.

    Returns
    -------
    str
        Hexadecimal.
    """
    digest = hashlib.sha256()
    versions = {"fints": version("fints"), "torch": torch.__version__, "numpy": np.__version__}
    digest.update(json.dumps([versions, settings, tape.unique_ids], sort_keys=True).encode())
    for name, array in _arrays(tape, network):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def _arrays(tape: Tape, network: torch.nn.Module) -> Iterator[tuple[str, NDArray[np.generic]]]:
    yield from {"bounds": tape.bounds, "ds": tape.ds, "values": tape.values, "calendar": tape.calendar}.items()
    yield from sorted(tape.clocks.items())
    for name, tensor in network.state_dict().items():
        yield name, np.atleast_1d(tensor.detach().cpu().numpy())
