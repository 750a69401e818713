"""The Python blocks of the documentation run, page by page, top to bottom."""

import re
from pathlib import Path

import pytest
import yaml

from fints.encodings import ENCODINGS
from fints.settings import BacktestSettings, NightlySettings, TuneSettings, load_settings, read_settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_the_code_on_a_page_runs(page, capsys):
    namespace = {"__name__": "__main__"}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), namespace)
    assert capsys.readouterr().out


def test_there_is_code_to_run():
    assert sum(len(blocks(p)) for p in PAGES) >= 8


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    missing = [target for target in LINK.findall(page.read_text("utf-8")) if not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("config", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda p: p.name)
def test_every_configuration_in_the_repository_is_valid(config):
    keys = yaml.safe_load(config.read_text("utf-8"))
    kind = BacktestSettings if "models" in keys else TuneSettings if "space" in keys else NightlySettings
    assert read_settings(kind, config)


def test_the_commented_defaults_are_the_defaults():
    stated = load_settings(ROOT / "configs" / "nightly.yaml")
    assert stated.model_copy(update={"symbols": None}) == load_settings()
    assert set(yaml.safe_load((ROOT / "configs" / "nightly.yaml").read_text("utf-8"))) == set(type(stated).model_fields)


def test_the_table_of_encodings_holds_every_kind_and_what_it_learns():
    page = (ROOT / "docs" / "how-to" / "encodings.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    learned = {key: said for key, _, said in rows if key in ENCODINGS}
    assert list(learned) == list(ENCODINGS)
    assert {key for key, said in learned.items() if said == "optional"} == {
        key for key, config in ENCODINGS.items() if "learn" in config.model_fields
    }
