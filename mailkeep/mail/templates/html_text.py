"""The text of an HTML body, for mail programs that show no HTML: paragraphs, lists, links and rows of tables."""

from __future__ import annotations

import re
from html import unescape

# What a browser would make of broken markup does not matter here: the result is text.
_TOKEN = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][a-zA-Z0-9]*)([^>]*)>|<![^>]*>|([^<]+|<)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""\b(href|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_LINE_ENDS = re.compile(r" *\n *")
_BLANK_LINES = re.compile(r"\n{3,}")
_HIDDEN = {"head", "script", "style", "template", "title"}
_PARAGRAPHS = {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"}
_LINES = {"address", "article", "dd", "div", "dl", "dt", "footer", "header", "li", "main", "section", "tr"}


def convert_to_text(html: str) -> str:
    """The text of an HTML document. Links that differ from their text are in parentheses behind it."""
    pieces: list[str] = []
    links: list[tuple[str, int]] = []  # open links: the address, and where its text begins in `pieces`
    hidden = ""
    for match in _TOKEN.finditer(html):
        closing, name, attributes, text = match.groups()
        if text is not None:
            if not hidden:
                pieces.append(_SPACE.sub(" ", unescape(text).replace("\N{NO-BREAK SPACE}", " ")))
            continue
        tag = (name or "").lower()
        if hidden:
            hidden = "" if closing and tag == hidden else hidden
        elif tag in _HIDDEN:
            hidden = "" if closing else tag
        elif tag == "a":
            if not closing:
                links.append((_attribute("href", attributes), len(pieces)))
            elif links:
                pieces.append(_link_suffix(*links.pop(), pieces))
        elif tag == "img" and (alt := _attribute("alt", attributes)):
            pieces.append(alt)
        else:
            pieces.append(_separator(tag, closing))
    text = _LINE_ENDS.sub("\n", _SPACES.sub(" ", "".join(pieces)))
    return f"{_BLANK_LINES.sub(_PARAGRAPH, text).strip()}\n"


_PARAGRAPH = "\n\n"
_SPACES = re.compile(r" {2,}")


def _separator(tag: str, closing: str) -> str:
    if tag == "br":
        return "\n"
    if tag == "hr":
        return "\n\n---\n\n"
    if tag == "li" and not closing:
        return "\n- "
    if tag in ("td", "th"):
        return " " if closing else ""
    return _PARAGRAPH if tag in _PARAGRAPHS else "\n" if tag in _LINES else ""


def _link_suffix(address: str, start: int, pieces: list[str]) -> str:
    shown = "".join(pieces[start:]).strip()
    if not address or address.startswith("#") or address.removeprefix("mailto:") == shown:
        return ""
    return f" ({address})" if shown else address


def _attribute(name: str, attributes: str) -> str:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return unescape(match[2] or match[3] or match[4] or "").strip()
    return ""
