"""`mailkeep queue`: lists the mail server's queue and acts on messages in it, by the node agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mailkeep.run.cli.output import (
    AsJson,
    CommandResult,
    DataDir,
    examples,
    open_app,
    require_data_dir,
    run_command,
    table,
)

if TYPE_CHECKING:
    from mailkeep.app import App
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
        "act", epilog=examples("mailkeep queue act flush --all", "mailkeep queue act delete 4jWyZ55dznz1WHfX")
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
    """Flush, hold, release or delete messages: by id, by address, or all."""
    from mailkeep.features.mailflow.queue.model import QueueFilter

    if bool(ids) + bool(recipient or sender) + everything != 1:
        raise typer.BadParameter("Name queue IDs, an address to search for, or --all.")
    filter_by = None if ids else QueueFilter(recipient=recipient, sender=sender)
    run_command(as_json, _act(data_dir, action, (ids or [], filter_by), dry_run))


@asynccontextmanager
async def _open_queue(data_dir: Path | None) -> AsyncGenerator[App]:
    """The App in the mode of the running instance: the profile is an option of `up`, not a setting.

    Failure if none runs; permanent if it is the embedded profile.
    """
    from dataclasses import replace

    from mailkeep.core.errors import Failure
    from mailkeep.run.runtime import state
    from mailkeep.run.runtime.context import resolve_data_dir

    place = resolve_data_dir(data_dir)
    require_data_dir(place)
    running = state.read(place)
    if running is None:
        raise Failure(f"Mailkeep does not run on {place}: start it with `mailkeep up --profile full`.")
    if running.profile != "full":
        raise Failure(f"Mailkeep on {place} is the embedded profile, which has no queue.", permanent=True)
    async with open_app(place) as app:
        app.settings = replace(app.settings, mta=replace(app.settings.mta, mode="postfix"))
        yield app


async def _list(data_dir: Path | None, filter_by: QueueFilter, limit: int) -> CommandResult:
    from mailkeep.core.clock import iso, iso_or_none
    from mailkeep.core.page import PageRequest
    from mailkeep.features.mailflow.queue import service

    async with _open_queue(data_dir) as app:
        page = await service.page(app, filter_by, PageRequest(limit, "arrived_at", "desc", None))
    rows = [
        {
            "queue_id": each.queue_id,
            "state": each.state,
            "arrived_at": iso(each.arrived_at),
            "size": each.size,
            "sender": each.sender,
            "recipients": [{"address": one.address, "reason": one.reason} for one in each.recipients],
            "next_attempt_at": iso_or_none(each.next_attempt_at),
        }
        for each in page.rows
    ]
    lines = table(
        ["QUEUE ID", "STATE", "ARRIVED", "NEXT TRY", "SENDER", "RECIPIENT", "REASON"],
        [
            [
                each.queue_id,
                each.state,
                iso(each.arrived_at),
                iso_or_none(each.next_attempt_at) or "-",
                each.sender or "<>",
                one.address,
                one.reason[:80],
            ]
            for each in page.rows
            for one in each.recipients
        ],
    )
    more = ["There are more: use a filter, or raise --limit."] if page.next_key else []
    return CommandResult({"messages": rows, "more": page.next_key is not None}, [*lines, *more])


async def _act(
    data_dir: Path | None, action: Action, selection: tuple[list[str], QueueFilter | None], dry_run: bool
) -> CommandResult:
    from mailkeep.features.mailflow.queue import service
    from mailkeep.features.mailflow.queue.model import QueueSelection
    from mailkeep.run.cli.accounts import cli_principal

    async with _open_queue(data_dir) as app:
        affected = await service.act(app, cli_principal(), action, QueueSelection(*selection), dry_run=dry_run)
    line = f"{action}: would apply to {affected} messages." if dry_run else f"{action}: done for {affected} messages."
    return CommandResult({"affected": affected, "dry_run": dry_run}, [line])
