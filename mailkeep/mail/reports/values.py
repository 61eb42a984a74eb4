"""Values in reports, each with its limits. `where` names the value in the reason of a refusal."""

from __future__ import annotations

import ipaddress
import re
from datetime import datetime

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.mail.message.header_text import printable
from mailkeep.mail.reports.model import InvalidReport

MAX_COUNT = 1_000_000_000
MAX_SECONDS = 32 * 86_400
"""The longest time that a report may be about; most are about a day."""
_FIRST, _LAST = 946_684_800, 4_102_444_800  # the years 2000 to 2099
_NUMBER = re.compile(r"[0-9]{1,12}")
_WORD = re.compile(r"[a-z0-9_.:-]{1,64}")


def text(value: str, limit: int) -> str:
    """A text of the reporter, without control characters, cut to `limit` characters."""
    return printable(value.strip())[:limit]


def word(value: str, where: str) -> str:
    """A keyword in lower case."""
    found = value.strip().lower()
    if not _WORD.fullmatch(found):
        raise InvalidReport(f"{where} is not a keyword")
    return found


def number(value: str | int, where: str) -> int:
    """A count from 0 to 10^9, in ASCII digits."""
    digits = str(value).strip()
    if not _NUMBER.fullmatch(digits) or int(digits) > MAX_COUNT:
        raise InvalidReport(f"{where} is not a number from 0 to {MAX_COUNT}")
    return int(digits)


def domain(value: str, where: str) -> str:
    """A domain name, as A-labels in lower case."""
    try:
        return normalize_domain(value.strip().removesuffix("."))
    except AddressError as error:
        raise InvalidReport(f"{where} is not a domain name: {error.reason}") from None


def ip_address(value: str, where: str) -> str:
    """An IP address in its canonical form."""
    try:
        address = ipaddress.ip_address(value.strip())
    except ValueError:
        raise InvalidReport(f"{where} is not an IP address") from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            raise InvalidReport(f"{where} is not an IP address")
        return str(address.ipv4_mapped or address)
    return str(address)


def period(begin: str | int, end: str | int) -> tuple[int, int]:
    """Begin and end of a report, in seconds since 1970 or as RFC 3339 times."""
    first, last = _seconds(begin, "The begin date"), _seconds(end, "The end date")
    if last < first:
        raise InvalidReport("The report ends before it begins")
    if last - first > MAX_SECONDS:
        raise InvalidReport(f"The report is about more than {MAX_SECONDS // 86_400} days")
    return first, last


def _seconds(value: str | int, where: str) -> int:
    raw = str(value).strip()
    if _NUMBER.fullmatch(raw):
        seconds = int(raw)
    else:
        try:
            seconds = int(datetime.fromisoformat(raw[:40]).timestamp())
        except (ValueError, OverflowError):
            raise InvalidReport(f"{where} is not a time") from None
    if not _FIRST <= seconds < _LAST:
        raise InvalidReport(f"{where} is not between 2000 and 2099")
    return seconds
