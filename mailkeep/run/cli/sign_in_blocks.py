"""`mailkeep sign-in-blocks`: lists and removes blocks of sign-in protection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from datetime import datetime

    from mailkeep.db.pool import Conn
    from mailkeep.features.access.sign_in_protection.model import SignInBlock


def register(app: typer.Typer) -> None:
    """Add these commands."""
    blocks = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Sign-ins that are refused after many wrong passwords."
    )
    blocks.command("list", epilog=examples("mailkeep sign-in-blocks list"))(list_blocks)
    blocks.command(
        "remove",
        epilog=examples(
            "mailkeep sign-in-blocks remove 192.0.2.10", "mailkeep sign-in-blocks remove alice@example.com"
        ),
    )(remove)
    app.add_typer(blocks, name="sign-in-blocks")


def list_blocks(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List blocked addresses and accounts, the newest first."""
    run_command(as_json, _list(data_dir))


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The blocked address or account, or the block's ID.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove all blocks of an address or account, and forget the failures behind them."""
    run_command(as_json, _remove(data_dir, name))


async def _list(data_dir: Path | None) -> CommandResult:
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        data = [_to_json(block) for block in await _list_all(conn, app.clock())]
    rows = [
        [each["address"] or "unknown addresses", each["account"] or "all", each["failures"], each["until"], each["id"]]
        for each in data
    ]
    return CommandResult({"blocks": data}, table(["FROM", "ACCOUNT", "FAILURES", "UNTIL", "ID"], rows))


async def _remove(data_dir: Path | None, name: str) -> CommandResult:
    from mailkeep.core.errors import NotFound
    from mailkeep.features.access.sign_in_protection import rules, service

    async with open_app(data_dir) as app, app.db.tx() as conn:
        at = app.clock()
        blocks = [_to_json(block) for block in await _list_all(conn, at)]
        ids = [each["id"] for each in blocks if name.lower() in (each["address"], each["account"], str(each["id"]))]
        if not ids:
            raise NotFound(f"There is no sign-in block of {name}; `mailkeep sign-in-blocks list` shows all.")
        removed = [await service.remove(conn, cli_principal(), at, block_id) for block_id in ids]
    lines = [f"Sign-ins {rules.describe(block)} are possible again." for block in removed]
    return CommandResult({"removed": ids}, lines)


def _to_json(block: SignInBlock) -> dict[str, Any]:
    from mailkeep.core.clock import iso
    from mailkeep.features.access.sign_in_protection import rules

    return {
        "id": block.id,
        "address": block.source,
        "account": block.account and rules.address_of(block.account),
        "account_kind": block.account and rules.kind_of(block.account),
        "failures": block.failures,
        "created_at": iso(block.created_at),
        "until": iso(block.until),
    }


async def _list_all(conn: Conn, at: datetime) -> list[SignInBlock]:
    from mailkeep.core.page import PageRequest
    from mailkeep.features.access.sign_in_protection import service

    blocks: list[SignInBlock] = []
    after = None
    while True:
        page = await service.page(conn, at, PageRequest(200, "created_at", "desc", after))
        blocks += page.rows
        after = page.next_key
        if after is None:
            return blocks
