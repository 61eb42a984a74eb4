"""The policy server's replies to Postfix, and how it reads the attributes of requests."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import Refusal
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.abuse.rules import is_permanent

UNAVAILABLE = "451 4.3.0 Temporary server error, try again later"
ACCESS_LOST = "421 4.7.0 Your password or access has changed: log in again"
SENDING_DISABLED = "550 5.7.1 Sending is disabled for this domain"
DOMAIN_INACTIVE = "450 4.2.1 The sender's domain is inactive"
UNKNOWN_SENDER = "553 5.1.7 The sender address does not exist on this server"
UNKNOWN_USER = "550 5.1.1 User unknown"
EXTERNAL = Route("deliver", (), 1)
"""The route of an external recipient of redirected mail: one external copy."""
_SENDER_FIELD = "X-Mailkeep-Sender"


def prepend_sender(secret: str, sender: str | None, domain: str) -> str:
    """The action that passes the rewritten sender (None: it stays) and the domain that forwards the message to Rspamd
    in a header field; `secret` proves its origin.
    """
    return f"PREPEND {_SENDER_FIELD}: {secret} {b64encode(sender.encode()).decode() if sender else '-'} {domain}"


def refusal_action(refusal: Refusal) -> str:
    """The reply for a refused submission: permanent if the same message can never be sent, else temporary."""
    return f"{'550 5.7.1' if is_permanent(refusal) else '450 4.7.1'} {refusal.message}"


def domain_action(domain: Domain) -> str | None:
    """The reply if the sender's domain may not send; None if it may."""
    if not domain.active:
        return DOMAIN_INACTIVE
    return None if domain.sending_enabled else SENDING_DISABLED


def parse_sender(mail_from: str, login: str) -> Address | None:
    """The sender to count: the envelope sender, or the login for the null sender; None if neither is an address."""
    for text in (mail_from, login):
        try:
            return parse_address(text)
        except AddressError:
            continue
    return None


def parse_number(text: str | None) -> int:
    """A number in a policy attribute; 0 if it is missing or malformed."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else 0


def count_recipients(request: Mapping[str, str], recipients: list[str]) -> int:
    """The number of recipients to count: Postfix's, or that of `recipients` (collected at RCPT) if it is larger; at
    least 1.
    """
    text = request.get("recipient_count", "")
    return max(parse_number(text) if len(text) < 9 else 0, len(recipients), 1)


def recipients(request: Mapping[str, str], collected: list[str]) -> list[str]:
    """The known recipients at the end of a message: those `collected` at RCPT, or the only one, which Postfix sends."""
    only_recipient = request.get("recipient", "")
    return collected or ([only_recipient] if only_recipient else [])


def process_of(request: Mapping[str, str]) -> int:
    """Postfix's process that sends the request: the first number of `instance`, in hexadecimal; 0 if unknown."""
    text = request.get("instance", "").partition(".")[0]
    return int(text, 16) if re.fullmatch("[0-9a-f]{1,7}", text) else 0
