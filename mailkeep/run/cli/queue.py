"""`mailkeep queue`: lists the mail server's queue and acts on messages in it, through the process `node`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mailkeep.run.cli.output import (
    AsJson,
    CommandResult,
    DataDir,
    examples,
    open_instance,
    run_command,
    table,
)

if TYPE_CHECKING:
    from mailkeep.features.mailflow.queue.model import Action, QueueFilter

Ids = Annotated[list[str] | None, typer.Argument(metavar="[QUEUE_ID]...", help="Queue IDs of messages.")]
Recipient = Annotated[str | None, typer.Option("--recipient", help="Part of a recipient's address.")]
Sender = Annotated[str | None, typer.Option("--sender", help="Part of the sender's address.")]
Everything = Annotated[bool, typer.Option("--all", help="Every message.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count the messages, and change nothing.")]
QueueStateOption = Literal["incoming", "active", "deferred", "hold"]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    queue = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The mail server's queue (full profile).")
    queue.command(
        "list",
        epilog=examples("mailkeep queue list", "mailkeep queue list --state deferred --recipient @far.example"),
    )(list_queue)
    queue.command(
        "act",
        epilog=examples(
            "mailkeep queue act flush --all",
            "mailkeep queue act delete 4jWyZ55dznz1WHfX",
            "mailkeep queue act release --all",
        ),
    )(act)
    app.add_typer(queue, name="queue")


def list_queue(
    state: Annotated[QueueStateOption | None, typer.Option("--state", help="Only messages in this state.")] = None,
    recipient: Recipient = None,
    sender: Sender = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=200, help="Maximum number of messages, newest first.")
    ] = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List messages in the queue, with the last reason for each recipient."""
    from mailkeep.features.mailflow.queue.model import QueueFilter

    run_command(as_json, _list(data_dir, QueueFilter(state=state, recipient=recipient, sender=sender), limit))


def act(
    action: Annotated[Literal["flush", "hold", "release", "delete"], typer.Argument(help="What to do.")],
    ids: Ids = None,
    recipient: Recipient = None,
    sender: Sender = None,
    everything: Everything = False,
    dry_run: DryRun = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Flush, hold, release or delete messages: by queue ID, by address, or all.

    `release --all` also releases all else that a full restore holds, in both profiles: scheduled messages, webhook
    deliveries, mail of the server itself, mail that Sieve sends, and what local programs have submitted.
    """
    from mailkeep.features.mailflow.queue.model import QueueFilter

    if bool(ids) + bool(recipient or sender) + everything != 1:
        raise typer.BadParameter("Give queue IDs, --recipient or --sender, or --all.")
    filter_by = None if ids else QueueFilter(recipient=recipient, sender=sender)
    run_command(as_json, _act(data_dir, action, (ids or [], filter_by), dry_run))


async def _list(data_dir: Path | None, filter_by: QueueFilter, limit: int) -> CommandResult:
    from mailkeep.core.clock import iso, iso_or_none
    from mailkeep.core.page import PageRequest
    from mailkeep.features.mailflow.queue import service

    async with open_instance(data_dir, needs_full=True) as app:
        page = await service.page(app, filter_by, PageRequest(limit, "arrived_at", "desc", None))
    rows = [
        {
            "queue_id": message.queue_id,
            "state": message.state,
            "arrived_at": iso(message.arrived_at),
            "size": message.size,
            "sender": message.sender,
            "recipients": [{"address": each.address, "reason": each.reason} for each in message.recipients],
            "next_attempt_at": iso_or_none(message.next_attempt_at),
        }
        for message in page.rows
    ]
    lines = table(
        ["QUEUE ID", "STATE", "ARRIVED", "NEXT ATTEMPT", "SENDER", "RECIPIENT", "REASON"],
        [
            [
                message.queue_id,
                message.state,
                iso(message.arrived_at),
                iso_or_none(message.next_attempt_at) or "-",
                message.sender or "<>",
                recipient.address,
                recipient.reason[:80],
            ]
            for message in page.rows
            for recipient in message.recipients
        ],
    )
    more = ["There are more messages: use a filter, or raise --limit."] if page.next_key else []
    return CommandResult({"messages": rows, "more": page.next_key is not None}, [*lines, *more])


async def _act(
    data_dir: Path | None, action: Action, selection: tuple[list[str], QueueFilter | None], dry_run: bool
) -> CommandResult:
    from mailkeep.features.mailflow.queue import service
    from mailkeep.features.mailflow.queue.model import QueueSelection
    from mailkeep.run.cli.accounts import cli_principal

    chosen = QueueSelection(*selection)
    async with open_instance(data_dir, needs_full=not (action == "release" and chosen.is_all)) as app:
        affected = await service.act(app, cli_principal(), action, chosen, dry_run=dry_run)
    what, released = f"{affected.messages} messages", affected.release_counts
    data: dict[str, Any] = {"affected": affected.messages, "dry_run": dry_run}
    if any(released.values()):
        what += "".join(f", {count} {name.replace('_', ' ')}" for name, count in released.items() if count)
        data["released"] = released
    line = f"{action}: would apply to {what}." if dry_run else f"{action}: done for {what}."
    return CommandResult(data, [line])
