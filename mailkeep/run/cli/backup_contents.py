"""`mailkeep backup contents` and `restore`: what a backup has of a domain or mailbox, and bring it back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.backup_operations import (
    BackupId,
    Wait,
    find_backup,
    finish,
    format_size,
    to_result,
    wait_for_end,
)
from mailkeep.run.cli.output import (
    AsJson,
    CommandResult,
    DataDir,
    Line,
    examples,
    open_app,
    open_instance,
    print_lines,
    run_command,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.backup.contents import ContentsEntry
    from mailkeep.features.operations.backups.model import Backup, RestoreRequest


def add_commands(backup: typer.Typer) -> None:
    """Add these commands to `mailkeep backup`."""
    backup.command(
        "contents",
        epilog=examples(
            "mailkeep backup contents",
            "mailkeep backup contents --domain example.com",
            "mailkeep backup contents --message-id '<report@example.com>'",
        ),
    )(contents)
    backup.command(
        "restore",
        epilog=examples(
            "mailkeep backup restore --mailbox alice@example.com --dry-run",
            "mailkeep backup restore --mailbox alice@example.com --wait",
            "mailkeep backup restore 01234567-89ab-7def-8123-456789abcdef --domain example.com --in-place",
        ),
    )(restore)


def contents(
    backup: BackupId = None,
    domain: Annotated[str | None, typer.Option(metavar="DOMAIN", help="List the mailboxes of this domain.")] = None,
    mailbox: Annotated[str | None, typer.Option(metavar="ADDRESS", help="List the folders of this mailbox.")] = None,
    message_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Find messages by their Message-ID, in all or in this place.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List what a backup contains: domains, mailboxes, folders, or messages by Message-ID."""
    if domain and mailbox:
        raise typer.BadParameter("Give --domain or --mailbox.")
    run_command(as_json, _contents(data_dir, backup, domain, mailbox, message_id))


def restore(
    backup: BackupId = None,
    domain: Annotated[str | None, typer.Option(metavar="DOMAIN", help="Restore this domain.")] = None,
    mailbox: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Restore this mailbox.")] = None,
    in_place: Annotated[
        bool,
        typer.Option(
            "--in-place",
            help="Add what is missing to the folders it was in. Without it, messages go to a new folder `Restored …`.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be restored.")] = False,
    wait: Wait = False,
    yes: Annotated[bool, typer.Option("--yes", help="Restore without a question.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Restore a domain or a mailbox from a backup into this instance.

    Counts what it would do and asks, unless `--yes` is given; without a terminal it must be given. Messages that are
    newer than the backup stay, and so do today's passwords and suspensions. A whole instance: `mailkeep restore`.
    """
    if (domain is None) == (mailbox is None):
        raise typer.BadParameter("Give --domain or --mailbox.")
    if not (yes or dry_run or sys.stdin.isatty()):
        raise typer.BadParameter("there is no terminal to ask on, so --yes must be given. --dry-run counts.")
    run_command(as_json, _restore(data_dir, backup, (domain, mailbox), in_place, dry_run, wait, yes))


async def _contents(
    data_dir: Path | None, text: str | None, domain: str | None, mailbox: str | None, message_id: str | None
) -> CommandResult:
    from dataclasses import replace

    from msgspec import to_builtins

    from mailkeep.backup.contents import ContentsQuery
    from mailkeep.features.operations.backup_contents import service as backup_contents

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            backup = await find_backup(conn, text)
        # A log or a copied header may have it without its brackets.
        query = ContentsQuery(message_id=f"<{message_id.strip(' <>')}>" if message_id else None)
        if domain or mailbox:
            found = await _find_entry(app, backup, domain, mailbox)
            query = (
                replace(query, mailbox_id=str(found.mailbox_id))
                if mailbox
                else replace(query, domain_id=str(found.domain_id))
            )
        entries = await backup_contents.list_all(app, backup.id, query)
    rows = [
        [
            each.name,
            each.folder or "",
            *("" if count is None else count for count in (each.mailboxes, each.messages)),
            format_size(each.size_bytes),
        ]
        for each in entries
    ]
    nothing = "No message with this Message-ID is there." if message_id else "The backup has nothing there."
    lines = table(["NAME", "FOLDER", "MAILBOXES", "MESSAGES", "SIZE"], rows) if rows else [nothing]
    return CommandResult({"backup_id": backup.id, "contents": [to_builtins(each) for each in entries]}, lines)


async def _restore(
    data_dir: Path | None,
    text: str | None,
    names: tuple[str | None, str | None],
    in_place: bool,
    dry_run: bool,
    wait: bool,
    yes: bool,
) -> CommandResult:
    from dataclasses import replace

    from mailkeep.core.clock import iso
    from mailkeep.features.operations.backups.model import RestoreRequest

    domain, mailbox = names
    async with open_instance(data_dir) as app:
        async with app.db.autocommit() as conn:
            backup = await find_backup(conn, text)
        found = await _find_entry(app, backup, domain, mailbox)
        source = f"{found.name} from the backup of {iso(backup.created_at)[:19]}Z"
        request = RestoreRequest(
            scope="mailbox" if mailbox else "domain",
            domain_id=None if mailbox else found.domain_id,
            mailbox_id=found.mailbox_id,
            into="in_place" if in_place else "folder",
            dry_run=True,
        )
        if dry_run or not yes:
            counted = await wait_for_end(app, await _request(app, backup.id, request))
            lines = describe_restore(counted.result or {}, "Would restore")
            if dry_run or counted.state != "succeeded":
                return to_result(counted, lines)
            print_lines(lines, sys.stderr)
            typer.confirm(f"Restore {source}?", abort=True, err=True)
        operation = await _request(app, backup.id, replace(request, dry_run=False, is_confirmed=True))
        if not wait:
            return await finish(app, operation, f"Restoring {source}.", wait=False)
        ended = await wait_for_end(app, operation)
        return to_result(ended, describe_restore(ended.result or {}, "Restored"))


async def _request(app: App, backup_id: UUID, request: RestoreRequest) -> Any:
    from mailkeep.features.operations.backups import service

    async with app.db.tx() as conn:
        return await service.request_restore(conn, app, cli_principal(), backup_id, request)


async def _find_entry(app: App, backup: Backup, domain: str | None, mailbox: str | None) -> ContentsEntry:
    """A domain or a mailbox of the backup, by its name. Failure; NOT_FOUND if the backup does not have it."""
    from mailkeep.backup.contents import ContentsQuery
    from mailkeep.core.address import AddressError, fold_local, normalize_domain, parse_address
    from mailkeep.core.clock import iso
    from mailkeep.core.errors import Failure, NotFound
    from mailkeep.features.operations.backup_contents import service as backup_contents

    text = mailbox or domain or ""
    try:
        address = parse_address(text) if mailbox else None
        name = address.domain if address else normalize_domain(text)
    except AddressError as error:
        raise Failure(f"{text}: {error.reason}", permanent=True) from None
    of_backup = f"The backup {backup.id} of {iso(backup.created_at)[:19]}Z"
    domains = await backup_contents.list_all(app, backup.id, ContentsQuery())
    found = next((each for each in domains if each.name == name), None)
    if found is None:
        raise NotFound(f"{of_backup} does not have the domain {name}.")
    if address is None:
        return found
    mailboxes = await backup_contents.list_all(app, backup.id, ContentsQuery(domain_id=str(found.domain_id)))
    local = fold_local(address.local_part)
    same = [each for each in mailboxes if fold_local(each.name.rpartition("@")[0]) == local]
    if not same:
        raise NotFound(f"{of_backup} does not have the mailbox {text}.")
    return max(same, key=lambda each: str(each.mailbox_id))  # older ones with this address are in the trash


def describe_restore(result: Mapping[str, Any], verb: str) -> list[Line]:
    """What a restore did or would do, from the result of its operation."""
    messages, mailboxes = result.get("messages", {}), result.get("mailboxes", {})
    folder = result.get("folder")
    into = f"into the folder “{folder}”" if folder else "into the folders they were in"
    lines: list[Line] = [
        f"{verb} {messages.get('restored', 0):,} messages ({format_size(result.get('bytes', 0))}) {into}.",
        f"{messages.get('present', 0):,} are there already; {messages.get('newer', 0):,} newer ones stay.",
    ]
    if returned := mailboxes.get("returned"):
        lines.append(f"Mailboxes that come back, with the folders they had and without a password: {returned:,}.")
    if skipped := mailboxes.get("skipped"):
        lines.append(f"Mailboxes that are skipped: {skipped:,}.")
    lines += [f"  {each['address']}: {each['problem']}" for each in result.get("details", ()) if each["problem"]]
    return lines
