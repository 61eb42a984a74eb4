"""Whether DANE (`outbound.dane`) protects deliveries: only with a resolver that validates DNSSEC."""

from __future__ import annotations

from mailkeep.net.dns_query import DnsQuery
from mailkeep.settings import Settings


async def find_problem(settings: Settings, system: DnsQuery | None = None) -> str | None:
    """Why DANE protects nothing, or can't be checked; None if it does, or is off.

    The private resolver always validates. That of the system does if it reports the signed root zone as verified (AD),
    with each of its servers, because Postfix takes the answer of any.
    """
    if not settings.outbound.dane or settings.dns.resolver == "unbound":
        return None
    for answer in await (system or DnsQuery()).ask(".", "NS"):
        if answer.outcome == "error":
            return f"outbound.dane: the system's name server {answer.server} does not answer: {answer.error}."
        if not answer.authenticated:
            return (
                f"outbound.dane protects nothing: the system's name server {answer.server} does not validate DNSSEC. "
                "Set dns.resolver to unbound."
            )
    return None
