"""The text of an HTML body, for mail programs that show no HTML: paragraphs, lists, links and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

_TAG = re.compile(r"(/?)([a-zA-Z][a-zA-Z0-9]*)")
_ATTRIBUTE = re.compile(r"""\b(href|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\n\f\N{NO-BREAK SPACE}]+")
_LINE = "\x01"  # the end of a line that is not empty; several count as one
_BREAKS = re.compile(rf"[ \n{_LINE}]*[\n{_LINE}][ \n{_LINE}]*")
_NEW_LINE, _PARAGRAPH = "\n", "\n\n"
_HIDDEN = {"head", "script", "style", "template", "title"}
_PARAGRAPHS = {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"}
_LINES = {"address", "article", "dd", "div", "dl", "dt", "footer", "header", "main", "section"}


def convert_to_text(html: str) -> str:
    """The text of an HTML document. The address of a link is in parentheses behind its text, if it differs.

    Whatever the document, this takes a time proportional to its length.
    """
    pieces: list[str] = []
    link: tuple[str, int] | None = None  # the address, and where its text begins in `pieces`
    hidden = ""
    for text, tag, is_closing, attributes in _tokens(html):
        if hidden:
            hidden = "" if is_closing and tag == hidden else hidden
        elif not tag:
            pieces.append(_SPACES.sub(" ", unescape(text).replace(_LINE, "")))
        elif tag in _HIDDEN:
            hidden = "" if is_closing else tag
        elif tag == "a":
            if link and is_closing:
                pieces.append(_link_suffix(link[0], "".join(pieces[link[1] :]).strip()))
            link = None if is_closing else (_attribute("href", attributes), len(pieces))
        elif tag == "img":
            pieces.append(_attribute("alt", attributes))
        else:
            pieces.append(_separator(tag, is_closing))
    text = re.sub(" {2,}", " ", "".join(pieces))
    return f"{_BREAKS.sub(lambda match: _PARAGRAPH[: match[0].count(_NEW_LINE)] or _NEW_LINE, text).strip()}\n"


def _tokens(html: str) -> Iterator[tuple[str, str, bool, str]]:
    """The texts and tags: (text, tag in lower case, whether it closes, attributes). Of a text, the tag is empty."""
    position = 0
    while (start := html.find("<", position)) >= 0:
        if start > position:
            yield html[position:start], "", False, ""
        if html.startswith("<!--", start):
            end = html.find("-->", start)
            if end < 0:
                return
            position = end + 3
            continue
        match = _TAG.match(html, start + 1)
        is_declaration = html.startswith(("<!", "<?"), start)
        if not match and not is_declaration:
            yield "<", "", False, ""
            position = start + 1
            continue
        end = html.find(">", start)
        if end < 0:
            position = start
            break
        if match:
            yield "", match[2].lower(), bool(match[1]), html[match.end() : end]
        position = end + 1
    if position < len(html):
        yield html[position:], "", False, ""


def _separator(tag: str, is_closing: bool) -> str:
    if tag == "br":
        return "\n"
    if tag == "hr":
        return f"{_PARAGRAPH}---{_PARAGRAPH}"
    if tag in ("li", "tr"):
        return "" if is_closing else f"{_LINE}- " if tag == "li" else _LINE
    if tag in ("td", "th"):
        return " " if is_closing else ""
    return _PARAGRAPH if tag in _PARAGRAPHS else _LINE if tag in _LINES else ""


def _link_suffix(address: str, text: str) -> str:
    if not address or address.startswith("#") or address.removeprefix("mailto:") == text:
        return ""
    return f" ({address})" if text else address


def _attribute(name: str, attributes: str) -> str:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return unescape(match[2] or match[3] or match[4] or "").strip()
    return ""
