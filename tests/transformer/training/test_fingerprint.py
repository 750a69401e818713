from dataclasses import replace

import numpy as np
import pytest
import torch

from fints.transformer.training.fingerprint import fingerprint
from tests.transformer.conftest import small_model

SETTINGS = {"clip": 1.0, "seed": 0}


def test_the_same_training_has_the_same_digest(windows, network):
    again = small_model().design.network_for(0, 0)
    tape = replace(windows.tape, values=windows.tape.values.copy())
    assert fingerprint(SETTINGS, windows.tape, network) == fingerprint(dict(SETTINGS), tape, again)


@pytest.mark.parametrize("field", ["bounds", "ds", "values", "calendar"])
def test_any_change_of_the_data_changes_it(windows, network, field):
    array = getattr(windows.tape, field)
    changed = np.ones((len(windows.tape.ds), 1)) if field == "calendar" else array.copy()
    if field != "calendar":
        changed[-1] += 1
    other = replace(windows.tape, **{field: changed})
    assert fingerprint(SETTINGS, windows.tape, network) != fingerprint(SETTINGS, other, network)


def test_names_clocks_weights_and_settings_count(windows, network):
    tape = windows.tape
    reference = fingerprint(SETTINGS, tape, network)
    clocks = {**tape.clocks, "session": tape.clocks["session"] + 1}
    assert fingerprint(SETTINGS, replace(tape, unique_ids=("AAA", "CCC")), network) != reference
    assert fingerprint(SETTINGS, replace(tape, clocks=clocks), network) != reference
    assert fingerprint({**SETTINGS, "seed": 1}, tape, network) != reference
    with torch.no_grad():
        network.query[0] += 1e-6
    assert fingerprint(SETTINGS, tape, network) != reference
