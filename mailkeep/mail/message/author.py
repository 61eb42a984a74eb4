"""The author of a message that a client submits: the one address in its From field (RFC 5322 §3.6.2).

Who may send decides about this address, and mail programs show it, so it must be the same for every reader. What
readers understand differently is refused: several From fields or addresses, groups, text after the address.
"""

from __future__ import annotations

import re

from mailkeep.core.address import Address, AddressError, parse_address

MAX_FROM = 2000
"""Bytes of the field's value: an address of 254, with a name."""
# A bare CR or LF begins a line for some readers.
_FROM = re.compile(rb"(?i)(?:\A|[\r\n])from[ \t]*:((?:[^\r\n]|\r?\n[ \t])*+)")
_NAME_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|\((?:[^()\\]|\\.)*+\)')
_WITH_NAME = re.compile(r"([^<>]*)<([^<>]*)>")


class AuthorError(ValueError):
    """The message has no single author. The text is an SMTP reply's."""


def read_author(head: bytes) -> Address:
    """The address in From. `head`: the whole header. Raises `AuthorError`."""
    fields = _FROM.findall(head)
    if len(fields) != 1 or len(fields[0]) > MAX_FROM:
        raise AuthorError("The message must have one From field with one address")
    try:
        value = fields[0].decode()
    except UnicodeDecodeError:
        raise AuthorError("From: the text is not UTF-8") from None
    # Quoted strings and comments have no address; nothing may remain of them that begins or ends one.
    text = _NAME_OR_COMMENT.sub(" ", value.replace("\r\n", "").replace("\n", "")).strip()
    address = text
    if match := _WITH_NAME.fullmatch(text):
        name, address = match[1], match[2].strip()
        if "@" in name and re.search("[,:;]", name):
            raise AuthorError("The message must have one From field with one address")
    if re.search(r'[()"<>,:;\s]', address) or (match and re.search(r'[()"]', match[1])):
        raise AuthorError("The message must have one From field with one address")
    try:
        return parse_address(address, min_labels=2)
    except AddressError as error:
        raise AuthorError(f"From: {error.reason}") from None
