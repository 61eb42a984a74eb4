"""Use cases of the setup of mail programs."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure, NotFound, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.core.secret import token_hash
from mailkeep.features.directory.client_setup import jobs, rules, store, wire
from mailkeep.features.directory.client_setup.model import LIFETIME, ClientSetup, DomainSetup, SetupLink
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.mail.daemons.paths import SERVED_CERTIFICATE

to_setup = wire.to_setup
"""The JSON of a setup and of a link, for the command line."""
to_link = wire.to_link
_NO_LINK = "The mailbox has no setup link: create one first."
_ENDED = "The link has expired or was replaced."


async def find_by_host(app: App, host: str, address: str = "") -> DomainSetup:
    """The setup of the domain in the Host field; with the host name of no domain, that of `address`. NOT_FOUND."""
    names = rules.names_of_host(host)
    if not rules.is_about_one_domain(host):
        names += rules.names_of_address(address)
    return await _find(app, names)


async def find_by_address(app: App, address: str) -> DomainSetup:
    """The setup of the domain of an address, the same for every local part. NOT_FOUND."""
    return await _find(app, rules.names_of_address(address))


async def _find(app: App, names: Sequence[str]) -> DomainSetup:
    async with app.db.autocommit() as conn:
        for name in names:
            if domain := await domains.find_by_name(conn, name):
                target = domain.alias_of and await domains.find_name(conn, domain.alias_of)
                services = rules.list_services(app.settings.server.name, asdict(app.settings.ports))
                return DomainSetup(domain.name, target or domain.name, services)
    raise NotFound("No domain of this server is meant.")


async def get(app: App, who: Principal, mailbox_id: UUID) -> tuple[ClientSetup, SetupLink | None]:
    """The setup of a mailbox, and its link if there is one. NOT_FOUND, FORBIDDEN."""
    async with app.db.autocommit() as conn:
        mailbox = await mailboxes.get(conn, who, mailbox_id)
        link = await store.find_of_mailbox(conn, mailbox_id, app.clock())
    return _setup_of(app, mailbox), link


async def get_by_token(app: App, token: str) -> tuple[ClientSetup, SetupLink]:
    """The setup of the mailbox with this link; NOT_FOUND if the link has ended or the mailbox is not active."""
    async with app.db.autocommit() as conn:
        link = await store.find_by_token(conn, token_hash(token), app.clock())
        mailbox = link and await mailboxes.find(conn, link.mailbox_id)
    if link is None or mailbox is None or not mailbox.active:
        raise NotFound(_ENDED)
    return _setup_of(app, mailbox), link


def _setup_of(app: App, mailbox: Mailbox) -> ClientSetup:
    return rules.client_setup(mailbox, app.settings.server.name, asdict(app.settings.ports))


async def sign_profile(app: App, setup: ClientSetup) -> bytes:
    """The profile for Apple's devices. CONFLICT `no_mail_services`; UNAVAILABLE."""
    profile = rules.require_profile(setup)
    if app.settings.is_full_profile:
        result = await node_tasks.run(app, jobs.SIGN, {"mailbox_id": str(setup.mailbox_id)})
        return b64decode(result["profile"])
    try:
        return await jobs.sign_with(app.data_dir / SERVED_CERTIFICATE, profile)
    except Failure as failure:
        raise Unavailable(str(failure), reason="no_certificate") from failure


async def create_link(app: App, who: Principal, mailbox_id: UUID) -> SetupLink:
    """Create the link of a mailbox, instead of the one that it has. NOT_FOUND, FORBIDDEN."""
    at = app.clock()
    link = SetupLink(uuid7(at), mailbox_id, at + LIFETIME)
    async with app.db.tx() as conn:
        mailbox = await mailboxes.get(conn, who, mailbox_id, "mailbox.write")
        await store.replace(conn, link, token_hash(rules.derive_token(app.vault, link.id)))
        details = {"address": str(mailbox.address), "expires_at": iso(link.expires_at)}
        await audit.record(conn, who, at, AuditAction("setup_link.create", _target(mailbox), details=details))
    return link


async def delete_link(app: App, who: Principal, mailbox_id: UUID) -> Mailbox:
    """Delete the link of a mailbox: it stops working. NOT_FOUND, also if there is none; FORBIDDEN."""
    at = app.clock()
    async with app.db.tx() as conn:
        mailbox = await mailboxes.get(conn, who, mailbox_id, "mailbox.write")
        if not await store.delete(conn, mailbox_id):
            raise NotFound(_NO_LINK)
        details = {"address": str(mailbox.address)}
        await audit.record(conn, who, at, AuditAction("setup_link.delete", _target(mailbox), details=details))
    return mailbox


def url_of(app: App, link: SetupLink) -> str:
    """The URL of a link."""
    return rules.link_url(app.settings.http.public_url, rules.derive_token(app.vault, link.id))


def require_link(link: SetupLink | None) -> SetupLink:
    """The link; NOT_FOUND."""
    if link is None:
        raise NotFound(_NO_LINK)
    return link


def _target(mailbox: Mailbox) -> AuditTarget:
    return AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
