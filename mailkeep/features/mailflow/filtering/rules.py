"""The decision about a message, as a pure function."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

from mailkeep.core.address import MAX_DOMAIN_OCTETS, AddressError, fold_local, normalize_domain
from mailkeep.features.mailflow.filtering.model import DecidedBy, Decision, Entry, Facts, Policy

_SCOPES = ("mailbox", "domain", "server")
_KINDS = ("address", "domain", "network")

_MAX_KEY = 1000  # folding makes an address up to three times as long

MIN_PREFIX = {4: 8, 6: 16}
"""The shortest prefix of a network in a list, by IP version."""


def decide(policy: Policy, facts: Facts) -> Decision:
    """What happens to a copy. At RCPT only deny entries decide; `inbox` then means that the dialogue continues."""
    is_uncertain = False
    for entry in sorted(policy.entries, key=_priority):
        matched = _match(entry, facts)
        if matched is None:
            continue
        decided_by = DecidedBy(entry.scope, "deny_entry" if entry.list == "deny" else "allow_entry", entry.id)
        if entry.list == "deny":
            return Decision("refuse", decided_by)
        if matched == "network":
            return Decision("inbox", decided_by)
        if facts.is_at_rcpt:
            return Decision("inbox")  # whether it applies is known at the end of DATA
        proof = _proof(matched, facts)
        if proof == "pass":
            return Decision("inbox", decided_by)
        is_uncertain = is_uncertain or proof == "temperror"
    if facts.is_at_rcpt:
        return Decision("inbox")
    if policy.reject.is_reached(facts.score):
        return Decision("defer" if is_uncertain else "refuse", DecidedBy(policy.reject.scope, "reject_score"))
    if policy.junk.is_reached(facts.score):
        return Decision("junk", DecidedBy(policy.junk.scope, "junk_score"))
    return Decision("inbox")


def combine(decisions: Iterable[Decision]) -> Literal["accept", "refuse", "defer"]:
    """The reply for a whole message at the end of DATA: refused only if every copy is."""
    actions = {decision.action for decision in decisions}
    if actions and actions <= {"refuse", "defer"}:
        return "defer" if "defer" in actions else "refuse"
    return "accept"


def list_keys(facts: Facts) -> list[str]:
    """The values of all entries that can match: the addresses, their domains and parent domains, and every network
    that includes the client.
    """
    keys: dict[str, None] = {}
    for address in filter(None, (facts.author, facts.mail_from)):
        key = _address_key(address)
        domain = key.rpartition("@")[2]
        labels = domain.split(".") if len(domain) <= MAX_DOMAIN_OCTETS else []
        parents = (".".join(labels[start:]) for start in range(len(labels)))
        # No entry has other text than this, and the database can't store NUL.
        keys.update(dict.fromkeys(each for each in (key, *parents) if each.isprintable() and len(each) < _MAX_KEY))
    if client := _client(facts):
        lengths = range(MIN_PREFIX[client.version], client.max_prefixlen + 1)
        keys.update(dict.fromkeys(str(ip_network((client, length), strict=False)) for length in lengths))
    return list(keys)


def _priority(entry: Entry) -> tuple[bool, int, int, bool]:
    is_enforced = entry.enforced and entry.list == "deny"
    return not is_enforced, _SCOPES.index(entry.scope), _KINDS.index(entry.kind), entry.list == "allow"


def _match(entry: Entry, facts: Facts) -> Literal["author", "envelope", "network"] | None:
    """By what an entry matches."""
    if entry.kind == "network":
        client = _client(facts)
        return "network" if client and client in ip_network(entry.value) else None
    if _is_address_in(entry, facts.author):
        return "author"
    return "envelope" if _is_address_in(entry, facts.mail_from) else None


def _is_address_in(entry: Entry, address: str) -> bool:
    key = _address_key(address)
    if entry.kind == "address":
        return key == entry.value
    domain = key.rpartition("@")[2]
    return bool(domain) and (domain == entry.value or domain.endswith("." + entry.value))


def _address_key(address: str) -> str:
    """The form for comparing, also of an address that is not valid: senders write what they like."""
    local, _, domain = address.rpartition("@")
    try:
        return f"{fold_local(local)}@{normalize_domain(domain)}"
    except AddressError:
        return f"{fold_local(local)}@{domain.lower()}"


def _client(facts: Facts) -> IPv4Address | IPv6Address | None:
    try:
        client = ip_address(facts.client_address)
    except ValueError:
        return None
    return (client.ipv4_mapped or client) if isinstance(client, IPv6Address) else client


def _proof(matched: Literal["author", "envelope"], facts: Facts) -> str:
    """The authentication result on which an allow entry depends."""
    if matched == "author":
        return facts.auth.get("from", "")
    # The envelope does not prove a forged author, nor several.
    if not facts.author or facts.auth.get("dmarc") == "fail":
        return "fail"
    return facts.auth.get("spf", "")
