"""What a domain may be."""

from __future__ import annotations

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.errors import Conflict, DomainInactive, invalid_field
from mailkeep.features.domains.model import Domain, Usage

# RFC 5322 §3.2.3 atext without letters and digits: one that occurs in names would cut them.
DELIMITERS = frozenset("!#$%&'*+/=?^_`{|}~-")


def parse_name(text: str) -> str:
    """The canonical form of the name of a domain to manage, or INVALID_FIELD."""
    try:
        return normalize_domain(text, min_labels=2)
    except AddressError as error:
        raise invalid_field("name", error.reason) from None


def part_of_name(text: str | None) -> str | None:
    """What a list of names is searched for: in A-labels where the text is a name or label of its own."""
    try:
        return normalize_domain(text) if text else None
    except AddressError:
        return text and text.lower()


def check_delimiter(text: str | None) -> None:
    """INVALID_FIELD unless `text` can divide a tag from a local part."""
    if text is not None and text not in DELIMITERS:
        raise invalid_field("plus_delimiter", f"must be one of {' '.join(sorted(DELIMITERS))}")


def refuse_inactive(domain: Domain) -> None:
    """DOMAIN_INACTIVE where nothing may be made or sent."""
    if not domain.active:
        raise DomainInactive(domain=domain.name)


def refuse_in_use(usage: Usage) -> None:
    """CONFLICT while a mailbox or an alias is left."""
    if usage.mailboxes or usage.aliases:
        raise Conflict(
            "The domain still has mailboxes or aliases.",
            reason="has_dependents",
            mailboxes=usage.mailboxes,
            aliases=usage.aliases,
        )


def refuse_beyond(limit: int | None, present: int, what: str) -> None:
    """CONFLICT `limit_reached` where one more than the `present` mailboxes or aliases (`what`) would be too
    many.
    """
    if limit is not None and present >= limit:
        raise Conflict(
            f"The domain's limit of {what} is reached.", reason="limit_reached", limit=limit, present=present
        )
