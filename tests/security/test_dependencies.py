"""What fints depends on has no known hole: none that was known when this was written, and none that the index tells."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FIXED_IN = {
    "filelock": ("3.20.3", "CVE-2025-68146 and CVE-2026-22701: a lock file that is a link"),
    "jinja2": ("3.1.6", "CVE-2025-27516: a way out of the sandbox"),
    "pyarrow": ("14.0.1", "CVE-2023-47248: code in an IPC or Parquet file"),
    "pyyaml": ("5.4", "CVE-2020-14343: code in a document"),
    "requests": ("2.32.4", "CVE-2024-47081: passwords of .netrc sent to another host"),
    "scikit-learn": ("1.5.0", "CVE-2024-5206: training data kept in a model"),
    "torch": ("2.6.0", "CVE-2025-32434: code in a file loaded with weights_only"),
}
"""First release without the hole."""


def required() -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = map(Requirement, project["dependencies"])
    return {requirement.name.lower(): requirement for requirement in listed}


@pytest.mark.parametrize("name", sorted(FIXED_IN))
def test_no_release_with_a_known_hole_is_asked_for_or_installed(name):
    fixed = Version(FIXED_IN[name][0])
    assert Version(importlib.metadata.version(name)) >= fixed
    floors = [Version(each.version) for each in required()[name].specifier if each.operator == ">="]
    assert floors, f"{name} has no lower end"
    assert max(floors) >= fixed, FIXED_IN[name][1]


def test_the_index_knows_of_no_hole_in_what_is_installed():
    """Runs where FINTS_AUDIT is set, as in CI: advisories are asked for over the network."""
    if not os.environ.get("FINTS_AUDIT"):
        pytest.skip("FINTS_AUDIT is not set")
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--local"]
    ran = subprocess.run([*command, "--timeout", "20"], capture_output=True, text=True, timeout=600, check=False)
    if not ran.stdout.strip():
        pytest.skip(f"advisories cannot be had here: {ran.stderr.strip().splitlines()[-1:]}")
    told = json.loads(ran.stdout)["dependencies"]
    audited = [each for each in told if "skip_reason" not in each]
    if not audited:
        pytest.skip("the index here gives no advisories")
    holes = {each["name"]: [hole["id"] for hole in each["vulns"]] for each in audited if each["vulns"]}
    assert holes == {}, "raise the lower ends in pyproject.toml to the releases that mend them"
