"""`mailkeep junk`: lists what the filter filed in Junk or refused for a mailbox, and releases messages to the inbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mailkeep.run.cli.folders import MailboxAddress, find_mailbox
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_instance, run_command, table


def register(app: typer.Typer) -> None:
    """Add these commands."""
    junk = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Mail in Junk, and mail that was refused.")
    junk.command(
        "list",
        epilog=examples(
            "mailkeep junk list alice@example.com", "mailkeep junk list alice@example.com --result refused"
        ),
    )(list_junk)
    junk.command(
        "release",
        epilog=examples("mailkeep junk release alice@example.com 0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37 --allow"),
    )(release)
    app.add_typer(junk, name="junk")


def list_junk(
    address: MailboxAddress,
    result: Annotated[
        Literal["junk", "refused"] | None, typer.Option("--result", help="Only mail in Junk, or only refused mail.")
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=90, help="Of the last days.")] = 30,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=200, help="Maximum number of messages, newest first.")
    ] = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List what the filter filed in Junk or refused, with the rule that decided.

    WHY is that rule, and its scope. RELEASE says whether the message is still in the folder Junk.
    """
    run_command(as_json, _list(data_dir, address, result, days, limit))


def release(
    address: MailboxAddress,
    message_id: Annotated[str, typer.Argument(metavar="ID", help="The ID of the message.")],
    allow: Annotated[bool, typer.Option("--allow", help="Also add its author to the mailbox's allow list.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Move a message from Junk to the inbox, and teach the filter that it is not spam."""
    run_command(as_json, _release(data_dir, address, message_id, allow))


async def _list(
    data_dir: Path | None, address: str, result: Literal["junk", "refused"] | None, days: int, limit: int
) -> CommandResult:
    from datetime import timedelta

    from mailkeep.core.clock import iso
    from mailkeep.core.page import PageRequest
    from mailkeep.features.mailflow.junk import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        mailbox_id, since = await find_mailbox(app, address), app.clock() - timedelta(days=days)
        request = PageRequest(limit, "created_at", "desc", None)
        page = await service.page(app, cli_principal(), mailbox_id, result, since, request)
    rows = [
        {
            "id": str(each.message.id),
            "at": iso(each.message.created_at),
            "result": "refused" if each.message.status == "rejected" else "junk",
            "from": each.message.from_address,
            "subject": each.message.subject,
            "score": each.message.spam_score,
            "decided_by": each.message.spam_decided_by,
            "can_release": each.can_release,
        }
        for each in page.rows
    ]
    lines = table(
        ["ID", "AT", "RESULT", "WHY", "SCORE", "RELEASE", "FROM", "SUBJECT"],
        [
            [
                row["id"],
                row["at"],
                row["result"],
                _why(each.message.spam_decided_by),
                "-" if each.message.spam_score is None else f"{each.message.spam_score:.1f}",
                "yes" if each.can_release else "no",
                each.message.from_address or "-",
                each.message.subject[:60],
            ]
            for row, each in zip(rows, page.rows, strict=True)
        ],
    )
    more = ["There are more messages: use --result, or raise --limit."] if page.next_key else []
    return CommandResult({"address": address, "messages": rows, "more": page.next_key is not None}, [*lines, *more])


def _why(decided_by: Mapping[str, Any] | None) -> str:
    """The rule that decided and its scope, such as `deny_entry (domain)`."""
    return f"{decided_by['rule']} ({decided_by['scope']})" if decided_by else "-"


async def _release(data_dir: Path | None, address: str, message_id: str, allow: bool) -> CommandResult:
    from mailkeep.core.errors import Failure
    from mailkeep.core.ids import parse_uuid
    from mailkeep.features.mailflow.junk import service
    from mailkeep.run.cli.accounts import cli_principal

    if (parsed := parse_uuid(message_id)) is None:
        raise Failure(f"{message_id} is not the ID of a message: see mailkeep junk list.", permanent=True)
    async with open_instance(data_dir) as app:
        released = await service.release(app, cli_principal(), await find_mailbox(app, address), parsed, allow=allow)
    data = {
        "id": message_id,
        "allow_entry_id": released.allow_entry_id and str(released.allow_entry_id),
        "warnings": list(released.warnings),
    }
    added = ["Its author is on the mailbox's allow list."] if released.allow_entry_id else []
    return CommandResult(data, [f"The message is in the inbox of {address}.", *added, *released.warnings])
