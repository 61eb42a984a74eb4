"""Use cases of unsubscribe groups and links."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from mailkeep.app import App
from mailkeep.core.address import parse_address
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import InvalidField, NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.suppressions import service as suppressions
from mailkeep.features.mailflow.suppressions.model import NewSuppression
from mailkeep.features.mailflow.unsubscribe import rules, store
from mailkeep.features.mailflow.unsubscribe.model import UnsubscribeGroup, UnsubscribeLink
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget

_READ, _WRITE, _LIST = "unsubscribe_group.read", "unsubscribe_group.write", "unsubscribe_group.list"


def unsubscribe_link(vault: Vault, public_url: str, group_id: UUID, message_id: UUID, address: str) -> str:
    """The link by which the recipient of a message leaves a group; `public_url`: the setting http.public_url."""
    return rules.link_url(vault, public_url, group_id, message_id, address)


async def page(conn: Conn, who: Principal, domain_id: UUID | None, page_request: PageRequest) -> Page[UnsubscribeGroup]:
    """A page of the groups that the caller may see. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if domain_id is not None:
        await domains.get(conn, who, _LIST, domain_id)
    return await store.page(conn, who.domains(), domain_id, page_request)


async def get(conn: Conn, who: Principal, group_id: UUID) -> UnsubscribeGroup:
    """The group; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    return _require(who, _READ, await store.find(conn, group_id))


async def create(conn: Conn, who: Principal, at: datetime, domain_id: UUID, name: str) -> UnsubscribeGroup:
    """Create a group. INVALID_FIELD, DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, CONFLICT `name_taken`."""
    name = rules.clean_name(name)
    domain = await domains.get(conn, who, _WRITE, domain_id)
    group = UnsubscribeGroup(uuid7(at), domain.id, domain.name, name, at, at)
    await store.insert(conn, group)
    await audit.record(conn, who, at, AuditAction("unsubscribe_group.create", _target(group), after={"name": name}))
    return group


async def change(
    conn: Conn, who: Principal, at: datetime, group_id: UUID, name: str | None, if_match: IfMatch
) -> UnsubscribeGroup:
    """Rename a group. INVALID_FIELD, NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED, CONFLICT
    `name_taken`.
    """
    before = _require(who, _WRITE, await store.find_for_update(conn, group_id))
    if_match.check(before.updated_at)
    after = before if name is None else replace(before, name=rules.clean_name(name))
    if after == before:
        return before
    after = replace(after, updated_at=at)
    await store.rename(conn, group_id, after.name, at)
    states = ({"name": before.name}, {"name": after.name})
    await audit.record_change(conn, who, at, "unsubscribe_group.update", _target(after), states)
    return after


async def delete(
    conn: Conn, who: Principal, at: datetime, group_id: UUID, if_match: IfMatch
) -> tuple[UnsubscribeGroup, int]:
    """Delete a group with its suppressions, and return their number. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE,
    PRECONDITION_FAILED.
    """
    group = _require(who, _WRITE, await store.find_for_update(conn, group_id))
    if_match.check(group.updated_at)
    removed = await store.delete(conn, group_id)
    action = AuditAction(
        "unsubscribe_group.delete", _target(group), before={"name": group.name}, details={"suppressions": removed}
    )
    await audit.record(conn, who, at, action)
    return group, removed


async def find_by_token(app: App, token: str) -> tuple[UnsubscribeGroup, UnsubscribeLink]:
    """The group and the recipient that a link names. NOT_FOUND if it was not made here, or the group is gone."""
    link = rules.read_token(app.vault, token)
    if link is None:
        raise NotFound
    async with app.db.autocommit() as conn:
        group = await store.find(conn, link.group_id)
    if group is None:
        raise NotFound
    return group, link


async def unsubscribe(app: App, token: str) -> tuple[UnsubscribeGroup, UnsubscribeLink]:
    """Suppress the recipient of a link for its group. Idempotent. NOT_FOUND as `find_by_token`."""
    group, link = await find_by_token(app, token)
    address = parse_address(link.address)
    new = NewSuppression(group.domain_id, address, "unsubscribe", group.id, link.message_id)
    try:
        async with app.db.autocommit() as conn:
            await suppressions.add(conn, app.clock(), new)
    except InvalidField:  # the group was deleted meanwhile
        raise NotFound from None
    return group, link


def _require(who: Principal, action: str, group: UnsubscribeGroup | None) -> UnsubscribeGroup:
    if group is None:
        raise NotFound
    allow_on(who, action, group.domain_id)
    return group


def _target(group: UnsubscribeGroup) -> AuditTarget:
    return AuditTarget("unsubscribe_group", group.id, group.domain_id, group.domain_name)
