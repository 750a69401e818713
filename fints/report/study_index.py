"""The index of a folder of study pages, made from the pages themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TITLE = "# Studies"

HEAD = f"""\
{TITLE}

Each page answers one question, with its intervals, its limits and the command that repeats it. A run of the full budget
rewrites this list from the pages; in bold stands the first verdict of each."""


def render_index(pages: Mapping[str, str]) -> str:
    """Write the index of pages that `render_study` wrote.

    Parameters
    ----------
    pages : mapping of str to str
        Markdown by name of the page, without ending.

    Returns
    -------
    str
        Markdown: title, question, first verdict and command, in the order of the names. What a page does not state is
        left out.
    """
    return "\n\n".join([HEAD, *(_entry(name, pages[name]) for name in sorted(pages))]) + "\n"


def _entry(name: str, page: str) -> str:
    lines = iter(page.splitlines())
    title, question = _first(lines, "# "), _first(lines, "")
    command, verdict = _first(lines, "fints study "), _first(lines, "- ")
    parts = [f"## [{title or name}]({name}.md)", question]
    parts += [f"**{verdict}**" if verdict else "", f"`fints study {command}`" if command else ""]
    return "\n\n".join(part for part in parts if part)


def _first(lines: Iterator[str], start: str) -> str:
    """Return the next line that starts so and says something, without its start; empty if there is none."""
    return next((line.removeprefix(start) for line in lines if line.startswith(start) and line.strip()), "")
