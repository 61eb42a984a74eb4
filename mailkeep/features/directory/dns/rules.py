"""Which DNS records a domain needs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dns.model import DnsRecord


def required_records(
    domain: str, hostname: str, addresses: Iterable[str], keys: Sequence[DkimKey], host_keys: Sequence[DkimKey]
) -> list[DnsRecord]:
    """The records for receiving (MX), for sending (SPF, DKIM, DMARC), and for the server's host name.

    `addresses` are the public addresses, `host_keys` the keys of the host name (none if that is a managed domain).
    Retired keys are left out, pending ones are included.
    """
    records = [DnsRecord(domain, "MX", f"10 {hostname}.", "Routes the domain's mail to this server.")]
    for text in addresses:
        address = ipaddress.ip_address(text)
        record_type = "A" if address.version == 4 else "AAAA"
        records.append(DnsRecord(hostname, record_type, str(address), "The address of this server."))
        records.append(
            DnsRecord(
                address.reverse_pointer,
                "PTR",
                f"{hostname}.",
                "Reverse DNS of the address; your network provider sets it.",
            )
        )
    if hostname != domain:
        purpose = "Only this server sends bounces and forwarded mail, whose sender is at its host name (SPF, RFC 7208)."
        records.append(DnsRecord(hostname, "TXT", "v=spf1 a -all", purpose))
    purpose = "Public key of signatures in mail that Mailkeep itself writes (DKIM, RFC 6376)."
    records += [DnsRecord(key.dns_name(hostname), "TXT", key.dns_value, purpose) for key in host_keys]
    records.append(DnsRecord(domain, "TXT", "v=spf1 mx -all", "Only this server sends for the domain (SPF, RFC 7208)."))
    records += [
        DnsRecord(
            key.dns_name(domain),
            "TXT" if key.cname is None else "CNAME",
            key.dns_value if key.cname is None else f"{key.cname}.",
            f"Public key of {key.algorithm} signatures (DKIM, RFC 6376).",
        )
        for key in keys
        if key.stage != "retired"
    ]
    policy = f"v=DMARC1; p=none; rua=mailto:postmaster@{domain}"
    purpose = "Policy for mail that fails SPF and DKIM (DMARC, RFC 7489): none yet; later p=quarantine, then p=reject."
    return [*records, DnsRecord(f"_dmarc.{domain}", "TXT", policy, purpose)]
