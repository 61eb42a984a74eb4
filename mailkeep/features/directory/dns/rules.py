"""Which DNS records a domain and the server need, and how a zone file shows them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dns.model import TTL, Address, DnsRecord, DomainMail, MailServices, ServerIdentity
from mailkeep.features.directory.mta_sts import rules as mta_sts

_NOT_PUBLIC = [
    ipaddress.ip_network(text)
    for text in ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
]
_NO_NAMES = ("localhost", "local", "localdomain", "internal", "lan", "home.arpa")
# The SPF terms of relays, as their documentation names them.
_RELAY_TERMS = {
    "*.amazonaws.com": "include:amazonses.com",
    "*.brevo.com": "include:spf.brevo.com",
    "*.mailgun.org": "include:mailgun.org",
    "*.mailjet.com": "include:spf.mailjet.com",
    "*.office365.com": "include:spf.protection.outlook.com",
    "*.outlook.com": "include:spf.protection.outlook.com",
    "*.postmarkapp.com": "include:spf.mtasv.net",
    "*.sendgrid.net": "include:sendgrid.net",
    "smtp-relay.gmail.com": "include:_spf.google.com",
}
_SERVICES = {
    "submissions": "sending mail with implicit TLS (RFC 8314)",
    "submission": "sending mail with STARTTLS (RFC 6186)",
    "imaps": "reading mail by IMAP with implicit TLS (RFC 8314)",
    "pop3s": "reading mail by POP3 with implicit TLS (RFC 8314)",
    "sieve": "filters (ManageSieve, RFC 5804)",
}


def public_name(hostname: str) -> str | None:
    """A host name as a public DNS name in lower case; None if it can't be one."""
    name = hostname.lower().removesuffix(".")
    if "." not in name or any(name == each or name.endswith(f".{each}") for each in _NO_NAMES):
        return None
    return None if name.rpartition(".")[2].isdigit() else name


def public_addresses(texts: Iterable[str]) -> tuple[Address, ...]:
    """Those addresses that others can reach: not private, loopback or link-local ones."""
    found = [ipaddress.ip_address(text) for text in texts]
    return tuple(each for each in found if is_public(each))


def is_public(address: Address) -> bool:
    """Whether others can reach an address."""
    if address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast:
        return False
    return not any(address.version == network.version and address in network for network in _NOT_PUBLIC)


def relay_term(relay: str) -> tuple[str, bool]:
    """The SPF term for mail that leaves through a relay, and whether it is the documented one of a known provider."""
    for pattern, term in _RELAY_TERMS.items():
        if fnmatchcase(relay.lower(), pattern):
            return term, True
    return f"a:{relay}", False


def domain_records(domain: DomainMail, server: ServerIdentity, services: MailServices) -> list[DnsRecord]:
    """The records of a domain, the required ones first. Without the server's name, those that need it have no value."""
    host = server.hostname
    name = domain.name
    if domain.relay is None:
        spf = DnsRecord(
            "spf", "TXT", name, "v=spf1 mx -all", "Says that only this server sends mail of the domain (SPF)."
        )
    else:
        text = f"Says that mail of the domain comes through the relay {domain.relay} (SPF)."
        spf = DnsRecord("spf", "TXT", name, f"v=spf1 {relay_term(domain.relay)[0]} -all", text)
    dmarc = _with_host(host, "v=DMARC1; p=none; rua=mailto:dmarc@{}")
    tls_rpt = host and mta_sts.tls_report_value(host)
    records = [
        DnsRecord(
            "mx", "MX", name, _with_host(host, "10 {}"), "Brings mail for the domain to this server.", domain.receives
        ),
        DnsRecord(spf.purpose, spf.type, spf.name, spf.value, spf.description, domain.sends),
        *(_key_record(key, name, domain.sends) for key in domain.keys if key.stage != "retired"),
        DnsRecord(
            "dmarc", "TXT", f"_dmarc.{name}", dmarc,
            "Says what receivers do with forged mail, and asks for reports (DMARC). Begin with p=none; later "
            "p=quarantine, then p=reject.", domain.sends,
        ),
        DnsRecord(
            "tls_rpt", "TXT", f"_smtp._tls.{name}", tls_rpt,
            "Asks other servers for reports about problems with encryption (TLS-RPT).",
        ),
    ]  # fmt: skip
    if domain.mta_sts is not None:
        text = "Says that there is a policy for encrypted delivery to the domain (MTA-STS)."
        records += [
            DnsRecord("mta_sts", "TXT", f"_mta-sts.{name}", domain.mta_sts, text),
            DnsRecord(
                "mta_sts_host", "CNAME", f"mta-sts.{name}", host, "Where other servers fetch the MTA-STS policy."
            ),
        ]
    if services.ports:
        records += [
            DnsRecord("autoconfig", "CNAME", f"autoconfig.{name}", host, "Sets up Thunderbird and others."),
            DnsRecord("autodiscover", "CNAME", f"autodiscover.{name}", host, "Sets up Outlook and others."),
        ]
        records += [
            DnsRecord(
                "srv", "SRV", f"_{service}._tcp.{name}", _with_host(host, f"0 1 {port} {{}}"),
                f"Tells mail clients the server for {_SERVICES[service]}.",
            )
            for service, port in services.ports
        ]  # fmt: skip
    return records


def server_records(server: ServerIdentity, keys: Sequence[DkimKey], *, is_managed: bool) -> list[DnsRecord]:
    """The records of the server's own name and addresses. `is_managed`: its name is a managed domain, which has the
    records for sending; otherwise `keys` are the DKIM keys of the name.
    """
    host = server.hostname
    if host is None:
        return []
    records: list[DnsRecord] = []
    for address in server.addresses:
        kind = "A" if address.version == 4 else "AAAA"
        records.append(DnsRecord("address", kind, host, str(address), "The address of this server.", required=True))
    if not server.addresses:
        text = "The address of this server. Set server.addresses to have it compared."
        records.append(DnsRecord("address", "A", host, None, text, required=True))
    records += [
        DnsRecord(
            "ptr", "PTR", address.reverse_pointer, host,
            "The name of the address (reverse DNS). The provider of the address sets it, not the domain's DNS.",
            required=True,
        )
        for address in server.addresses
    ]  # fmt: skip
    if not is_managed:
        text = "Says that only this server sends bounces and forwarded mail, whose sender is at its host name (SPF)."
        records.append(DnsRecord("spf", "TXT", host, "v=spf1 a -all", text, required=True))
        records += [_key_record(key, host, sends=True) for key in keys if key.stage != "retired"]
    return [
        *records,
        DnsRecord(
            "report_authorization", "TXT", f"*._report._dmarc.{host}", "v=DMARC1",
            "Allows reports about other domains to be sent to this server (DMARC, RFC 7489 section 7.1).",
        ),
        DnsRecord("caa", "CAA", host, None, "Which authorities may issue certificates for the server (CAA, RFC 8659)."),
        DnsRecord("dnssec", "DNSKEY", host, None, "Whether the zone of the server's name is signed (DNSSEC)."),
        DnsRecord(
            "tlsa", "TLSA", f"_25._tcp.{host}", None,
            "Binds the server's certificate to its name, where the zone is signed (DANE, RFC 7672).",
        ),
    ]  # fmt: skip


def _key_record(key: DkimKey, name: str, sends: bool) -> DnsRecord:
    stage = {
        "pending": "The key will sign the domain's mail when it is activated.",
        "retiring": "The key does not sign any more, but mail that it signed may be under way.",
    }.get(key.stage, "The key signs the domain's mail.")
    text = f"The public part of a DKIM key ({key.algorithm}). {stage}"
    required = sends and key.stage == "active"
    if key.cname is not None:
        return DnsRecord("dkim", "CNAME", key.dns_name(name), key.cname, text, required, key)
    return DnsRecord("dkim", "TXT", key.dns_name(name), key.dns_value, text, required, key)


def _with_host(host: str | None, text: str) -> str | None:
    return None if host is None else text.format(host)


def to_zone_file(title: str, records: Sequence[DnsRecord]) -> str:
    """The records with a value as lines for a BIND zone file (RFC 1035 §5); reverse names, which are in other zones, as
    comments.
    """
    lines = [f"; {title}"]
    for record in records:
        if record.value is None:
            continue
        mark = "; " if record.type == "PTR" else ""
        lines += [
            f"; {record.description}",
            f"{mark}{record.name}. {TTL} IN {record.type} {_to_zone_value(record.type, record.value)}",
        ]
    return "\n".join(lines) + "\n"


def _to_zone_value(record_type: str, value: str) -> str:
    """A value for a zone file: TXT as strings of at most 255 octets (RFC 1035 §3.3.14), names with a trailing dot."""
    match record_type:
        case "TXT":
            return " ".join(_quote(value[start : start + 255]) for start in range(0, len(value), 255))
        case "MX" | "SRV" | "CNAME" | "PTR":
            return f"{value}."
        case _:
            return value


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
