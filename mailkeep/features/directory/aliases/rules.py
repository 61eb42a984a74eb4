"""Validation of aliases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from unicodedata import normalize

from mailkeep.core.address import Address, AddressError, parse_address, parse_destination
from mailkeep.core.errors import Conflict, FieldError, InvalidField, MissingFields, invalid_field
from mailkeep.core.principal import Principal, Role
from mailkeep.features.directory.aliases.model import MAX_DESTINATIONS, AliasState, AliasStatus

_MAX_LISTED = 3  # addresses in the message of an error; its details list all


_STATES: Mapping[AliasState, str] = {
    "ok": "",
    "partial": "Some destinations get no mail: ",
    "nowhere": "",
    "unused": "Not used: a mailbox has this address and gets its mail.",
    "inactive": "Inactive: mail is routed as if the alias did not exist.",
    "domain_inactive": "Its domain is inactive: mail is deferred.",
    "receiving_disabled": "Its domain does not receive mail.",
}


def parse_new(
    source: str, destination: str, max_destinations: int = MAX_DESTINATIONS
) -> tuple[str, tuple[Address, ...]]:
    """The source (in NFC) and at most `max_destinations` destinations of a new alias; INVALID_FIELD with all faults."""
    faults: list[FieldError] = []
    parsed = (_parse_source(source, faults), _parse_destinations(destination, max_destinations, faults))
    if faults:
        raise InvalidField(faults)
    return parsed


def parse_destinations(text: str, max_destinations: int = MAX_DESTINATIONS) -> tuple[Address, ...]:
    """The addresses in `text`, trimmed, without duplicates, in order, at most `max_destinations`; INVALID_FIELD with
    all faults.
    """
    faults: list[FieldError] = []
    parsed = _parse_destinations(text, max_destinations, faults)
    if faults:
        raise InvalidField(faults)
    return parsed


def _parse_source(text: str, faults: list[FieldError]) -> str:
    if not text:
        return text
    try:
        if "@" in text:
            raise AddressError("must not contain @")
        parse_address(f"{text}@a.test")
    except AddressError as error:
        faults.append({"field": "source_local_part", "reason": error.reason})
    return normalize("NFC", text)


def _parse_destinations(text: str, max_destinations: int, faults: list[FieldError]) -> tuple[Address, ...]:
    addresses: dict[str, Address] = {}
    texts = dict.fromkeys(item.strip() for item in text.split(","))
    # Variants in upper and lower case are one address; a list that is far too long is not parsed at all.
    if len(texts) > 2 * max_destinations:
        faults.append({"field": "destination", "reason": f"must have at most {max_destinations} different addresses"})
        return ()
    for item in texts:
        try:
            address = parse_destination(item)
        except AddressError as error:
            faults.append({"field": "destination", "reason": f"{item[:100]!r}: {error.reason}"})
        else:
            addresses.setdefault(address.key, address)
    if len(addresses) > max_destinations:
        faults.append({"field": "destination", "reason": f"must have at most {max_destinations} different addresses"})
    return tuple(addresses.values())


def check_length(source: str, domain_name: str) -> None:
    """INVALID_FIELD if source and domain together are too long for an address."""
    if not source:
        return
    try:
        parse_address(Address(source, domain_name).text)
    except AddressError as error:
        raise invalid_field("source_local_part", error.reason) from None


def require_domain(who: Principal) -> None:
    """MISSING_FIELDS for a domain_admin that lists aliases without `domain_id`."""
    if who.role is Role.DOMAIN_ADMIN:
        raise MissingFields(["domain_id"])


def refuse_loop(destinations: Collection[str]) -> None:
    """CONFLICT `alias_loop` if destinations of an alias lead back to it."""
    if destinations:
        addresses = sorted(destinations)
        these = "them" if len(addresses) > 1 else "it"
        raise Conflict(
            f"Mail for {_list_some(addresses)} leads back to this alias. Remove {these} from the destinations.",
            reason="alias_loop",
            destinations=addresses,
        )


def refuse_chain_ahead(sources: Collection[str], domain_name: str) -> None:
    """CONFLICT `alias_chain` if an alias leads to other aliases (`sources`) of its domain."""
    if sources:
        is_alias, its = ("are themselves aliases", "their") if len(sources) > 1 else ("is itself an alias", "its")
        addresses = _list_some([_describe(source, domain_name) for source in sorted(sources)])
        raise Conflict(
            f"{addresses} {is_alias} of this domain. Enter {its} destinations instead.",
            reason="alias_chain",
            aliases=sorted(sources),
        )


def refuse_chain_behind(sources: Collection[str], source: str, domain_name: str) -> None:
    """CONFLICT `alias_chain` if other aliases (`sources`) of the domain lead to the alias `source`."""
    if sources:
        forward = "forward" if len(sources) > 1 else "forwards"
        target = "this address" if source else "an address that this catch-all would receive mail for"
        addresses = _list_some([_describe(each, domain_name) for each in sorted(sources)])
        raise Conflict(
            f"{addresses} already {forward} to {target}, and an alias can't lead to another alias of its domain. "
            "Change the existing destinations first.",
            reason="alias_chain",
            aliases=sorted(sources),
        )


def status_text(status: AliasStatus) -> str:
    """What is wrong with an alias, in words; empty for state `ok`."""
    text = _STATES[status.state]
    if status.state not in ("partial", "nowhere"):
        return text
    warnings = [warning.rstrip(".") for warning in status.warnings]
    more = f", and {len(warnings) - _MAX_LISTED} more" if len(warnings) > _MAX_LISTED else ""
    return f"{text}{'; '.join(warnings[:_MAX_LISTED]) or 'It leads nowhere'}{more}."


def _describe(source: str, domain_name: str) -> str:
    return f"{source}@{domain_name}" if source else f"@{domain_name} (the catch-all)"


def _list_some(addresses: Sequence[str]) -> str:
    more = f" and {len(addresses) - _MAX_LISTED} more" if len(addresses) > _MAX_LISTED else ""
    return ", ".join(addresses[:_MAX_LISTED]) + more
