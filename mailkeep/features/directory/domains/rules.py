"""Validation of domains and their relays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.errors import Conflict, DomainInactive, Forbidden, invalid_field
from mailkeep.core.network import Network
from mailkeep.core.principal import Principal, Role
from mailkeep.features.directory.dkim import rules as dkim_rules
from mailkeep.features.directory.domains.model import Domain, DomainRelay, DomainUsage, NewRelay
from mailkeep.mail.daemons import probe_mailbox
from mailkeep.net.guard import MalformedHost, parse_host, refuse_address

# RFC 5322 §3.2.3 atext without letters and digits, which occur in names.
DELIMITERS = frozenset("!#$%&'*+/=?^_`{|}~-")


def parse_name(text: str) -> str:
    """The canonical form of a new domain's name, or INVALID_FIELD."""
    try:
        name = normalize_domain(text, min_labels=2)
    except AddressError as error:
        raise invalid_field("name", error.reason) from None
    if name == probe_mailbox.DOMAIN:
        raise invalid_field("name", "is reserved for Mailkeep's own checks")
    return name


def normalize_search(text: str | None) -> str | None:
    """A search text for names: in A-labels if it is a valid name or label, else in lower case."""
    try:
        return normalize_domain(text) if text else None
    except AddressError:
        return text and text.lower()


def check_delimiter(text: str | None) -> None:
    """INVALID_FIELD unless `text` can separate a tag from a local part."""
    if text is not None and text not in DELIMITERS:
        raise invalid_field("plus_delimiter", f"must be one of {' '.join(sorted(DELIMITERS))}")


def check_relay(new: NewRelay, permitted_networks: Sequence[Network]) -> NewRelay:
    """A relay with its host in canonical form, or INVALID_FIELD.

    The addresses of a host name are checked at each connection (`features/directory/relays`).
    """
    try:
        host = parse_host(new.host)
    except MalformedHost as error:
        raise invalid_field("relay.host", str(error)) from None
    if host.address and (why := refuse_address(host.address, permitted_networks)):
        raise invalid_field("relay.host", f"is not allowed: {why}; the setting outbound.relay_networks can permit it")
    if new.username and new.tls == "none":
        raise invalid_field("relay.tls", "must be starttls or tls if there is a username")
    if new.password and not new.username:
        raise invalid_field("relay.username", "is required if there is a password")
    return replace(new, host=host.text)


def encrypt_relay(
    new: NewRelay | None, current: DomainRelay | None, encrypt: Callable[[bytes], bytes]
) -> DomainRelay | None:
    """A relay as it is stored, with an encrypted password.

    Without a new password it keeps the current one, but only if host, port, TLS mode and username are unchanged: the
    password must not go to another server.
    """
    if new is None:
        return None
    relay = DomainRelay(new.host, new.port, new.tls, new.username)
    if new.password:
        return replace(relay, password=encrypt(new.password.encode()))
    if current and replace(current, password=None) == relay:
        return current
    return relay


def check_dns(who: Principal, host_name: str, *, managed: bool, delegated: bool) -> None:
    """FORBIDDEN `super_admin_required` if `dns_managed` changes (`managed`) by another role; CONFLICT
    `hostname_missing` if `dkim_delegated` is switched on (`delegated`) while the server's host name is not public.
    """
    if managed and who.rank < Role.SUPER_ADMIN.rank:
        raise Forbidden("Only a super_admin can change `dns_managed`.", reason="super_admin_required")
    if delegated:
        dkim_rules.require_host_name(host_name)


def change_mta_sts(before: Domain, after: Domain, at: datetime) -> Domain:
    """`after` with the times that depend on `mta_sts_mode`; CONFLICT `not_served` for a change to `enforce` before a
    check has fetched the policy.
    """
    if after.mta_sts_mode == before.mta_sts_mode:
        return after
    refuse_not_served(after)
    if after.mta_sts_mode == "none":
        return replace(after, mta_sts_ended_at=at, mta_sts_served_at=None)
    return replace(after, mta_sts_ended_at=None)


def refuse_not_served(domain: Domain) -> None:
    """CONFLICT `not_served` for the mode `enforce` before a check has fetched the domain's policy: others would not
    deliver to a server that they can't verify.
    """
    if domain.mta_sts_mode == "enforce" and domain.mta_sts_served_at is None:
        raise Conflict(
            f"The MTA-STS policy of {domain.name} must be served before it is enforced: set `mta_sts_mode` to testing, "
            "and check the domain's DNS records until the policy is found.",
            reason="not_served",
            host=f"mta-sts.{domain.name}",
        )


def refuse_inactive(domain: Domain) -> None:
    """DOMAIN_INACTIVE for an inactive domain: nothing can be created in it or sent from it."""
    if not domain.active:
        raise DomainInactive(domain=domain.name)


def refuse_in_use(usage: DomainUsage, scheduled: int) -> None:
    """CONFLICT while the domain has mailboxes, aliases or alias domains, or that many messages are scheduled."""
    counts = {"mailboxes": usage.mailboxes, "aliases": usage.aliases, "alias_domains": usage.alias_domains}
    present = [f"{kind.replace('_', ' ')} ({count})" for kind, count in counts.items() if count]
    counts["scheduled_messages"] = scheduled
    if present:
        raise Conflict(f"Delete the domain's {' and '.join(present)} first.", reason="has_dependents", **counts)
    if scheduled:
        text = f"{scheduled} messages of the domain are scheduled. Cancel them, or delete with ?cancel_scheduled=true."
        raise Conflict(text, reason="has_dependents", **counts)


def refuse_alias_domain(domain: Domain) -> None:
    """CONFLICT `alias_domain` for an alias domain, which has no addresses of its own."""
    if domain.alias_of is not None:
        raise Conflict(
            f"{domain.name} is an alias domain, which has no addresses of its own. Create the address in its target.",
            reason="alias_domain",
            alias_of=str(domain.alias_of),
        )


def refuse_addresses(domain: Domain, usage: DomainUsage) -> None:
    """CONFLICT unless the domain can become an alias domain: `has_dependents` while it has mailboxes or aliases,
    `alias_chain` while it is the target of others.
    """
    if usage.alias_domains:
        raise Conflict(
            f"{domain.name} is the target of alias domains ({usage.alias_domains}), so it can't be one itself.",
            reason="alias_chain",
            alias_domains=usage.alias_domains,
        )
    refuse_in_use(usage, 0)


def refuse_chain(name: str, target: Domain) -> None:
    """CONFLICT `alias_chain` if the target of an alias domain is an alias domain, or the domain itself."""
    if target.name == name:
        raise Conflict("A domain can't be an alias of itself.", reason="alias_chain")
    if target.alias_of is not None:
        raise Conflict(
            f"{target.name} is an alias domain itself. Choose its target ({target.alias_of}) instead.",
            reason="alias_chain",
            alias_of=str(target.alias_of),
        )


def refuse_loops(addresses: Sequence[str], domain: Domain) -> None:
    """CONFLICT `alias_loop` if these addresses lead back to themselves through the new alias domain."""
    if addresses:
        raise Conflict(
            f"Mail for {', '.join(addresses)} leads back to the same address through {domain.name}. Change their "
            "destinations first.",
            reason="alias_loop",
            addresses=list(addresses),
        )


def refuse_higher_rank(has_higher_rank: bool) -> None:
    """FORBIDDEN if an administrator of higher rank has an address in the domain: its mail, with or without a tag, would
    go elsewhere.
    """
    if has_higher_rank:
        raise Forbidden(
            "An administrator of higher rank has an address in the domain: only this rank can change `alias_of` and "
            "`plus_delimiter`.",
            reason="higher_rank",
        )


def refuse_over_limit(limit: int, present: int, kind: Literal["mailboxes", "aliases"]) -> None:
    """CONFLICT `limit_reached` if the domain has as many mailboxes or aliases (`present`) as its limit permits."""
    if present >= limit:
        raise Conflict(
            f"The domain's limit of {kind} (max_{kind}: {limit}) is reached. Delete some, or raise the limit.",
            reason="limit_reached",
            limit=limit,
            present=present,
        )
