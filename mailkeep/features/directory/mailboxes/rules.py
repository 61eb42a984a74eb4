"""Validation of mailboxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from unicodedata import normalize
from zoneinfo import available_timezones

from mailkeep.core.address import Address, AddressError, parse_address, parse_destination
from mailkeep.core.errors import Conflict, FieldError, Forbidden, InvalidField, MissingFields, invalid_field
from mailkeep.core.password_hash import check_password_hash
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.directory.mailboxes.model import UTC, Mailbox, MailboxForward, PasswordOrHash

MAX_DESTINATIONS = 10


def parse_local_part(text: str, *, ascii_only: bool = False) -> str:
    """A local part in NFC, or INVALID_FIELD; `address_in` checks the length of the whole address.

    `ascii_only`: for Dovecot, which does not support SMTPUTF8 (RFC 6531).
    """
    if ascii_only and not text.isascii():
        raise invalid_field("local_part", "must contain only ASCII characters in the full profile")
    if "@" in text:
        raise invalid_field("local_part", "must not contain @")
    try:
        parse_address(f"{text}@a.test")
    except AddressError as error:
        raise invalid_field("local_part", error.reason) from None
    return normalize("NFC", text)


def address_in(local_part: str, domain_name: str) -> Address:
    """The address of a local part in a domain; INVALID_FIELD if it is too long."""
    address = Address(local_part, domain_name)
    try:
        return parse_address(address.text)
    except AddressError as error:
        raise invalid_field("local_part", error.reason) from None


def parse_destinations(texts: Sequence[str], field: str = "forward.destinations") -> tuple[Address, ...]:
    """The addresses of a forward, trimmed, without duplicates, at most ten; INVALID_FIELD with all faults."""
    faults: list[FieldError] = []
    addresses: dict[str, Address] = {}
    for index, text in enumerate(texts):
        try:
            address = parse_destination(text.strip(" "))
        except AddressError as error:
            faults.append({"field": f"{field}[{index}]", "reason": error.reason})
        else:
            addresses.setdefault(address.key, address)
    if len(addresses) > MAX_DESTINATIONS:
        reason = f"must have at most {MAX_DESTINATIONS} different addresses"
        faults.append({"field": field, "reason": reason})
    if faults:
        raise InvalidField(faults)
    return tuple(addresses.values())


def check_time_zone(name: str) -> None:
    """INVALID_FIELD unless it is the name of a time zone in the system's IANA database."""
    if name != UTC and name not in _list_time_zones():
        raise invalid_field("time_zone", "must be the IANA name of a time zone, such as Europe/Berlin")


@cache
def _list_time_zones() -> set[str]:
    return available_timezones()


def forward_to(addresses: Sequence[Address], keep_copy: bool) -> MailboxForward:
    """A forward to these addresses."""
    texts = tuple(address.text for address in addresses)
    return MailboxForward(texts, tuple(address.key for address in addresses), keep_copy)


def check_secret(secret: PasswordOrHash, *, required: bool) -> None:
    """INVALID_FIELD if there are both a password and a hash, or the hash is malformed or too expensive to verify;
    MISSING_FIELDS if there is neither and one is `required`.
    """
    if secret.password is not None and secret.password_hash is not None:
        raise invalid_field("password_hash", "can't be given together with password")
    if secret.password_hash is not None:
        if fault := check_password_hash(secret.password_hash):
            raise invalid_field("password_hash", fault)
    elif required and not secret.password:
        raise MissingFields(["password"])


def refuse_lower_rank(who: Principal, owner: Role | None) -> None:
    """FORBIDDEN if the mailbox or address belongs to an administrator of higher rank than the caller. The owner of a
    mailbox only reaches the own one.
    """
    if owner is not None and owner.rank > who.rank and who.mailbox is None:
        raise Forbidden("The address belongs to an administrator of higher rank.", reason="higher_rank")


def refuse_loop(keys: Sequence[str]) -> None:
    """CONFLICT `alias_loop` if forwards lead back to the mailbox."""
    if keys:
        these = "them" if len(keys) > 1 else "it"
        raise Conflict(
            f"Mail for {', '.join(keys)} leads back to this mailbox. Remove {these} from the forward's destinations.",
            reason="alias_loop",
            destinations=list(keys),
        )


def refuse_not_in_trash(mailbox: Mailbox) -> None:
    """CONFLICT if the mailbox is not in the trash."""
    if mailbox.deleted_at is None:
        raise Conflict("The mailbox is not in the trash.", reason="not_trashed")


def display_suspender(who: Principal, label: str, rank: int | None) -> str:
    """Who suspended an address. The `label` if it is the abuse rules (`rank` None), if the caller may see all
    administrators (GET /admins), or if it is the caller; otherwise only the administrator's role.
    """
    sees_all = who.scope is None and who.has_all_domains
    is_suspender = who.actor is ActorType.SESSION and label == who.label
    if rank is None or sees_all or is_suspender:
        return label
    return next((role.value for role in Role if role.rank == rank), "administrator")
