"""Parsing of addresses before they are looked up."""

from __future__ import annotations

from mailkeep.core.address import Address, AddressError, normalize_domain, parse_address
from mailkeep.core.errors import invalid_field


def parse(text: str) -> Address:
    """The address to explain, or INVALID_FIELD."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise invalid_field("address", error.reason) from None


def normalize_recipient(recipient: str) -> str:
    """An SMTP recipient with its domain in A-labels; unchanged if that is not a valid domain name."""
    local_part, at, domain = recipient.rpartition("@")
    try:
        return f"{local_part}@{normalize_domain(domain)}" if at else recipient
    except AddressError:
        return recipient
