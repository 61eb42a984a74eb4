"""Store bulk operations, carry out their items, and export tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import Address, AddressError, fold_local, normalize_domain, parse_address
from mailkeep.core.errors import (
    DomainNotFound,
    MissingFields,
    NotFound,
    RateLimitExceeded,
    Refusal,
    invalid_field,
)
from mailkeep.core.ids import uuid7
from mailkeep.core.page import PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.directory.aliases import service as aliases
from mailkeep.features.directory.bulk import rules, store
from mailkeep.features.directory.bulk.model import (
    MAX_UNFINISHED,
    RETENTION,
    BulkItem,
    BulkItemResult,
    BulkOperation,
    BulkProgress,
    BulkRequest,
    BulkResource,
    ItemTarget,
)
from mailkeep.features.directory.domains import rules as domain_rules, service as domains
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox, MailboxFilter, MailboxWrite
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.string_views import read_views

_PURPOSE = "bulk item"
_EXPORT_PAGE = 500
_SAMPLE_HASH = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


_UNKNOWN = ItemTarget(None, None)


class DryRunSucceeded(Exception):
    """Rolls back an item of a dry run that would succeed."""


class ItemHasResult(Exception):
    """Rolls back an item that another worker has finished meanwhile."""


async def submit(app: App, who: Principal, request: BulkRequest) -> UUID:
    """Store an operation, which a worker carries out; returns its ID. EMPTY_BATCH, BATCH_TOO_LARGE; RATE_LIMIT_EXCEEDED
    while 20 operations of the account are unfinished.
    """
    rules.check_count(len(request.items))
    at = app.clock()
    operation = BulkOperation(
        uuid7(at), request.resource, request.action, request.dry_run, "running", len(request.items), who, at
    )
    items = await asyncio.to_thread(_seal_items, app, operation.id, request.items)
    details = {"action": request.action, "items": operation.total, "dry_run": request.dry_run}
    target = AuditTarget("operation", operation.id)
    async with app.db.tx() as conn:
        if await store.count_unfinished(conn, who.admin_id) >= MAX_UNFINISHED:
            text = f"{MAX_UNFINISHED} of your bulk operations are not finished: wait for them."
            raise RateLimitExceeded(text, retry_after=10)
        await store.insert(conn, operation, items)
        await audit.record(conn, who, at, AuditAction(f"{request.resource}.bulk", target, details=details))
    return operation.id


def _seal_items(
    app: App, operation_id: UUID, items: Sequence[Mapping[str, Any] | Refusal]
) -> list[tuple[bytes | None, bytes | None]]:
    return [
        (None, to_error(item))
        if isinstance(item, Refusal)
        else (app.vault.seal(_PURPOSE, _encode(item), _binding(operation_id, index)), None)
        for index, item in enumerate(items)
    ]


def _encode(item: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(read_views(item))


def _binding(operation_id: UUID, index: int) -> bytes:
    return operation_id.bytes + index.to_bytes(4, "big")


def to_error(refusal: Refusal) -> bytes:
    """The error of an item: {code, message, details}."""
    return msgspec.json.encode({"code": refusal.code, "message": refusal.message, "details": refusal.details})


async def find_created(app: App, request_id: UUID) -> UUID | None:
    """The operation that a request created, None if it created none."""
    async with app.db.autocommit() as conn:
        return await store.find_by_request(conn, request_id)


async def find(app: App, who: Principal, operation_id: UUID) -> tuple[BulkOperation, BulkProgress] | None:
    """An operation and its progress; None if there is none with this ID. FORBIDDEN."""
    async with app.db.autocommit() as conn:
        operation = await store.find(conn, operation_id)
        if operation is None:
            return None
        rules.refuse_reader(who, operation)
        return operation, await store.count_done(conn, operation_id)


async def list_results(app: App, operation: BulkOperation) -> list[BulkItemResult]:
    """The results of an operation so far, in the order of its items."""
    async with app.db.autocommit() as conn:
        return await store.list_results(conn, operation.id)


async def prune(app: App) -> None:
    """Delete operations that were finished more than seven days ago."""
    async with app.db.autocommit() as conn:
        await store.delete_before(conn, app.clock() - RETENTION)


def open_item(app: App, operation: BulkOperation, item: BulkItem) -> dict[str, Any] | None:
    """The content of an item; None if it was sealed with another master secret."""
    plain = app.vault.open(_PURPOSE, item.sealed, _binding(operation.id, item.index))
    return None if plain is None else msgspec.json.decode(plain)


@dataclass(slots=True)
class ItemExecution:
    """Carries out one item with the permissions of `who`. `target` is known as soon as the item has been read."""

    app: App
    who: Principal
    operation: BulkOperation
    index: int
    hash_password: Callable[[str], Awaitable[str]]
    target: ItemTarget = _UNKNOWN

    async def run(self, content: dict[str, Any]) -> None:
        """Create, change or delete the object, and write the result in the same transaction.

        DryRunSucceeded, ItemHasResult; the refusals of the single call. Then nothing is changed and no result written.
        """
        async with self.app.db.autocommit() as conn:
            if self.operation.resource == "mailbox":
                self.target = await self._find_mailbox(conn, content)
            else:
                self.target = await self._find_alias(conn, content)
        if self.operation.resource == "mailbox":
            await self._write_mailbox(content)
        else:
            await self._write_alias(content)

    async def _find_mailbox(self, conn: Conn, content: dict[str, Any]) -> ItemTarget:
        """What an item is about; takes its name out of `content`, and puts the fields of the single call into it."""
        address = rules.take_text(content, "address")
        if self.operation.action == "create":
            if address is not None:
                rules.refuse_other_names(content, "address", ("domain_id", "local_part"))
                parsed = _parse_address(address)
                content["local_part"] = parsed.local_part
                content["domain_id"] = str(await self._find_domain(conn, "address", parsed.domain))
            return ItemTarget(None, None)
        mailbox_id = rules.take_id(content)
        if mailbox_id is None:
            if not address:
                raise MissingFields([{"field": "id", "reason": "one of id, address is required"}])
            parsed = _parse_address(address)
            domain = await domains.find_by_name(conn, parsed.domain)
            if domain is not None:
                self._permit(domain.id)
            mailbox = await mailboxes.find_by_address(conn, parsed.key)
            if mailbox is None:
                raise NotFound(f"There is no mailbox {address}.")
            return ItemTarget(mailbox.id, mailbox.domain_id)
        if address is not None:
            raise invalid_field("address", "can't be given together with id")
        return ItemTarget(mailbox_id, None)

    async def _find_alias(self, conn: Conn, content: dict[str, Any]) -> ItemTarget:
        domain_name = rules.take_text(content, "domain")
        if self.operation.action == "create":
            if domain_name is not None:
                rules.refuse_other_names(content, "domain", ("domain_id",))
                content["domain_id"] = str(await self._find_domain(conn, "domain", domain_name))
            return ItemTarget(None, None)
        alias_id = rules.take_id(content)
        source = rules.take_text(content, "source_local_part")
        if alias_id is not None:
            if domain_name is not None or source is not None:
                raise invalid_field("id", "can't be given together with domain and source_local_part")
            return ItemTarget(alias_id, None)
        if domain_name is None or source is None:
            reason = "id, or domain and source_local_part, is required"
            raise MissingFields([{"field": "id", "reason": reason}])
        domain_id = await self._find_domain(conn, "domain", domain_name)
        self._permit(domain_id)
        alias_id = await aliases.find_by_source(conn, domain_id, source)
        if alias_id is None:
            raise NotFound(f"There is no alias {source}@{domain_name}.")
        return ItemTarget(alias_id, domain_id)

    def _permit(self, domain_id: UUID) -> None:
        """Refuse names of objects in other domains before they are looked up: whether there is one is not shown."""
        self.target = ItemTarget(None, domain_id)
        allow_on(self.who, f"{self.operation.resource}.write", domain_id)

    async def _find_domain(self, conn: Conn, field: str, name: str) -> UUID:
        try:
            domain = await domains.find_by_name(conn, normalize_domain(name.strip()))
        except AddressError as error:
            raise invalid_field(field, error.reason) from None
        if domain is None:
            raise DomainNotFound(f"The domain {name} is not managed by this server.")
        return domain.id

    async def _write_mailbox(self, content: dict[str, Any]) -> None:
        async def finish(conn: Conn, mailbox: Mailbox) -> None:
            key = mailbox.address.key if self.operation.action == "create" else str(mailbox.id)
            await self._finish(conn, ItemTarget(mailbox.id, mailbox.domain_id, key), str(mailbox.address))

        write = MailboxWrite(finish, _skip_hashing if self.operation.dry_run else self.hash_password)
        target_id = self.target.object_id
        if target_id is None:
            await mailboxes.create_item(self.app, self.who, content, write)
        elif self.operation.action == "update":
            await mailboxes.change_item(self.app, self.who, target_id, content, write)
        else:
            await mailboxes.delete_item(self.app, self.who, target_id, content, write)

    async def _write_alias(self, content: dict[str, Any]) -> None:
        at, most = self.app.clock(), self.app.settings.limits.alias_destinations
        target_id, who = self.target.object_id, self.who
        async with self.app.db.tx() as conn:
            if target_id is None:
                alias = await aliases.create_item(conn, who, at, content, most)
            elif self.operation.action == "update":
                alias = await aliases.change_item(conn, who, at, target_id, content, most)
            else:
                alias = await aliases.delete_item(conn, who, at, target_id, content)
            source = fold_local(alias.source_local_part)
            key = f"{source}@{alias.domain_id}" if self.operation.action == "create" else str(alias.id)
            await self._finish(conn, ItemTarget(alias.id, alias.domain_id, key), alias.source_local_part or "*")

    async def _finish(self, conn: Conn, target: ItemTarget, name: str) -> None:
        self.target = target
        if self.operation.dry_run:
            await self._check_with_earlier(conn, target, name)
            raise DryRunSucceeded
        if not await store.save_result(conn, self.operation.id, BulkItemResult(self.index, target.object_id), target):
            raise ItemHasResult
        failpoint.reach("bulk.item_written")

    async def _check_with_earlier(self, conn: Conn, target: ItemTarget, name: str) -> None:
        """Refuse what earlier items of the dry run would leave impossible."""
        if self.operation.action == "update":
            return
        repeated, in_domain = await store.find_earlier(conn, self.operation.id, target)
        if repeated is not None:
            rules.refuse_repetition(repeated, name)
        if self.operation.action == "delete" or not in_domain or target.domain_id is None:
            return
        domain = await domains.get(conn, self.who, f"{self.operation.resource}.write", target.domain_id)
        is_mailbox = self.operation.resource == "mailbox"
        limit, what = (domain.max_mailboxes, "mailboxes") if is_mailbox else (domain.max_aliases, "aliases")
        if limit is not None:
            usage = (await domains.count_usage(conn, [domain.id])).get(domain.id, domains.NO_USAGE)
            present = usage.mailboxes if is_mailbox else usage.aliases  # with this item
            domain_rules.refuse_over_limit(limit, present - 1 + in_domain, what)

    async def save(self, refusal: Refusal | None) -> None:
        """Write the result of an item that was not carried out: a refusal, or the success of a dry run."""
        operation, target = self.operation, self.target
        object_id = target.object_id if operation.action != "create" else None
        error = None if refusal is None else to_error(refusal)
        async with self.app.db.autocommit() as conn:
            saved = await store.save_result(conn, operation.id, BulkItemResult(self.index, object_id, error), target)
        if saved and refusal is not None and not operation.dry_run:
            audit_target = AuditTarget(operation.resource, object_id, target.domain_id)
            action = f"{operation.resource}.{operation.action}"
            await audit.record_refused_change(self.app, self.who, action, audit_target, refusal)


def _parse_address(text: str) -> Address:
    try:
        return parse_address(text.strip())
    except AddressError as error:
        raise invalid_field("address", error.reason) from None


async def _skip_hashing(_password: str) -> str:
    return _SAMPLE_HASH


# Exports


async def record_export(app: App, who: Principal, resource: BulkResource, domain_id: UUID | None) -> None:
    """Check that the caller may export the objects of a domain (None: all that it may see), and record it.

    DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    async with app.db.tx() as conn:
        name = None
        if domain_id is not None:
            name = (await domains.get(conn, who, f"{resource}.list", domain_id)).name
        target = AuditTarget(resource, None, domain_id, name)
        await audit.record(conn, who, app.clock(), AuditAction(f"{resource}.export", target))


async def export_mailboxes(
    app: App, find_caller: Callable[[], Awaitable[Principal]], domain_id: UUID | None
) -> AsyncIterator[list[Sequence[str]]]:
    """The rows of the export, in pages: each with the caller's rights at that time, since a client may read slowly."""
    after = None
    while True:
        who = await find_caller()
        filters = MailboxFilter(who.domains(), domain_id)
        async with app.db.autocommit() as conn:
            page = await mailboxes.page(conn, who, filters, PageRequest(_EXPORT_PAGE, "created_at", "asc", after))
        yield [
            (str(each.address), each.name, str(each.quota_bytes), "true" if each.active else "false")
            for each in page.rows
        ]
        if (after := page.next_key) is None:
            return


async def export_aliases(
    app: App, find_caller: Callable[[], Awaitable[Principal]], domain_id: UUID | None
) -> AsyncIterator[list[Sequence[str]]]:
    """The rows of the export, in pages, as `export_mailboxes`."""
    visible = (await find_caller()).domains()
    names: dict[UUID, str] = {}
    for chosen in [domain_id] if domain_id is not None or visible is None else visible:
        after = None
        while True:
            who = await find_caller()
            async with app.db.autocommit() as conn:
                request = PageRequest(_EXPORT_PAGE, "created_at", "asc", after)
                page = await aliases.page(conn, who, chosen, None, request)
                for each in page.rows:
                    if each.domain_id not in names:
                        names[each.domain_id] = (await domains.get(conn, who, "alias.list", each.domain_id)).name
            yield [
                (
                    names[each.domain_id],
                    each.source_local_part,
                    ",".join(each.destinations),
                    "true" if each.active else "false",
                )
                for each in page.rows
            ]
            if (after := page.next_key) is None:
                break
