"""Which DNS records a domain needs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dns.model import DnsRecord


def required_records(domain: str, hostname: str, addresses: Iterable[str], keys: Sequence[DkimKey]) -> list[DnsRecord]:
    """The records for receiving (MX), sending (SPF, DKIM, DMARC), and the server's own name.

    `addresses` are the server's public addresses. Retired keys are left out, pending ones are included.
    """
    found = [DnsRecord(domain, "MX", f"10 {hostname}.", "Routes the domain's mail to this server.")]
    for text in addresses:
        address = ipaddress.ip_address(text)
        kind = "A" if address.version == 4 else "AAAA"
        found.append(DnsRecord(hostname, kind, str(address), "The address of this server."))
        found.append(
            DnsRecord(
                address.reverse_pointer, "PTR", f"{hostname}.", "The name of the address; set by your network provider."
            )
        )
    if hostname != domain:
        why = "Only this server sends under its own name: bounces and forwarded mail."
        found.append(DnsRecord(hostname, "TXT", "v=spf1 a -all", why))
    found.append(DnsRecord(domain, "TXT", "v=spf1 mx -all", "Only this server sends for the domain (SPF, RFC 7208)."))
    found += [
        DnsRecord(
            key.dns_name(domain), "TXT", key.dns_value, f"Public key of {key.algorithm} signatures (DKIM, RFC 6376)."
        )
        for key in keys
        if key.stage != "retired"
    ]
    policy = f"v=DMARC1; p=none; rua=mailto:postmaster@{domain}"
    why = "Policy for mail that fails SPF and DKIM (DMARC, RFC 7489): none yet; later p=quarantine, then p=reject."
    return [*found, DnsRecord(f"_dmarc.{domain}", "TXT", policy, why)]
