"""`mailkeep mailbox folders` and `recalculate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_instance, run_command, table

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App

MailboxAddress = Annotated[str, typer.Argument(metavar="ADDRESS", help="The address of the mailbox.")]


def add_commands(mailbox: typer.Typer) -> None:
    """Add these commands to `mailkeep mailbox`."""
    mailbox.command("folders", epilog=examples("mailkeep mailbox folders ann@example.com"))(list_folders)
    mailbox.command("recalculate", epilog=examples("mailkeep mailbox recalculate ann@example.com"))(recalculate)


def list_folders(address: MailboxAddress, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the folders of a mailbox, with the number of messages and their size.

    In the full profile the mailbox must be active.
    """
    run_command(as_json, _list(data_dir, address))


def recalculate(address: MailboxAddress, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Count all messages of a mailbox again, for the case that its usage seems wrong."""
    run_command(as_json, _recalculate(data_dir, address))


async def _list(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.directory.mailbox_usage import folders
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        found = await folders.list_folders(app, cli_principal(), await find_mailbox(app, address))
    rows = [{"name": each.name, "messages": each.messages, "unseen": each.unseen, "bytes": each.size} for each in found]
    lines = table(["FOLDER", "MESSAGES", "UNSEEN", "BYTES"], [list(row.values()) for row in rows])
    return CommandResult({"address": address, "folders": rows}, lines)


async def _recalculate(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.directory.mailbox_usage import folders
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        usage = await folders.recalculate(app, cli_principal(), await find_mailbox(app, address))
    data = {"address": address, "used_bytes": usage.used_bytes, "message_count": usage.message_count}
    return CommandResult(data, [f"{address}: {usage.message_count:,} messages, {usage.used_bytes:,} bytes."])


async def find_mailbox(app: App, address: str) -> UUID:
    """The ID of the mailbox with this address. Raises Failure."""
    from mailkeep.core.address import AddressError, parse_address
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.mailboxes import service as mailboxes

    try:
        key = parse_address(address).key
    except AddressError as error:
        raise Failure(f"{address}: {error.reason}", permanent=True) from None
    async with app.db.autocommit() as conn:
        mailbox = await mailboxes.find_by_address(conn, key)
    if mailbox is None:
        raise Failure(f"There is no mailbox {address}.", permanent=True)
    return mailbox.id
