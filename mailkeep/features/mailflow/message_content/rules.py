"""What the HTTP responses show of a message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from urllib.parse import quote, unquote

_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MAX_IMAGE_CHARACTERS = 16 << 20  # that images may add to the HTML, in base64
_CID_URL = re.compile(r"(?i)\bcid:([^\s\"'<>()\\]{1,800})")
_LINK = re.compile(r"(?i)<(?=link(?![^\s/>]))")
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_UNRESERVED = "!#$&+-.^_`|~"  # with letters and digits, the attr-char of RFC 8187 §3.2.1


@dataclass(frozen=True, slots=True)
class InlineImage:
    """An image in a message, to which its HTML can refer."""

    content_type: str
    content_base64: str


def disarm_links(html: str) -> str:
    """Rename `<link>` in HTML: browsers look up and connect to what it names (`dns-prefetch`, `preconnect`), which no
    Content-Security-Policy prevents, so that the sender sees when and where a message is read.
    """
    return _LINK.sub("<x-", html)


def embed_images(html: str, images: Mapping[str, InlineImage]) -> str:
    """Replace `cid:` URLs (RFC 2392) in HTML by `data:` URLs with the images; `images`: by Content-ID.

    The browser then fetches nothing. A `data:` URL has no character that could end an attribute. URLs of images of
    other types, or beyond 16 MiB in total, do not change: a browser shows these images as missing.
    """
    remaining = _MAX_IMAGE_CHARACTERS

    def replace(url: re.Match[str]) -> str:
        nonlocal remaining
        image = images.get(unquote(unescape(url[1])))
        if image is None or image.content_type not in _IMAGE_TYPES or len(image.content_base64) > remaining:
            return url[0]
        remaining -= len(image.content_base64)
        return f"data:{image.content_type};base64,{image.content_base64}"

    return _CID_URL.sub(replace, html)


def attachment_index(number: str) -> int | None:
    """The index (from 0) of an attachment by its number (from 1) in the path; None if that is not a number from 1."""
    return int(number) - 1 if _NUMBER.fullmatch(number) else None


def content_disposition(file_name: str) -> str:
    """Content-Disposition (RFC 6266): browsers save the file, under the name that its sender gave it."""
    return f"attachment; filename*=UTF-8''{quote(file_name or 'attachment', safe=_UNRESERVED)}"
