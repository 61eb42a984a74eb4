"""The author and the sender of a message that a client submits: the one address in its From field, and the one in
Sender, if there is that field (RFC 5322 §3.6.2).

Who may send decides about these addresses, and mail programs show them, so they must be the same for every reader. What
readers understand differently is refused: several fields or addresses, groups, text after the address.
"""

from __future__ import annotations

import re

from mailkeep.core.address import Address, AddressError, parse_address

MAX_VALUE = 2000
"""Bytes of a field's value: an address of 254, with a name."""
# A bare CR or LF begins a line for some readers.
_FIELD = re.compile(rb"(?i)(?:\A|[\r\n])(from|sender)[ \t]*:((?:[^\r\n]|\r?\n[ \t])*+)")
_NAME_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|\((?:[^()\\]|\\.)*+\)')
_WITH_NAME = re.compile(r"([^<>]*)<([^<>]*)>")


class AuthorError(ValueError):
    """The message has no single author. The text is an SMTP reply's."""


def read_author(head: bytes) -> tuple[Address, Address | None]:
    """The addresses in From and Sender. `head`: the whole header. Raises `AuthorError`."""
    fields = [(name.capitalize().decode(), value) for name, value in _FIELD.findall(head)]
    authors, senders = ([each for each in fields if each[0] == name] for name in ("From", "Sender"))
    if len(authors) != 1:
        raise AuthorError("The message must have one From field with one address")
    if len(senders) > 1:
        raise AuthorError("The message must have at most one Sender field")
    return _read_address(*authors[0]), _read_address(*senders[0]) if senders else None


def _read_address(name: str, value: bytes) -> Address:
    several = AuthorError(f"The message must have one {name} field with one address")
    if len(value) > MAX_VALUE:
        raise several
    try:
        text = value.decode().replace("\r\n", "").replace("\n", "")
    except UnicodeDecodeError:
        raise AuthorError(f"{name}: the text is not UTF-8") from None
    # Quoted strings and comments have no address; nothing may remain of them that begins or ends one.
    text = _NAME_OR_COMMENT.sub(" ", text).strip()
    match = _WITH_NAME.fullmatch(text)
    display, address = (match[1], match[2].strip()) if match else ("", text)
    if re.search(r'[()"]', display) or ("@" in display and re.search("[,:;]", display)):
        raise several
    if re.search(r'[()"<>,:;\s]', address):
        raise several
    try:
        return parse_address(address, min_labels=2)
    except AddressError as error:
        raise AuthorError(f"{name}: {error.reason}") from None
