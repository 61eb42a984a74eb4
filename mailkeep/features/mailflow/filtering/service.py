"""Policies for decisions, hits of list entries, settings and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import NotFound, Refusal
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.mailflow.filter_training import service as training
from mailkeep.features.mailflow.filter_training.model import TrainingStatus
from mailkeep.features.mailflow.filtering import rules, store, wire
from mailkeep.features.mailflow.filtering.model import (
    MAX_ENTRIES,
    SERVER,
    SERVER_SETTINGS,
    Decision,
    EffectiveValues,
    EntryFilter,
    Facts,
    FilterOwner,
    FilterValues,
    NewEntry,
    OwnerRef,
    OwnerValues,
    Policy,
    StoredEntry,
    Subject,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction
from mailkeep.features.record.history.rules import like_pattern
from mailkeep.features.record.settings_revisions import rules as revision_rules, service as revisions
from mailkeep.jobs.repeat import repeat
from mailkeep.settings import Settings
from mailkeep.web.areas import mailbox_id
from mailkeep.web.endpoint import Call

decide, combine, list_keys, read_policy = rules.decide, rules.combine, rules.list_keys, store.read_policy
FilteringRecord, FilteringPatch, to_record, read_patch = (
    wire.FilteringRecord,
    wire.FilteringPatch,
    wire.to_record,
    wire.read_patch,
)
"""For the settings of the server (`operations/server_filtering`), and for commands."""
read_change, read_import, read_items = wire.read_change, wire.read_import, wire.read_items
"""For commands."""

_FLUSH_SECONDS = 5.0


# Decisions


async def apply_settings(conn: Conn, settings: Settings, at: datetime) -> None:
    """Store the server's values, which decisions read; call it at every start, before mail is accepted."""
    values = settings.filter
    await store.write_server(
        conn,
        at,
        {
            "junk_score": values.spam_score,
            "reject_score": values.reject_score,
            "digest": values.digest,
            "learn": values.learn,
        },
    )


async def find_policies(conn: Conn, subjects: Sequence[Subject], facts: Facts) -> dict[Subject, Policy]:
    """The policy of each subject, with the entries that can match the facts. One statement."""
    return (await find_policies_of_messages(conn, [(subjects, facts)]))[0]


async def find_policies_of_messages(
    conn: Conn, lookups: Sequence[tuple[Sequence[Subject], Facts]]
) -> list[dict[Subject, Policy]]:
    """As `find_policies`, for several messages in one statement."""
    return await store.find_policies(conn, [(subjects, rules.list_keys(facts)) for subjects, facts in lookups])


def count_hits(decisions: Iterable[Decision], count: Callable[[UUID | None], None]) -> None:
    """Count the entries that decided about a message (`HitCounter.count`), each once."""
    for entry_id in {each.decided_by.entry_id for each in decisions if each.decided_by}:
        count(entry_id)


class HitCounter:
    """Counts matches of list entries in this process, and adds them to the database every few seconds.

    What was not added yet is lost if the process is killed.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._hits: dict[UUID, tuple[int, datetime]] = {}

    def count(self, entry_id: UUID | None) -> None:
        """Count a match of an entry that decided; None: no entry did."""
        if entry_id is not None:
            number, _ = self._hits.get(entry_id, (0, None))
            self._hits[entry_id] = (number + 1, self._app.clock())

    async def run(self) -> None:
        """Add the hits to the database regularly, until cancelled; then the rest."""
        try:
            await repeat(_FLUSH_SECONDS, "filter hits", self.flush)
        finally:
            await self.flush()

    async def flush(self) -> None:
        """Add the hits to the database; after an error they are kept for the next time. UNAVAILABLE."""
        if not (hits := self._hits):
            return
        self._hits = {}
        try:
            async with self._app.db.autocommit() as conn:
                await store.add_hits(conn, hits)
        except BaseException:
            for entry_id, (number, at) in hits.items():
                newer, newest = self._hits.get(entry_id, (0, at))
                self._hits[entry_id] = (number + newer, newest)
            raise


# Settings


async def get_values(app: App, who: Principal, ref: OwnerRef) -> OwnerValues:
    """The settings of a domain or mailbox, and those in force for it. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    status = await training.read_status(app)
    async with app.db.autocommit() as conn:
        owner = await find_owner(conn, who, ref, "filter.read")
        return await _read_values(app, conn, owner, status)


async def change_values(
    app: App, who: Principal, ref: OwnerRef, change: Callable[[FilterValues], FilterValues], if_match: IfMatch
) -> OwnerValues:
    """Change the settings of a domain or mailbox. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED."""
    at, status = app.clock(), await training.read_status(app)
    async with app.db.tx() as conn:
        owner = await _lock_owner(conn, who, ref)
        before = (await store.find_values(conn, owner)).get(owner.scope, FilterValues())
        if_match.check(before.updated_at or owner.created_at)
        after = change(before)
        if after != before:
            await store.write_values(conn, owner, replace(after, updated_at=at))
            states = (wire.audit_values(before), wire.audit_values(after))
            await audit.record_change(conn, who, at, "filter.update", owner.target, states)
        return await _read_values(app, conn, owner, status)


async def find_effective(conn: Conn, domain_id: UUID, mailbox_id: UUID | None = None) -> EffectiveValues:
    """The settings in force for a mailbox of a domain, or (None) for the domain. Does not check a permission."""
    owner = FilterOwner("mailbox" if mailbox_id else "domain", "", domain_id, mailbox_id=mailbox_id)
    return rules.select_effective(await store.find_values(conn, owner))


async def _read_values(app: App, conn: Conn, owner: FilterOwner, status: TrainingStatus) -> OwnerValues:
    stored = await store.find_values(conn, owner)
    values = stored.get(owner.scope, FilterValues())
    defaults = await _find_defaults(app, conn)
    lessons = await training.count_lessons(app, conn, owner.mailbox_id) if owner.mailbox_id else None
    return OwnerValues(owner, values, rules.select_effective(stored), defaults, status, lessons)


async def read_server(app: App) -> tuple[OwnerValues, str]:
    """The settings of the server, and their entity tag: the number of the newest revision of all settings."""
    status = await training.read_status(app)
    async with app.db.autocommit() as conn:
        values = await _read_values(app, conn, SERVER, status)
        stored = await revisions.read(conn, app.vault, is_full_profile=app.settings.is_full_profile)
    own = replace(values.own, **dict.fromkeys(values.defaults))
    return replace(values, own=own), revisions.revision_tag(stored.n)


async def _find_defaults(app: App, conn: Conn) -> frozenset[str]:
    """Which of the server's values are not set anywhere: they are the defaults."""
    stored = await revisions.read(conn, app.vault, is_full_profile=app.settings.is_full_profile)
    sources = app.loaded.with_stored(revision_rules.select_effective(stored)).sources
    return frozenset(name for name, key in SERVER_SETTINGS.items() if sources[key] == "default")


# Entries


async def page(
    conn: Conn, who: Principal, ref: OwnerRef, filters: EntryFilter, page_request: PageRequest
) -> Page[StoredEntry]:
    """A page of the entries of the server, a domain or a mailbox. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    owner = await find_owner(conn, who, ref, "filter.read")
    pattern = like_pattern(filters.q.lower()) if filters.q else None
    return await store.page(conn, owner, replace(filters, q=pattern), page_request)


async def get(conn: Conn, entry_id: UUID) -> StoredEntry:
    """The entry with this ID; NOT_FOUND. Does not check a permission."""
    entry = await store.find_entry(conn, entry_id)
    if entry is None:
        raise NotFound
    return entry


async def create(conn: Conn, who: Principal, at: datetime, ref: OwnerRef, new: NewEntry) -> StoredEntry:
    """Add an entry. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; INVALID_FIELD; CONFLICT `exists`, `limit_reached`."""
    owner = await _lock_owner(conn, who, ref)
    rules.check_entry(new, owner, is_own=who.mailbox is not None)
    for existing in await store.find_entries(conn, owner, [new.value]):
        if existing.list == new.list:
            raise rules.already_exists(existing.id, new)
    if await store.count_entries(conn, owner) >= MAX_ENTRIES[owner.scope]:
        raise rules.limit_reached(owner)
    await store.insert_entries(conn, owner, at, who.label, [(entry_id := uuid7(at), new)])
    target = replace(owner.target, type="filter_entry", id=entry_id)
    await audit.record(conn, who, at, AuditAction("filter_entry.create", target, after=wire.audit_entry(new, owner)))
    return await get(conn, entry_id)


async def delete(conn: Conn, who: Principal, at: datetime, ref: OwnerRef, entry_id: UUID) -> StoredEntry:
    """Delete an entry. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    owner = await _lock_owner(conn, who, ref)
    entry = await store.find_entry(conn, entry_id, owner)
    if entry is None:
        raise NotFound
    await store.delete_entry(conn, entry_id)
    target = replace(owner.target, type="filter_entry", id=entry_id)
    before = wire.audit_entry(entry, owner)
    await audit.record(conn, who, at, AuditAction("filter_entry.delete", target, before=before))
    return entry


async def import_rows(
    conn: Conn, who: Principal, at: datetime, ref: OwnerRef, rows: Sequence[NewEntry | Refusal]
) -> list[UUID | Refusal]:
    """Add entries; returns the ID of each, also of those that existed, or why it was not added. NOT_FOUND, FORBIDDEN,
    API_KEY_DOMAIN_SCOPE.

    Refusals of a row: FORBIDDEN; INVALID_FIELD; CONFLICT `limit_reached`, or `exists` if the existing entry, also of
    an earlier row, is enforced and the row is not, or the reverse.
    """
    owner = await _lock_owner(conn, who, ref)
    values = [row.value for row in rows if isinstance(row, NewEntry)]
    # Those that exist, and those that earlier rows add: the ID, and whether it is enforced.
    known = {
        (each.list, each.value): (each.id, each.enforced) for each in await store.find_entries(conn, owner, values)
    }
    room = MAX_ENTRIES[owner.scope] - await store.count_entries(conn, owner)
    new: list[tuple[UUID, NewEntry]] = []
    results: list[UUID | Refusal] = []
    for row in rows:
        if isinstance(row, Refusal):
            results.append(row)
            continue
        key = (row.list, row.value)
        try:
            rules.check_entry(row, owner, is_own=who.mailbox is not None)
            if key not in known:
                if len(new) >= room:
                    raise rules.limit_reached(owner)
                known[key] = uuid7(at), row.enforced
                new.append((known[key][0], row))
            entry_id, is_enforced = known[key]
            if is_enforced != row.enforced:
                raise rules.already_exists(entry_id, row)
            results.append(entry_id)
        except Refusal as refusal:
            results.append(refusal.with_traceback(None))
    await store.insert_entries(conn, owner, at, who.label, new)
    failed = sum(isinstance(each, Refusal) for each in results)
    details = {"owner": owner.name, "rows": len(rows), "added": len(new), "failed": failed}
    await audit.record(conn, who, at, AuditAction("filter_entry.import", owner.target, details=details))
    return results


# Owners


def read_owner(call: Call) -> OwnerRef:
    """The owner that a call to one of the `FILTER_AREAS` is about; NOT_FOUND if its ID is malformed."""
    if call.endpoint.path.startswith("/domains/"):
        return OwnerRef("domain", call.id())
    return OwnerRef("server") if call.endpoint.path.startswith("/filtering") else OwnerRef("mailbox", mailbox_id(call))


async def find_owner(conn: Conn, who: Principal, ref: OwnerRef, action: str) -> FilterOwner:
    """The owner that a request names; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    match ref.scope:
        case "server":
            return SERVER
        case "domain":
            return _of_domain(await domains.get_by_path(conn, who, action, ref.get_id()))
        case "mailbox":
            return _of_mailbox(await mailboxes.get(conn, who, ref.get_id(), action))


async def _lock_owner(conn: Conn, who: Principal, ref: OwnerRef) -> FilterOwner:
    """The owner, locked until the transaction ends: one change after the other of its settings and lists. FORBIDDEN if
    an administrator of higher rank owns the mailbox.
    """
    match ref.scope:
        case "server":
            await store.lock_server(conn)
            return SERVER
        case "domain":
            return _of_domain(await domains.lock_by_path(conn, who, "filter.write", ref.get_id()))
        case "mailbox":
            return _of_mailbox(await mailboxes.get_for_credential_change(conn, who, ref.get_id()))


def _of_domain(domain: Domain) -> FilterOwner:
    return FilterOwner("domain", domain.name, domain.id, domain.name, created_at=domain.created_at)


def _of_mailbox(mailbox: Mailbox) -> FilterOwner:
    address = str(mailbox.address)
    return FilterOwner("mailbox", address, mailbox.domain_id, mailbox.domain_name, mailbox.id, mailbox.created_at)
