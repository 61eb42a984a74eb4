"""Validation of mailboxes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from unicodedata import normalize

from msgspec import UNSET

from mailkeep.core.address import (
    Address,
    AddressError,
    fold_local,
    normalize_domain,
    parse_address,
    parse_destination,
)
from mailkeep.core.clock import is_time_zone
from mailkeep.core.errors import Conflict, FieldError, Forbidden, InvalidField, MissingFields, invalid_field
from mailkeep.core.password_hash import check_password_hash
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.directory.mailboxes.model import (
    Mailbox,
    MailboxChanges,
    MailboxForward,
    MailboxHolds,
    PasswordOrHash,
    Protocols,
)

MAX_DESTINATIONS = 10
MAX_SEND_AS = 100


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


def parse_send_as(texts: Sequence[str]) -> tuple[Address, ...]:
    """Addresses and domains (with an empty local part) from which a mailbox may send, trimmed, without duplicates, in a
    fixed order, at most 100; INVALID_FIELD with all faults.
    """
    faults: list[FieldError] = []
    entries: dict[str, Address] = {}
    for index, text in enumerate(texts):
        try:
            entry = _parse_sender(text.strip(" "))
        except AddressError as error:
            faults.append({"field": f"send_as[{index}]", "reason": f"must be an address or a domain: {error.reason}"})
        else:
            entry = Address(normalize("NFC", entry.local_part), entry.domain)
            entries.setdefault(entry.key, entry)
    if len(entries) > MAX_SEND_AS:
        faults.append({"field": "send_as", "reason": f"must have at most {MAX_SEND_AS} different entries"})
    if faults:
        raise InvalidField(faults)
    return tuple(sorted(entries.values(), key=lambda entry: (entry.domain, fold_local(entry.local_part))))


def _parse_sender(text: str) -> Address:
    return parse_destination(text) if "@" in text else Address("", normalize_domain(text, min_labels=2))


def send_as_texts(mailbox: Mailbox) -> list[str]:
    """The addresses and domains from which a mailbox may send, as `parse_send_as` reads them."""
    return [entry.text if entry.local_part else entry.domain for entry in mailbox.send_as]


def refuse_unmanaged(entries: Sequence[Address], managed: Collection[str]) -> None:
    """INVALID_FIELD for entries of `send_as` whose domain is not managed here."""
    faults: list[FieldError] = [
        {"field": f"send_as[{index}]", "reason": f"{entry.domain} is not a domain of this server"}
        for index, entry in enumerate(entries)
        if entry.domain not in managed
    ]
    if faults:
        raise InvalidField(faults)


def check_time_zone(name: str) -> None:
    """INVALID_FIELD unless it is the name of a time zone in the system's IANA database."""
    if not is_time_zone(name):
        raise invalid_field("time_zone", "must be the IANA name of a time zone, such as Europe/Berlin")


def forward_to(addresses: Sequence[Address], keep_copy: bool) -> MailboxForward:
    """A forward to these addresses."""
    texts = tuple(address.text for address in addresses)
    return MailboxForward(texts, tuple(address.key for address in addresses), keep_copy)


def check_secret(secret: PasswordOrHash, *, required: bool) -> None:
    """INVALID_FIELD if there are both a password and a hash, or the hash is malformed or too expensive to verify;
    MISSING_FIELDS if there is neither and one is `required`: it is not for a change, and for an invitation.
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


def refuse_escape(who: Principal, mailbox: Mailbox, holds: MailboxHolds, *, is_move: bool) -> None:
    """CONFLICT `incident_open`, `limits_set`, `suspended` for a caller who would free the address of a mailbox from
    what only a higher rank may end: a new mailbox would have it without that. A suspension stays with the address, so
    that only a mailbox with another one (`is_move`) escapes it.
    """
    suspended_by = mailbox.suspension.by_rank if mailbox.suspension else -1
    if holds.incident_rank is not None and holds.incident_rank > who.rank:
        reason, why = "incident_open", "An administrator of higher rank has opened an incident about this mailbox"
    elif holds.has_stricter_limits and who.rank < Role.ADMIN.rank:
        reason, why = "limits_set", "An administrator of all domains has set stricter limits for this mailbox"
    elif is_move and who.rank < (Role.ADMIN.rank if suspended_by is None else min(suspended_by, Role.ADMIN.rank)):
        reason, why = "suspended", "Sending is suspended by the abuse rules or an administrator of higher rank"
    else:
        return
    raise Conflict(f"{why}: until that has ended it keeps its address, and can't be deleted.", reason=reason)


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


def parse_changes(changes: MailboxChanges, *, ascii_only: bool) -> MailboxChanges:
    """The changes with validated local part and destinations; INVALID_FIELD. `ascii_only`: as in `parse_local_part`."""
    if changes.local_part is not None:
        local_part = parse_local_part(changes.local_part, ascii_only=ascii_only)
        changes = replace(changes, local_part=local_part)
    if changes.time_zone is not None:
        check_time_zone(changes.time_zone)
    if changes.destinations is not None:
        parsed = parse_destinations(changes.destinations)
        changes = replace(changes, destinations=tuple(address.text for address in parsed))
    if changes.send_as is not None:
        parse_send_as(changes.send_as)
    return changes


def apply_changes(before: Mailbox, changes: MailboxChanges) -> Mailbox:
    """The mailbox with the changes, except domain and password."""
    forward = before.forward
    if changes.destinations is not None:
        forward = forward_to(parse_destinations(changes.destinations), forward.keep_copy)
    if changes.keep_copy is not None:
        forward = replace(forward, keep_copy=changes.keep_copy)
    send_as = before.send_as
    if changes.send_as is not None:
        known = {entry.key: entry for entry in before.send_as}
        send_as = tuple(known.get(entry.key, entry) for entry in parse_send_as(changes.send_as))
    return replace(
        before,
        local_part=before.local_part if changes.local_part is None else changes.local_part,
        name=before.name if changes.name is None else changes.name,
        active=before.active if changes.active is None else changes.active,
        quota_bytes=before.quota_bytes if changes.quota_bytes is None else changes.quota_bytes,
        protocols=Protocols(**(asdict(before.protocols) | (changes.protocols or {}))),
        forward=forward,
        send_as=send_as,
        time_zone=before.time_zone if changes.time_zone is None else changes.time_zone,
        require_app_passwords=(
            before.require_app_passwords if changes.require_app_passwords is UNSET else changes.require_app_passwords
        ),
    )
