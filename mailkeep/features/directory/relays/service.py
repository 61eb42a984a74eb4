"""Choosing a relay and submitting to it."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.errors import Failure
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import DomainRelay
from mailkeep.features.directory.relays import rules
from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope
from mailkeep.mail.smtp.connection import ConnectionLost, Relay
from mailkeep.net.resolver import DnsLookupError, Resolver
from mailkeep.settings import parse_dns_servers, parse_endpoint, parse_networks

log = structlog.get_logger("mailkeep.relays")

_REWRITTEN = re.compile(r"SRS[01][-+=]", re.IGNORECASE)  # as in the SQL function mta_relay


class NoRelay(Failure):
    """There is no relay, or its settings are incomplete; the message says what is missing and what to do."""


async def choose_relay(app: App, mail_from: str) -> Relay:
    """The relay for mail with this envelope sender. Raises `NoRelay`, `Unavailable`."""
    local, _, name = mail_from.rpartition("@")
    if local and not _REWRITTEN.match(local) and (relay := await find_domain_relay(app, name)):
        return relay
    outbound = app.settings.outbound
    if not outbound.relay:
        raise NoRelay("the setting outbound.relay was removed: the next attempt delivers directly")
    host, port = parse_endpoint(outbound.relay)
    return _build_relay(app, host, port, outbound.relay_tls, (outbound.relay_username, outbound.relay_password))


async def find_domain_relay(app: App, name: str) -> Relay | None:
    """The relay of a domain, None if it has none or is not managed. Raises `NoRelay`, `Unavailable`."""
    try:
        name = normalize_domain(name)
    except AddressError:
        return None
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, name)
    if domain is None or domain.relay is None:
        return None
    relay = domain.relay
    password = _decrypt_password(app, domain.id, relay)
    return _build_relay(app, relay.host, relay.port, relay.tls, (relay.username, password))


async def submit(
    app: App, relay: Relay, submission: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool
) -> AcceptedSubmission:
    """Submit a message to a relay. Raises `SmtpRefusal`, `ConnectionLost`."""
    return await app.relay_pools.submit(relay, submission, body, stuffed=stuffed)


def _decrypt_password(app: App, domain_id: UUID, relay: DomainRelay) -> str:
    if not relay.username:
        return ""
    if relay.password is None:
        raise NoRelay(f"the relay {relay.host} has a username but no password: set relay.password of the domain")
    password = app.vault.open("relay", relay.password, domain_id.bytes)
    if password is None:
        raise NoRelay(f"the password of the relay {relay.host} can't be decrypted: set relay.password of the domain")
    return password.decode()


def _build_relay(app: App, host: str, port: int, tls: str, login: tuple[str, str]) -> Relay:
    username, password = login
    if username and tls == "none":  # validation refuses this too: a password must not be sent in clear
        raise NoRelay(f"the relay {host} has a username but no TLS: set its tls to starttls or tls")
    return Relay(
        host,
        port,
        tls=tls,  # pyright: ignore[reportArgumentType] one of the three, by setting and column
        ssl_context=_load_ssl_context(app.settings.outbound.extra_ca_file),
        username=username or None,
        password=password or None,
        helo=app.settings.server.name,
        addresses=_address_lookup(app, host),
    )


def _address_lookup(app: App, host: str) -> Callable[[], Awaitable[Sequence[str]]]:
    async def look_up() -> Sequence[str]:
        networks = parse_networks(app.settings.outbound.relay_networks)
        try:
            resolved = [ipaddress.ip_address(host)]
        except ValueError:
            try:
                resolved = await Resolver(parse_dns_servers(app.settings.dns.servers)).resolve(
                    host.lower().removesuffix(".")
                )
            except DnsLookupError as error:
                raise ConnectionLost(f"{host}: {error}", "connect") from error
        addresses, refused = rules.filter_permitted(resolved, networks)
        if not addresses:
            # Only the log has the addresses: domain administrators read the error.
            log.warning("the relay has no permitted address: see outbound.relay_networks", relay=host, refused=refused)
            raise ConnectionLost(
                f"{host} has no global address, nor one that outbound.relay_networks permits", "connect"
            )
        return addresses

    return look_up


@cache
def _load_ssl_context(extra_ca_file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if extra_ca_file:
        try:
            context.load_verify_locations(extra_ca_file)
        except (OSError, ssl.SSLError) as error:
            raise Failure(f"outbound.extra_ca_file {extra_ca_file} can't be read: {error}", permanent=True) from error
    return context
