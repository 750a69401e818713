import os
import subprocess
import sys
from dataclasses import replace

from fints.tuning.owner import Owner


def test_this_process_lives_and_is_the_same_after_storing():
    here = Owner.here()
    assert Owner.from_dict(here.to_dict()) == here
    assert not here.gone()
    assert str(here).endswith(f":{os.getpid()}")


def test_a_process_that_ended_is_gone_also_before_its_parent_asks_how():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = replace(Owner.here(), pid=child.pid, started="")
    assert not owner.gone()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet asked for
    assert owner.gone()
    child.wait()
    child.stdin.close()
    assert owner.gone()


def test_another_process_with_the_same_number_does_not_pass_for_the_owner():
    assert replace(Owner.here(), started="before the machine was started again/7").gone()


def test_of_other_machines_nothing_is_known():
    assert not Owner("elsewhere", 1, "").gone()
