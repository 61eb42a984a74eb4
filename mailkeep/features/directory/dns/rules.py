"""Which records a domain needs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dns.model import DnsRecord


def required_records(domain: str, hostname: str, addresses: Iterable[str], keys: Sequence[DkimKey]) -> list[DnsRecord]:
    """What to publish so that mail comes in (MX), goes out (SPF, DKIM, DMARC), and the server is found.

    `addresses` are the server's public ones; keys that are retired are left out, pending ones are not.
    """
    found = [DnsRecord(domain, "MX", f"10 {hostname}.", "Mail for the domain comes to this server.")]
    for text in addresses:
        address = ipaddress.ip_address(text)
        kind = "A" if address.version == 4 else "AAAA"
        found.append(DnsRecord(hostname, kind, str(address), "Where this server is."))
        found.append(
            DnsRecord(address.reverse_pointer, "PTR", f"{hostname}.", "Whom the address is: set by who gave it to you.")
        )
    if hostname != domain:
        why = "Only this server sends under its own name: bounces, and what is passed on to the outside."
        found.append(DnsRecord(hostname, "TXT", "v=spf1 a -all", why))
    found.append(DnsRecord(domain, "TXT", "v=spf1 mx -all", "Only this server sends for the domain (SPF, RFC 7208)."))
    found += [
        DnsRecord(key.dns_name(domain), "TXT", key.dns_value, f"Signatures by this {key.algorithm} key.")
        for key in keys
        if key.stage != "retired"
    ]
    policy = f"v=DMARC1; p=none; rua=mailto:postmaster@{domain}"
    why = "What becomes of mail that is not ours (DMARC, RFC 7489): nothing yet; later p=quarantine, then p=reject."
    return [*found, DnsRecord(f"_dmarc.{domain}", "TXT", policy, why)]
