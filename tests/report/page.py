"""A page as the tests of reports read it."""

from __future__ import annotations

from html.parser import HTMLParser

Element = tuple[str, dict[str, str | None], list[str]]

VOID = {"meta", "link", "img", "br", "hr", "input", "source"}


class Page(HTMLParser):
    """The elements of a page, each with its attributes and text; fails on elements that do not nest."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.stack: list[Element] = []
        self.feed(html)
        assert not self.stack, f"not closed: {self.stack[-1][0]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self.stack.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for element in self.stack:
            element[2].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        """Return attributes and text of every element of a kind."""
        return [(attrs, "".join(text)) for name, attrs, text in self.elements if name == tag]

    def texts(self, tag: str) -> list[str]:
        """Return the text of every element of a kind as it is read: white space counts once."""
        return [" ".join(text.split()) for _, text in self.all(tag)]
