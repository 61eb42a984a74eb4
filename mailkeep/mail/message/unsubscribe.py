"""List-Unsubscribe (RFC 2369 §3.2) with one click (RFC 8058)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.errors import invalid_field
from mailkeep.mail.message.headers import fold

_LOCAL_SAFE = "!$'*+-._~"
_URI_CHAR = r"[!#-;=?-\[\]_a-z~]"
_URL = re.compile(rf"https?://[A-Za-z0-9\[]{_URI_CHAR}{{1,890}}")
_MAILTO = re.compile(rf"mailto:[^@?]{{1,200}}@[A-Za-z0-9.-]{{1,253}}(?:\?{_URI_CHAR}{{0,400}})?")


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """How to unsubscribe: by `url` (http or https), `mailto` (an address or a mailto URI), or both. `one_click`: a POST
    to `url` without further steps unsubscribes (RFC 8058).
    """

    url: str = ""
    mailto: str = ""
    one_click: bool = False


def unsubscribe_fields(unsubscribe: Unsubscribe) -> str:
    """Return the header fields. INVALID_FIELD for an invalid URL or address, and `one_click` without an https URL."""
    url, uris = unsubscribe.url, list[str]()
    if not url and not unsubscribe.mailto:
        raise invalid_field("list_unsubscribe", "must have url or mailto")
    if unsubscribe.mailto:
        uris.append(f"<{_mailto_uri(unsubscribe.mailto)}>")
    if url:
        if not _URL.fullmatch(url):
            raise invalid_field("list_unsubscribe.url", "must be an http or https URL of at most 900 ASCII characters")
        uris.append(f"<{url}>")
    fields = fold("List-Unsubscribe", [f"{uri}," for uri in uris[:-1]] + uris[-1:])
    if unsubscribe.one_click:
        if not url.startswith("https://"):
            raise invalid_field("list_unsubscribe.one_click", "requires that list_unsubscribe.url begins with https://")
        fields += "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
    return fields


def _mailto_uri(text: str) -> str:
    if text.startswith("mailto:"):
        if not re.fullmatch(rf"{_URI_CHAR}+", text) or not _MAILTO.fullmatch(text):
            raise invalid_field(
                "list_unsubscribe.mailto",
                "must be mailto:name@domain in ASCII, with an optional ?query of at most 400 characters",
            )
        return text
    try:
        address = parse_address(text)
    except AddressError as error:
        raise invalid_field("list_unsubscribe.mailto", f"must be an address or a mailto URI: {error.reason}") from None
    return f"mailto:{quote(address.local_part, safe=_LOCAL_SAFE)}@{address.domain}"
