"""Lists the DNS records that a domain and the server need, with the settings and keys of now."""

from __future__ import annotations

from collections.abc import Sequence

from mailkeep.app import App
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dns import rules
from mailkeep.features.directory.dns.model import Address, DnsRecord, DomainMail, MailServices, ServerIdentity
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mta_sts import rules as mta_sts
from mailkeep.settings import Settings, parse_endpoint


def server_identity(settings: Settings) -> ServerIdentity:
    """The server's public name and addresses, as far as the settings say."""
    server = settings.server
    return ServerIdentity(rules.public_name(server.hostname), rules.public_addresses(server.addresses))


def mail_services(settings: Settings) -> MailServices:
    """The services for mail clients: those of the full profile that are not disabled."""
    if not settings.is_full_profile:
        return MailServices()
    ports = settings.ports
    found = [
        ("submissions", ports.submissions),
        ("submission", ports.submission),
        ("imaps", ports.imaps),
        ("pop3s", ports.pop3s),
        ("sieve", ports.sieve),
    ]
    return MailServices(tuple((name, port) for name, port in found if port))


def relay_of(domain: Domain, settings: Settings) -> str | None:
    """The host through which a domain's mail leaves; None: this server delivers it."""
    if domain.relay is not None:
        return domain.relay.host
    if settings.is_full_profile:
        return parse_endpoint(settings.outbound.relay)[0] if settings.outbound.relay else None
    return settings.mta.host if settings.mta.mode == "smtp" else None


async def list_domain_records(app: App, domain: Domain) -> list[DnsRecord]:
    """The records of a domain."""
    async with app.db.autocommit() as conn:
        keys = await dkim.list_records(conn, domain.id)
    identity = server_identity(app.settings)
    mail = DomainMail(
        domain.name,
        tuple(keys),
        domain.sending_enabled,
        domain.receiving_enabled,
        relay_of(domain, app.settings),
        mta_sts.record_value(domain, identity.hostname or "", app.clock()),
    )
    return rules.domain_records(mail, identity, mail_services(app.settings))


async def list_server_records(app: App, addresses: Sequence[Address]) -> list[DnsRecord]:
    """The records of the server, empty without `server.hostname`. `addresses`: its public ones, where no setting has
    them. Creates the DKIM key of its name if there is none yet.
    """
    identity = server_identity(app.settings)
    if identity.hostname is None:
        return []
    if not identity.addresses:
        identity = ServerIdentity(identity.hostname, tuple(addresses))
    hostname = identity.hostname
    assert hostname is not None
    async with app.db.autocommit() as conn:
        is_managed = await domains.find_by_name(conn, hostname) is not None
    keys = [] if is_managed else await dkim.ensure_host_keys(app, hostname)
    return rules.server_records(identity, keys, is_managed=is_managed)
