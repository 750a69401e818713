"""Where the templates of pages lie, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fints.report.figures import specification

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent / "templates"


def template(name: str) -> Template:
    """Return the template of a page: what is put in is escaped, and a name that it is not given is an error."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["spec"] = specification
    return environment.get_template(name)


def asset(*names: str) -> Markup:
    """Return style sheets or scripts that lie beside the templates, to be written into a page as they are."""
    return Markup("\n".join((TEMPLATES / name).read_text("utf-8") for name in names))
