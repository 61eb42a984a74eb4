"""Bounce addresses: the envelope sender of a message sent by API, by which a later bounce or complaint finds it.

    b+IIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIHHHHHHHHHHHHHHHHHHHHHHHHHHHH@example.com

`I` is the message's ID and `H` 112 bits of an HMAC over the ID and, if the message has one recipient, over that
recipient. So the address of a message with one recipient proves nothing about another one. It is in the From domain, so
that SPF stays aligned (RFC 7489 §3.1.2). Hexadecimal: other servers may change the case of letters. An address is valid
for 30 days after the submission, longer than any server retries (RFC 5321 §4.5.4.1).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.address import MAX_ADDRESS_OCTETS
from mailkeep.core.secret import Vault, decode_base64url

LIFETIME = timedelta(days=30)
_FORM = re.compile(r"b\+([0-9a-f]{32})[0-9a-f]{28}@.+", re.IGNORECASE | re.ASCII)
_MAC_BYTES = 14


def bounce_address(vault: Vault, message_id: UUID, recipient_keys: Sequence[str], domain: str) -> str | None:
    """The bounce address of a message in the domain of its From address (A-labels), by the keys of its recipients. None
    if the domain is so long that the address would exceed the limit of RFC 5321.
    """
    bound_to = recipient_keys[0] if len(recipient_keys) == 1 else ""
    signature = decode_base64url(vault.sign("bounce address", message_id.bytes + bound_to.encode()))
    assert signature is not None
    address = f"b+{message_id.hex}{signature[:_MAC_BYTES].hex()}@{domain}"
    return address if len(address) <= MAX_ADDRESS_OCTETS else None


def message_of(address: str) -> UUID | None:
    """The ID of the message in an address with the form of a bounce address; it may be forged or too old."""
    match = _FORM.fullmatch(address)
    return UUID(match[1]) if match else None


def is_valid(vault: Vault, address: str, recipient_keys: Sequence[str], sent_at: datetime, at: datetime) -> bool:
    """Whether this is the bounce address of a message with these recipients, sent at `sent_at`, at most 30 days before
    `at`.
    """
    message_id = message_of(address)
    if message_id is None or at - sent_at > LIFETIME:
        return False
    expected = bounce_address(vault, message_id, recipient_keys, address.rpartition("@")[2].lower())
    return expected is not None and hmac.compare_digest(expected, address.lower())
