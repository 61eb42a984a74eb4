"""Restores a domain or a mailbox: first the copy of the database, from which missing objects return; then mail.

Missing mailboxes get their mail before their row, so that nothing is delivered to a mailbox that is half restored.
Interrupted, it has added a part; performed again, it adds the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import psycopg

from mailkeep.app import App
from mailkeep.backup.layout import DATABASE, MAIL
from mailkeep.backup.mail_snapshot import Stop
from mailkeep.backup.restored_tree import remove_tree
from mailkeep.backup.scratch_server import serve_copy
from mailkeep.backup.stage import Report, run_in_thread
from mailkeep.core import failpoint
from mailkeep.core.errors import Conflict, Failure, Refusal
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import mail_folder, mail_root
from mailkeep.features.operations.backups import verification
from mailkeep.features.operations.backups.model import Backup, BackupOperation, Handler, OperationKind
from mailkeep.features.operations.restores import store
from mailkeep.features.operations.restores.model import RestoreArgument, RestoredMailbox, RestoreResult
from mailkeep.features.operations.restores.store import RestoredTable, Rows
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.mail.mailbox.restored_mail import MailCounts, RestoredHome, add_missing, confine, put_back

_BATCH = 100  # mailboxes whose mail is restored to the temporary folder at once


async def restore(app: App, operation: BackupOperation, report: Report) -> Mapping[str, Any]:
    """Restore what the argument of the operation names from its backup. Failure if the backup does not have it, or an
    object that it belongs to is missing.
    """
    try:
        argument = msgspec.convert(dict(operation.argument), RestoreArgument)
    except msgspec.ValidationError as error:
        raise Failure(f"The request is not valid: {error}.", permanent=True) from None
    wanted = (argument.domain_id, argument.mailbox_id)
    if wanted[argument.scope == "mailbox"] is None or wanted[argument.scope == "domain"] is not None:
        raise Failure(f"A restore of a {argument.scope} needs its ID, and no other.", permanent=True)
    backup = await verification.find_backup(app, operation)
    folder = "" if argument.into == "in_place" else f"Restored {backup.created_at:%Y-%m-%d}"
    who = Principal(operation.author_id, operation.author, Role.SUPER_ADMIN, ActorType.SYSTEM)
    run = _Restore(app, who, backup, argument, RestoreResult(argument.dry_run, folder), report)
    async with verification.scratch(app) as place:
        try:
            await run.perform(place)
        except BaseException:
            await run.record(is_complete=False)
            raise
        await run.record(is_complete=True)
    return run.result.to_json()


@dataclass(slots=True)
class _Found:
    """What the copy has of a domain or mailbox. Rows by table."""

    domain_id: UUID
    domain_name: str
    domain: Rows
    mailboxes: list[RestoredMailbox] = field(default_factory=list[RestoredMailbox])
    mailbox_rows: dict[UUID, Rows] = field(default_factory=dict[UUID, Rows])
    of_mailboxes: dict[str, Rows] = field(default_factory=dict[str, Rows])
    of_domain: list[tuple[RestoredTable, Rows]] = field(default_factory=list[tuple[RestoredTable, Rows]])
    aliases: Rows = ()


@dataclass(slots=True)
class _Restore:
    """A restore in progress. `target`: the domain or mailbox in the audit log, once something may have changed."""

    app: App
    who: Principal
    backup: Backup
    argument: RestoreArgument
    result: RestoreResult
    report: Report
    target: AuditTarget | None = None

    async def perform(self, place: Path) -> None:
        """Restore, with a temporary folder."""

        async def report_restored(done: int) -> None:
            await self.report("restoring", done, 0)

        await self.report("restoring", 0, 0)
        folder, _ = await verification.restore(self.app, self.backup, place / DATABASE, report_restored, DATABASE)
        await self.report("database", 0, 0)
        async with serve_copy(folder / DATABASE, self.app.data_dir) as db, db.tx() as copy:
            found = await self._read(copy)
        failpoint.reach("restores.read")
        await self._restore_directory(found)
        failpoint.reach("restores.directory")
        for start in range(0, len(found.mailboxes), _BATCH):
            await self._restore_batch(found, found.mailboxes[start : start + _BATCH], place / f"{MAIL}-{start}")

    async def record(self, *, is_complete: bool) -> None:
        """Write the audit entry, also if only a part was done."""
        if self.argument.dry_run or self.target is None:
            return
        summary = {name: value for name, value in self.result.to_json().items() if name not in ("details", "dry_run")}
        details = {"backup_id": str(self.backup.id), "complete": is_complete, **summary}
        action = AuditAction(f"{self.argument.scope}.restore_from_backup", self.target, details=details)
        async with self.app.db.tx() as conn:
            await audit.record(conn, self.who, self.app.clock(), action)

    async def _read(self, copy: Conn) -> _Found:
        argument = self.argument
        try:
            await copy.execute("SET LOCAL statement_timeout = '10min'")
            rows = await store.list_mailboxes(copy, argument.domain_id, argument.mailbox_id)
            if argument.mailbox_id and not rows:
                if await store.find_mailbox(copy, argument.mailbox_id):
                    raise Failure(
                        "This mailbox was in the trash when the backup was made: restore it from an earlier one, or "
                        "from the trash.",
                        permanent=True,
                    )
                raise Failure("The backup does not have this mailbox.", permanent=True)
            domain_id = argument.domain_id or rows[0]["domain_id"]
            domain = await store.read_rows(copy, store.DOMAIN, [domain_id])
            if not domain:
                raise Failure("The backup does not have this domain.", permanent=True)
            ids = [row["id"] for row in rows]
            found = _Found(domain_id, str(domain[0]["name"]), domain)
            found.mailboxes = [RestoredMailbox(row["id"], str(row["address_key"])) for row in rows]
            found.mailbox_rows = {UUID(row["id"]): [row] for row in await store.read_rows(copy, store.MAILBOX, ids)}
            found.of_mailboxes = {table.name: await store.read_rows(copy, table, ids) for table in store.OF_MAILBOX}
            if argument.scope == "domain":
                found.of_domain = [
                    (table, await store.read_rows(copy, table, [domain_id])) for table in store.OF_DOMAIN
                ]
                templates = [
                    UUID(row["id"]) for table, rows in found.of_domain if table.name == "templates" for row in rows
                ]
                found.of_domain.append(
                    (store.TEMPLATE_VERSIONS, await store.read_rows(copy, store.TEMPLATE_VERSIONS, templates))
                )
                found.aliases = await store.read_rows(copy, store.ALIASES, [domain_id])
        except (psycopg.Error, ValueError, KeyError) as error:
            raise Failure(
                f"The copy of the database can't be read ({type(error).__name__}). Restore the whole backup in another "
                "data directory (`mailkeep restore`).",
                permanent=True,
            ) from error
        return found

    async def _restore_directory(self, found: _Found) -> None:
        """Return the domain, with what belongs to it, and aliases."""
        scope, app = self.argument.scope, self.app
        try:
            async with app.db.tx() as conn, conn.transaction(force_rollback=self.argument.dry_run):
                await store.lock_routes(conn)
                is_missing = await domains.lock(conn, found.domain_id) is None
                if is_missing and scope == "mailbox":
                    raise Failure(
                        f"The domain {found.domain_name} no longer exists here. Restore the domain first.",
                        permanent=True,
                    )
                if is_missing and not await self._insert(conn, store.DOMAIN, found.domain):
                    raise Failure(
                        f"Another domain with the name {found.domain_name} was created meanwhile. Delete or rename it "
                        "first.",
                        permanent=True,
                    )
                for table, rows in found.of_domain if is_missing else ():
                    await self._insert(conn, table, rows)
                await self._insert_aliases(conn, found)
        except psycopg.IntegrityError as error:
            raise Failure(
                f"The domain {found.domain_name} can't return: something that it belongs to is missing "
                f"({error.diag.constraint_name or type(error).__name__}).",
                permanent=True,
            ) from error
        only = found.mailboxes[0].id if scope == "mailbox" else found.domain_id
        self.target = AuditTarget(scope, only, found.domain_id, found.domain_name)

    async def _insert_aliases(self, conn: Conn, found: _Found) -> None:
        """Insert the aliases, except those that lead back to themselves by what was created after the backup."""
        present = await store.list_aliases(conn, found.domain_id)
        if await self._insert(conn, store.ALIASES, found.aliases):
            inserted = await store.list_aliases(conn, found.domain_id) - present
            self.result.objects[store.ALIASES.name] -= await store.remove_loops(conn, inserted)

    async def _insert(self, conn: Conn, table: RestoredTable, rows: Rows) -> int:
        inserted = await store.insert_rows(conn, table, rows)
        if inserted:
            self.result.objects[table.name] = self.result.objects.get(table.name, 0) + inserted
        return inserted

    async def _restore_batch(self, found: _Found, batch: Sequence[RestoredMailbox], place: Path) -> None:
        async def report_restored(done: int) -> None:
            await self.report("restoring", done, 0)

        paths = [f"{MAIL}/{mailbox.id}" for mailbox in batch]
        folder, _ = await verification.restore(self.app, self.backup, place, report_restored, *paths)
        for mailbox in batch:
            await self.report("mail", len(self.result.mailboxes), len(found.mailboxes))
            self.result.mailboxes.append(mailbox)
            try:
                await self._restore_mailbox(found, mailbox, folder / MAIL / str(mailbox.id))
            except Refusal as refusal:
                mailbox.state, mailbox.problem = "skipped", refusal.message
            except FileNotFoundError:
                mailbox.state, mailbox.problem = "skipped", "The mailbox was deleted meanwhile."
            except PermissionError:
                mailbox.state, mailbox.problem = "skipped", "A file or folder in it is not the mailbox's own."
            except OSError as error:
                raise Failure(f"The mail of {mailbox.address} could not be written: {error}") from error
        await asyncio.to_thread(remove_tree, place)

    async def _restore_mailbox(self, found: _Found, mailbox: RestoredMailbox, copy: Path) -> None:
        app, dry_run = self.app, self.argument.dry_run
        async with app.db.tx() as conn:
            row = await store.find_mailbox(conn, mailbox.id)
            is_taken = row is None and await store.is_address_taken(conn, mailbox.address)
            if row is None and not is_taken and not dry_run:
                await store.keep_home(conn, mailbox.id)
        if is_taken:
            raise Conflict(f"{mailbox.address} belongs to another mailbox now.")
        if row is None or row["deleted_at"] is not None:
            mailbox.state = "returned"
        if row is not None and row["deleted_at"] is not None and not dry_run:
            await mailboxes.restore(app, self.who, mailbox.id)
        into = "" if row is None else self.result.folder
        mailbox.mail = await self._put_mail(mailbox.id, copy, into)
        failpoint.reach("restores.mail_written")
        if dry_run:
            return
        try:
            async with app.db.tx() as conn:
                if row is None:
                    await store.lock_routes(conn)
                    await self._return_mailbox(conn, found, mailbox)
                await mailboxes.add_mail(conn, mailbox.id, mailbox.mail.bytes, mailbox.mail.messages)
                await store.request_count(conn, mailbox.id, app.clock())
        except Conflict:  # its address was taken while its mail was written
            async with app.db.tx() as conn:
                await store.remove_home(conn, mailbox.id)
            mailbox.mail = MailCounts()
            raise

    async def _return_mailbox(self, conn: Conn, found: _Found, mailbox: RestoredMailbox) -> None:
        """Insert the row of a deleted mailbox, without credentials, and what belongs to it. Needs `lock_routes`."""
        if not await self._insert(conn, store.MAILBOX, found.mailbox_rows.get(mailbox.id, ())):
            raise Conflict(f"{mailbox.address} belongs to another mailbox now.")
        if await store.remove_looping_forwards(conn, mailbox.id):
            mailbox.problem = "Its forwards now lead back to it, and were left out."
        for table in store.OF_MAILBOX:
            rows = [row for row in found.of_mailboxes[table.name] if row["mailbox_id"] == str(mailbox.id)]
            await self._insert(conn, table, rows)

    async def _put_mail(self, mailbox_id: UUID, copy: Path, into: str) -> MailCounts:
        """Put mail back: the whole home if there is none, else what is missing in it."""
        home, dry_run = mail_folder(self.app.data_dir, mailbox_id), self.argument.dry_run
        if not copy.is_dir():
            return MailCounts()
        root = mail_root(self.app.data_dir)
        await asyncio.to_thread(root.mkdir, 0o700, exist_ok=True)

        def work(stop: Stop) -> MailCounts:
            owner = home.lstat() if home.exists() else root.stat()
            restored = RestoredHome(copy, home, (owner.st_uid, owner.st_gid), stop.check)
            try:
                return confine(restored, lambda: put_back(restored, dry_run=dry_run))
            except FileExistsError:
                return confine(restored, lambda: add_missing(restored, into, dry_run=dry_run))

        return await run_in_thread(work)


HANDLERS: Mapping[OperationKind, Handler] = {"restore": restore}
"""For the process `backup`."""
