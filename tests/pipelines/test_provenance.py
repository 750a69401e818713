import subprocess

import pytest

from pipelines import provenance


@pytest.fixture(autouse=True)
def _afresh():
    provenance.commit.cache_clear()
    yield
    provenance.commit.cache_clear()


def test_a_run_names_what_it_was_made_of():
    tags = provenance.provenance("2018-12-31", 3, "abc")
    assert {tags[f"fints.{key}"] for key in ("as_of", "data_version", "config_hash")} == {"2018-12-31", "3", "abc"}
    assert tags["fints.calendar_version"]
    assert all(isinstance(value, str) for value in tags.values())


@pytest.mark.parametrize("error", [FileNotFoundError, subprocess.TimeoutExpired("git", 10)])
def test_without_git_the_commit_stays_unsaid(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(subprocess, "run", fail)
    assert provenance.commit() == {}


def test_outside_a_checkout_no_other_repository_is_taken_for_that_of_the_code(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance.fints, "__file__", str(tmp_path / "fints" / "__init__.py"))
    assert provenance.commit() == {}
