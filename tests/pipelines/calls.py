"""Functions that tests call in other processes."""

import os
import signal
import time
from pathlib import Path

from fints.errors import UnknownNameError


class AwkwardError(Exception):
    def __init__(self, one, other):
        super().__init__(f"{one} of {other}")


def later(seconds, name, stages):
    with stages.stage(name) as stage:
        time.sleep(seconds)
        stage(1, 1)
    return name, os.getpid()


def matrix(seed, stages):
    import torch

    drawn = torch.randn(300, 300, generator=torch.Generator().manual_seed(seed))
    return (drawn @ drawn).double().mean(dim=0).numpy()


def threads(stages):
    import torch

    return torch.get_num_threads()


def unknown(stages):
    raise UnknownNameError("target", "colour", ["log_range"])


def awkward(stages):
    raise AwkwardError("two", "them")


def killed(stages):
    os.kill(os.getpid(), signal.SIGKILL)


def noted(folder, stages):
    (Path(folder) / f"{os.getpid()}.pid").touch()
    time.sleep(120)
