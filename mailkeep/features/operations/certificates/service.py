"""List certificates, request changes of them, and speak with the authority."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Conflict, Failure, NotFound, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dns_updates import service as dns_updates
from mailkeep.features.operations.certificates import rules, store, wire
from mailkeep.features.operations.certificates.model import (
    REASONS,
    SERVER,
    AcmeAccount,
    CertificateEnd,
    NameCheck,
    Reason,
    Source,
    StoredPair,
    TlsCertificate,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.mail.daemons.nginx import list_server_names
from mailkeep.net.acme import jws
from mailkeep.net.acme.answers import AcmeError
from mailkeep.net.acme.client import AcmeClient, Authority, Proof, Publisher
from mailkeep.net.client import OutboundError, OutboundRequest
from mailkeep.net.dns_update import DnsUpdateError
from mailkeep.settings import Settings, parse_networks

log = structlog.get_logger("mailkeep.certificates")

CHALLENGE_PATH = "/.well-known/acme-challenge"
_ACCOUNT_KEY, _PRIVATE_KEY = "acme account", "certificate key"  # purposes of the vault's keys
_TOKEN_LIFETIME = timedelta(hours=1)
_FETCH_SECONDS = 10.0
_VISIBLE_SECONDS, _LOOK_SECONDS = 90.0, 1.0
_MAX_TOKEN = 128


def list_wanted(settings: Settings, name: str) -> tuple[str, ...]:
    """The host names that the certificate should have, for the server or a domain, in the order of preference."""
    if name != SERVER:
        return tuple(f"{label}.{name}" for label in settings.acme.domain_names)
    served = list_server_names(settings) if settings.edge.enabled else []
    webmail = settings.webmail.host if settings.webmail.enabled else ""
    names = [settings.server.hostname, *(served if settings.server.hostname else []), webmail]
    return tuple(dict.fromkeys(each.lower().removesuffix(".") for each in names if each))


def is_managed(settings: Settings, name: str) -> bool:
    """Whether the certificate is to be ordered by ACME."""
    return settings.acme.enabled and not (name == SERVER and settings.tls.certificate_file)


def describe(certificate: TlsCertificate, settings: Settings) -> wire.CertificateRecord:
    """A certificate as the API shows it."""
    return wire.to_record(certificate, managed=is_managed(settings, certificate.name))


async def page(conn: Conn, page_request: PageRequest) -> Page[TlsCertificate]:
    """A page of all certificates."""
    return await store.page(conn, page_request)


async def get(conn: Conn, certificate_id: UUID) -> TlsCertificate:
    """A certificate. NOT_FOUND."""
    found = await store.find(conn, certificate_id)
    if found is None:
        raise NotFound("There is no such certificate.")
    return found


async def find_by_name(conn: Conn, name: str) -> TlsCertificate:
    """The certificate of the server or of a domain. NOT_FOUND."""
    found = await store.find_by_name(conn, name.lower())
    if found is None:
        raise NotFound(f"There is no certificate {name}; `mailkeep certificates list` shows all.")
    return found


async def renew(app: App, conn: Conn, who: Principal, certificate_id: UUID) -> TlsCertificate:
    """Replace a certificate as soon as possible, or look at its names again if it has none yet. NOT_FOUND, CONFLICT."""
    certificate = await _lock(app, conn, certificate_id)
    changed = replace(certificate, forced=certificate.chain is not None, next_attempt_at=app.clock())
    await store.request(conn, changed, app.clock())
    await audit.record(conn, who, app.clock(), AuditAction("certificate.renew", _target(certificate)))
    return changed


async def revoke(
    app: App, conn: Conn, who: Principal, certificate_id: UUID, reason: Reason, *, at_once: bool
) -> TlsCertificate:
    """Replace a certificate and revoke it; with `at_once` in the other order. NOT_FOUND, CONFLICT."""
    certificate = await _lock(app, conn, certificate_id)
    if certificate.chain is None:
        raise Conflict("There is no certificate that could be revoked.", reason="not_issued")
    if certificate.revoking is not None:
        raise Conflict("It is being revoked.", reason="being_revoked")
    revoking = certificate.chain if at_once else None
    changed = replace(certificate, revoke_reason=REASONS[reason], revoking=revoking, next_attempt_at=app.clock())
    await store.request(conn, changed, app.clock())
    details = {"reason": reason, "at_once": at_once, "serial": certificate.serial}
    await audit.record(conn, who, app.clock(), AuditAction("certificate.revoke", _target(certificate), details=details))
    return changed


async def _lock(app: App, conn: Conn, certificate_id: UUID) -> TlsCertificate:
    certificate = await store.find(conn, certificate_id, locked=True)
    if certificate is None:
        raise NotFound("There is no such certificate.")
    if not is_managed(app.settings, certificate.name):
        text = "Mailkeep does not order it: acme.enabled is off, or tls.certificate_file is set."
        raise Conflict(text, reason="not_managed")
    return certificate


def _target(certificate: TlsCertificate) -> AuditTarget:
    domain = None if certificate.name == SERVER else certificate.name
    return AuditTarget("certificate", certificate.id, certificate.domain_id, domain)


async def find_token(conn: Conn, token: str) -> str:
    """What HTTP-01 expects for a token. NOT_FOUND."""
    content = await store.find_token(conn, token) if len(token) <= _MAX_TOKEN and token.isascii() else None
    if content is None:
        raise NotFound("There is no such token.")
    return content


async def add_missing(app: App, conn: Conn) -> None:
    """Add the certificates of the server and of domains, where they are wanted."""
    settings, at = app.settings, app.clock()
    with_domains = settings.acme.enabled and bool(settings.acme.domain_names)
    await store.add_missing(conn, (uuid7(at), SERVER), at, with_domains=with_domains)


async def list_pairs(app: App, conn: Conn) -> list[StoredPair]:
    """The certificates that were ordered, with their private keys. One whose key can't be opened is logged."""
    pairs: list[StoredPair] = []
    for certificate_id, name, names, chain, sealed in await store.list_pairs(conn):
        key = app.vault.open(_PRIVATE_KEY, sealed, certificate_id.bytes)
        if key is None:
            log.error("the key of a certificate can't be opened with the master secret", name=name)
        else:
            pairs.append(StoredPair(name, names, chain, key))
    return pairs


async def record_served(app: App, conn: Conn, source: Source, chain: str) -> None:
    """Note which certificate of a file the server uses."""
    await store.save_served(conn, SERVER, source, rules.describe(chain), app.clock())


async def find_problem(conn: Conn) -> str | None:
    """What is wrong with certificates, in words; None if no alert is open."""
    names = ["the server" if name == SERVER else name for name in await store.list_alerted(conn)]
    if not names:
        return None
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Certificates could not be renewed: {', '.join(names[:3])}{more}."


async def list_ends(conn: Conn, limit: int) -> list[CertificateEnd]:
    """The certificates of the server and of domains that end first."""
    return await store.list_ends(conn, limit)


async def save_issued(
    conn: Conn, app: App, job: TlsCertificate, pair: tuple[str, bytes], checks: Sequence[NameCheck]
) -> bool:
    """Store a new certificate, with its key in PEM; False if another worker has claimed the job meanwhile."""
    chain, key = pair
    sealed = app.vault.seal(_PRIVATE_KEY, key, job.id.bytes)
    return await store.save_issued(conn, job, (chain, sealed), rules.describe(chain), checks, app.clock())


async def check_names(app: App, names: Sequence[str]) -> tuple[NameCheck, ...]:
    """Whether each name leads here: with HTTP-01 a file of our own is fetched from it, with DNS-01 its zone is asked
    for at the server that accepts updates.
    """
    if app.settings.acme.challenge == "dns":
        return tuple(await asyncio.gather(*(_check_zone(app, name) for name in names)))
    if not app.settings.acme.check_first:
        return tuple(NameCheck(name, "ok") for name in names)
    token, content = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    publisher = HttpPublisher(app)
    await publisher.publish(Proof("", token, content))
    try:
        return tuple(await asyncio.gather(*(_fetch(app, name, token, content) for name in names)))
    finally:
        await publisher.withdraw(Proof("", token, content))


async def _check_zone(app: App, name: str) -> NameCheck:
    try:
        await dns_updates.require_zone(app, name)
    except DnsUpdateError as error:
        return NameCheck(name, "failed", str(error))
    return NameCheck(name, "ok")


async def _fetch(app: App, name: str, token: str, content: str) -> NameCheck:
    request = OutboundRequest(
        method="GET",
        url=f"http://{name}{CHALLENGE_PATH}/{token}",
        allowed_networks=parse_networks(app.settings.acme.allowed_networks),
        timeout=_FETCH_SECONDS,
        allow_http=True,
    )
    try:
        response = await app.outbound.send(request)
    except OutboundError as error:
        return rules.explain_fetch(name, error)
    return rules.explain_answer(name, response.status, is_ours=response.body.strip() == content.encode())


class HttpPublisher(Publisher):
    """Publishes proofs of HTTP-01 as rows, which every API process answers."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def publish(self, proof: Proof) -> None:
        """Store the content for the token."""
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            await store.add_token(conn, proof.token, proof.content, at, at + _TOKEN_LIFETIME)

    async def withdraw(self, proof: Proof) -> None:
        """Delete the token; what fails expires."""
        try:
            async with self._app.db.autocommit() as conn:
                await store.delete_token(conn, proof.token)
        except Unavailable:
            log.info("a token of a challenge was not deleted")


class DnsPublisher(Publisher):
    """Publishes proofs of DNS-01 by DNS UPDATE, and waits until the configured name servers find them."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def publish(self, proof: Proof) -> None:
        """Write the record. DnsUpdateError, also if it is not found in time."""
        name = f"_acme-challenge.{proof.name}"
        await dns_updates.add_text(self._app, name, proof.content)
        loop = asyncio.get_running_loop()
        until = loop.time() + _VISIBLE_SECONDS
        while not all(proof.content in each.values for each in await self._app.dns_query.ask(name, "TXT")):
            if loop.time() > until:
                raise DnsUpdateError(f"The name servers do not find the TXT record at {name} that was written.")
            await asyncio.sleep(_LOOK_SECONDS)

    async def withdraw(self, proof: Proof) -> None:
        """Remove the record; a failure is logged."""
        try:
            await dns_updates.remove_text(self._app, f"_acme-challenge.{proof.name}", proof.content)
        except DnsUpdateError as error:
            log.warning("the TXT record of a challenge was not removed", name=proof.name, reason=str(error))


def make_publisher(app: App) -> Publisher:
    """What publishes proofs for `acme.challenge`."""
    return DnsPublisher(app) if app.settings.acme.challenge == "dns" else HttpPublisher(app)


async def open_session(app: App, *, again: bool = False) -> AcmeClient:
    """A session with the authority, with an account that is registered if there is none; `again`: the authority does
    not know it any more. AcmeError.
    """
    account = await _find_account(app)
    if account.next_key_sealed is not None:
        account = await _end_key_change(app, account)
    client = _make_client(app, account)
    if not account.url or again:
        acme = app.settings.acme
        binding = (acme.eab_key_id, acme.eab_key) if acme.eab_key_id else None
        account = replace(account, url=await client.register(acme.email, binding))
        async with app.db.autocommit() as conn:
            await store.save_account(conn, account)
        log.info("an account was registered", directory=account.directory)
    return client


async def change_account_key(app: App, who: Principal) -> None:
    """Replace the key of the account. CONFLICT if ACME is off; UNAVAILABLE if the authority does not accept it."""
    if not app.settings.acme.enabled:
        raise Conflict("acme.enabled is off.", reason="not_managed")
    try:
        client = await open_session(app)
        new = jws.new_key()
        account = replace(await _find_account(app), next_key_sealed=_seal(app, new))
        async with app.db.autocommit() as conn:
            await store.save_account(conn, account)
        failpoint.reach("acme.key_stored")
        await client.change_key(new)
        failpoint.reach("acme.key_changed")
        await _end_key_change(app, account)
    except AcmeError as error:
        raise Unavailable(str(error)) from error
    async with app.db.tx() as conn:
        target = AuditTarget("acme_account", account.directory)
        await audit.record(conn, who, app.clock(), AuditAction("certificate.account_key", target))


async def _end_key_change(app: App, account: AcmeAccount) -> AcmeAccount:
    """After a change of the key, also one that was interrupted: keep the key that the authority knows."""
    assert account.next_key_sealed is not None
    client = _make_client(app, replace(account, key_sealed=account.next_key_sealed))
    is_changed = bool(await client.has_account())
    settled = replace(
        account, key_sealed=account.next_key_sealed if is_changed else account.key_sealed, next_key_sealed=None
    )
    async with app.db.autocommit() as conn:
        await store.save_account(conn, settled)
    return settled


async def _find_account(app: App) -> AcmeAccount:
    async with app.db.tx() as conn:
        return await store.find_account(conn, app.settings.acme.directory, _seal(app, jws.new_key()), app.clock())


def _make_client(app: App, account: AcmeAccount) -> AcmeClient:
    acme = app.settings.acme
    key = app.vault.open(_ACCOUNT_KEY, bytes(account.key_sealed), account.directory.encode())
    if key is None:
        raise Failure("The key of the ACME account can't be opened with the master secret.")
    extra = Path(acme.extra_ca_file) if acme.extra_ca_file else None
    authority = Authority(acme.directory, parse_networks(acme.allowed_networks), extra)
    return AcmeClient(app.outbound, authority, jws.from_pem(key), account.url)


def _seal(app: App, key: jws.AccountKey) -> bytes:
    return app.vault.seal(_ACCOUNT_KEY, jws.to_pem(key), app.settings.acme.directory.encode())
