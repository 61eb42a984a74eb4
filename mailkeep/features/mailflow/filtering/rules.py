"""The decision about a message, as a pure function, and the validation of entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from socket import AF_INET, AF_INET6, inet_ntop
from typing import Any, Literal
from uuid import UUID

from publicsuffixlist import PublicSuffixList

from mailkeep.core.address import (
    MAX_DOMAIN_OCTETS,
    AddressError,
    fold_local,
    normalize_domain,
    parse_address,
    unquote_local_part,
)
from mailkeep.core.errors import Conflict, Forbidden, invalid_field
from mailkeep.features.mailflow.filtering.model import (
    MAX_ENTRIES,
    OFF,
    DecidedBy,
    Decision,
    DecisionStep,
    EffectiveValue,
    EffectiveValues,
    Entry,
    EntryKind,
    Explanation,
    Facts,
    FilterOwner,
    FilterValues,
    ListName,
    NewEntry,
    Policy,
    Rule,
    Scope,
    ScoreThreshold,
)

_SCOPES: tuple[Scope, ...] = ("mailbox", "domain", "server")
_KINDS = ("address", "domain", "network")

_MAX_KEY = 1000  # folding makes an address up to three times as long

_PREFIXES = {4: range(8, 33), 6: (*range(16, 65), 128)}
"""The possible prefix lengths of networks in lists, by IP version: each is a key to look up."""


def decide(policy: Policy, facts: Facts) -> Decision:
    """What happens to a copy. At RCPT only deny entries decide; `inbox` then means that the dialogue continues."""
    return explain(policy, facts).decision


def explain(policy: Policy, facts: Facts) -> Explanation:
    """`decide`, with its steps."""
    steps: list[DecisionStep] = []
    decision = _decide(policy, facts, steps)
    return Explanation(decision, tuple(steps))


def _decide(policy: Policy, facts: Facts, steps: list[DecisionStep]) -> Decision:
    is_uncertain = False
    for entry in sorted(policy.entries, key=_priority):
        matched = _match(entry, facts)
        if matched is None:
            continue
        rule: Rule = "deny_entry" if entry.list == "deny" else "allow_entry"
        result = _apply(entry, matched, facts)
        steps.append(DecisionStep(result, rule, entry, matched))
        if result == "applies":
            return Decision("refuse" if entry.list == "deny" else "inbox", DecidedBy(entry.scope, rule, entry.id))
        if result == "later":
            return Decision("inbox")
        is_uncertain = is_uncertain or result == "not_checked"
    if facts.is_at_rcpt:
        steps.append(DecisionStep("none"))
        return Decision("inbox")
    if _reach(policy.reject, "reject_score", facts, steps):
        return Decision("defer" if is_uncertain else "refuse", DecidedBy(policy.reject.scope, "reject_score"))
    if _reach(policy.junk, "junk_score", facts, steps):
        return Decision("junk", DecidedBy(policy.junk.scope, "junk_score"))
    steps.append(DecisionStep("none"))
    return Decision("inbox")


def _apply(
    entry: Entry, matched: Literal["author", "envelope", "network"], facts: Facts
) -> Literal["applies", "not_proved", "not_checked", "later"]:
    """Whether an entry that matches applies."""
    if entry.list == "deny" or matched == "network":
        return "applies"
    if facts.is_at_rcpt:
        return "later"
    proof = _proof(matched, facts)
    return "applies" if proof == "pass" else "not_checked" if proof == "temperror" else "not_proved"


def _reach(threshold: ScoreThreshold, rule: Rule, facts: Facts, steps: list[DecisionStep]) -> bool:
    is_reached = threshold.is_reached(facts.score)
    result = "off" if threshold.score <= OFF else "no_score" if facts.score is None else "below"
    steps.append(DecisionStep("applies" if is_reached else result, rule, threshold=threshold))
    return is_reached


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
    for address in filter(None, (facts.author, *facts.possible_authors, facts.mail_from)):
        key = address_key(address)
        domain = key.rpartition("@")[2]
        labels = domain.split(".") if len(domain) <= MAX_DOMAIN_OCTETS else []
        parents = (".".join(labels[start:]) for start in range(len(labels)))
        # No entry has other text than this, and the database can't store NUL.
        keys.update(dict.fromkeys(each for each in (key, *parents) if each.isprintable() and len(each) < _MAX_KEY))
    if client := _client(facts):
        keys.update(dict.fromkeys(_list_networks(client)))
    return list(keys)


def _list_networks(client: IPv4Address | IPv6Address) -> Iterator[str]:
    """As `str` of each network, in a tenth of the time of `ip_network`."""
    bits, number = client.max_prefixlen, int(client)
    family = AF_INET if client.version == 4 else AF_INET6
    for length in _PREFIXES[client.version]:
        first = number >> (bits - length) << (bits - length)
        # inet_ntop writes some complete addresses of IPv6 in another form.
        text = str(client) if length == bits else inet_ntop(family, first.to_bytes(bits // 8, "big"))
        yield f"{text}/{length}"


def _priority(entry: Entry) -> tuple[bool, int, int, bool]:
    is_enforced = entry.enforced and entry.list == "deny"
    return not is_enforced, _SCOPES.index(entry.scope), _KINDS.index(entry.kind), entry.list == "allow"


def _match(entry: Entry, facts: Facts) -> Literal["author", "envelope", "network"] | None:
    """By what an entry matches."""
    if entry.kind == "network":
        client = _client(facts)
        return "network" if client and client in ip_network(entry.value) else None
    possible_authors = facts.possible_authors if entry.list == "deny" else ()
    if any(_is_address_in(entry, each) for each in (facts.author, *possible_authors)):
        return "author"
    return "envelope" if _is_address_in(entry, facts.mail_from) else None


def _is_address_in(entry: Entry, address: str) -> bool:
    key = address_key(address)
    if entry.kind == "address":
        return key == entry.value
    domain = key.rpartition("@")[2]
    return bool(domain) and (domain == entry.value or domain.endswith("." + entry.value))


def address_key(address: str) -> str:
    """The form for comparing addresses, also of an address that is not valid: senders write what they like."""
    local, _, domain = unquote_local_part(address).rpartition("@")
    domain = domain.removesuffix(".").lower()
    try:
        return f"{fold_local(local)}@{normalize_domain(domain)}"
    except AddressError:
        return f"{fold_local(local)}@{domain}"


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


# Settings and entries


def select_effective(stored: Mapping[Scope, FilterValues]) -> EffectiveValues:
    """The values in force: each is that of the narrowest scope that has one."""
    scopes: list[tuple[Scope, FilterValues]] = [(scope, stored[scope]) for scope in _SCOPES if scope in stored]

    def select(name: str) -> EffectiveValue[Any]:
        found: Iterable[tuple[Any, Scope]] = ((getattr(values, name), scope) for scope, values in scopes)
        return next(EffectiveValue(value, scope) for value, scope in found if value is not None)

    return EffectiveValues(select("junk_score"), select("reject_score"), select("digest"), select("learn"))


def parse_entry(list_name: ListName, kind: EntryKind, value: str, comment: str = "", *, enforced: bool) -> NewEntry:
    """A new entry with its canonical value; INVALID_FIELD."""
    parse = {"address": _parse_address, "domain": _parse_domain, "network": _parse_network}[kind]
    return NewEntry(list_name, kind, parse(value), enforced, comment)


def check_entry(entry: NewEntry, owner: FilterOwner, *, is_own: bool) -> None:
    """FORBIDDEN if a mailbox's owner allows a network or enforces an entry; INVALID_FIELD if it can't be enforced."""
    if is_own and entry.list == "allow" and entry.kind == "network":
        raise Forbidden("Only administrators can allow networks: mail from them is not checked.")
    if is_own and entry.enforced:
        raise Forbidden("Only administrators can enforce entries.")
    if entry.enforced and (entry.list == "allow" or owner.scope == "mailbox"):
        raise invalid_field("enforced", "must be false, except for deny entries of the server or a domain")


def limit_reached(owner: FilterOwner) -> Conflict:
    """The refusal of an entry beyond the limit."""
    limit = MAX_ENTRIES[owner.scope]
    return Conflict(
        f"{owner.name} has {limit:,} entries, the most that are possible.", reason="limit_reached", limit=limit
    )


def already_exists(entry_id: UUID, new: NewEntry) -> Conflict:
    """The refusal of an entry that exists with this ID."""
    return Conflict(f"There is already an entry to {new.list} {new.value}.", reason="exists", entry_id=str(entry_id))


def _parse_address(value: str) -> str:
    try:
        return parse_address(value).key
    except AddressError as error:
        raise invalid_field("value", error.reason) from None


def _parse_domain(value: str) -> str:
    try:
        name = normalize_domain(value)
    except AddressError as error:
        raise invalid_field("value", error.reason) from None
    if public_suffixes().is_public(name):
        reason = f"must not be a public suffix: anybody can register a domain below {name}. Give the whole domain"
        raise invalid_field("value", reason)
    return name


def _parse_network(value: str) -> str:
    try:
        network = ip_network(value, strict=False)
    except ValueError:
        raise invalid_field("value", "must be an IP address or a network, such as 192.0.2.0/24") from None
    if "%" in value:
        raise invalid_field("value", "must not have a zone")
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped:
        raise invalid_field("value", "must be written as an IPv4 address or network")
    if network.prefixlen not in _PREFIXES[network.version]:
        lengths = "from /8 to /32" if network.version == 4 else "from /16 to /64, or an address"
        raise invalid_field("value", f"must be a network {lengths}")
    if ip_address(value.partition("/")[0]) != network.network_address:
        raise invalid_field("value", f"has bits set beyond its prefix: did you mean {network}?")
    return str(network)


@cache
def public_suffixes() -> PublicSuffixList:
    """The Public Suffix List that is part of the installation."""
    return PublicSuffixList()
