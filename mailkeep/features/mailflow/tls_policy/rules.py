"""Decisions about TLS of deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.features.mailflow.tls_policy.model import DaneCoverage
from mailkeep.net.dns_query import DnsAnswer
from mailkeep.net.mta_sts import MtaStsPolicy

REFRESH = timedelta(days=1)
"""The age at which a policy is fetched again in the background, although its ID is the same (RFC 8461 §3.3)."""
RETRY = timedelta(hours=1)
"""The time until a fetch that failed is tried again, if no delivery needs it before."""
UNUSED = timedelta(days=30)
"""How long after the last delivery a policy is still fetched again."""
_MX_FIELDS = 2


def parse_destination(key: str) -> str | None:
    """The domain of a delivery from Postfix's key (smtp_tls_policy_maps) in A-labels; None for parent domains (`.com`),
    hosts in brackets and addresses, which have no policy.
    """
    if key.startswith((".", "[")):
        return None
    try:
        return normalize_domain(key.partition(":")[0].removesuffix("."), min_labels=2)
    except AddressError:
        return None


def expires_at(policy: MtaStsPolicy, fetched_at: datetime) -> datetime:
    """When a policy must no longer be used."""
    return fetched_at + timedelta(seconds=policy.max_age)


def decide(policy: MtaStsPolicy | None, coverage: DaneCoverage, *, requires_tls: bool) -> str | None:
    """The answer to Postfix; None: the default. `requires_tls`: the default is to encrypt always, without DANE."""
    is_enforced = policy is not None and policy.mode == "enforce"
    if coverage == "all" or (coverage == "some" and (is_enforced or requires_tls)):
        return "dane-only" if requires_tls or coverage == "some" else None
    if policy is None or not is_enforced:
        return None
    # Postfix matches a leading dot with any number of labels, and MTA-STS `*` with one: the certificate is still valid,
    # and for a name below a domain of the policy.
    patterns = [name.removeprefix("*") for name in policy.mx]
    return f"secure match={':'.join(patterns)} servername=hostname"


def list_servers(answer: DnsAnswer, domain: str) -> list[str]:
    """The servers in an answer for MX records; without such a record the domain itself (RFC 5321 §5.1)."""
    if answer.outcome != "found":
        return [domain]
    fields = [value.split() for value in answer.values]
    return [each[1] for each in fields if len(each) == _MX_FIELDS and each[1] != "."]


def has_dane(addresses: Sequence[DnsAnswer], tlsa: DnsAnswer) -> bool:
    """Whether DANE decides about a server: its address is signed, and has a TLSA record that counts (usage DANE-TA or
    DANE-EE, RFC 7672 §3.1), or the look-up fails, after which the server is not used (RFC 7672 §2.1.1).
    """
    if not any(each.authenticated for each in addresses):
        return False
    if tlsa.outcome == "error":
        return True
    return tlsa.authenticated and any(value.startswith(("2 ", "3 ")) for value in tlsa.values)


def count_coverage(servers: Sequence[bool]) -> DaneCoverage:
    """How many servers are covered by DANE."""
    if servers and all(servers):
        return "all"
    return "some" if any(servers) else "none"
