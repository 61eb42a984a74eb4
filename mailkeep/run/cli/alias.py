"""`mailkeep alias`: aliases with their status, and tables of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli import bulk
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.directory.aliases.model import Alias, AliasStatus

_PAGE = 200
_SHOWN = 3  # destinations of an alias in the table; with --json all


def register(app: typer.Typer) -> None:
    """Add these commands."""
    alias = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Aliases.")
    alias.command(
        "list",
        epilog=examples(
            "mailkeep alias list --domain example.com",
            "mailkeep alias list --search alice@example.com",
            "mailkeep alias list --problems",
        ),
    )(list_aliases)
    bulk.add_alias_commands(alias)
    app.add_typer(alias, name="alias")


def list_aliases(
    domain: bulk.DomainName = None,
    search: Annotated[
        str | None,
        typer.Option("--search", metavar="TEXT", help="Only those with this text in address or destinations."),
    ] = None,
    problems: Annotated[
        bool, typer.Option("--problems", help="Only those whose mail does not reach all destinations.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List aliases with their destinations, and why their mail does not arrive."""
    run_command(as_json, _list(data_dir, domain, search, problems=problems))


async def _list(data_dir: Path | None, domain: str | None, search: str | None, *, problems: bool) -> CommandResult:
    from mailkeep.features.directory.aliases import rules

    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        domain_id = await _find_domain(conn, domain) if domain is not None else None
        found = await _read_all(app, conn, domain_id, search)
    data: list[dict[str, Any]] = [
        {
            "address": f"{alias.source_local_part}@{name}",
            "destinations": list(alias.destinations),
            "active": alias.active,
            "state": status.state,
            "status": rules.status_text(status),
            "id": alias.id,
        }
        for alias, name, status in found
        if status.state != "ok" or not problems
    ]
    rows = [[each["address"], _shorten(each["destinations"]), each["status"] or "ok"] for each in data]
    return CommandResult({"aliases": data}, table(["ALIAS", "DESTINATIONS", "STATUS"], rows))


def _shorten(destinations: list[str]) -> str:
    more = f" and {len(destinations) - _SHOWN} more" if len(destinations) > _SHOWN else ""
    return ", ".join(destinations[:_SHOWN]) + more


async def _find_domain(conn: Conn, name: str) -> UUID:
    from mailkeep.core.errors import DomainNotFound
    from mailkeep.features.directory.domains import rules, service

    domain = await service.find_by_name(conn, rules.parse_name(name))
    if domain is None:
        raise DomainNotFound(f"There is no domain {name}.")
    return domain.id


async def _read_all(
    app: App, conn: Conn, domain_id: UUID | None, search: str | None
) -> list[tuple[Alias, str, AliasStatus]]:
    """The aliases by address, each with the name of its domain and its status."""
    from mailkeep.core.page import PageRequest
    from mailkeep.features.directory.aliases import service
    from mailkeep.features.directory.domains import service as domains
    from mailkeep.run.cli.accounts import cli_principal

    who = cli_principal()
    names: dict[UUID, str] = {}
    found: list[tuple[Alias, str, AliasStatus]] = []
    after: Any = None
    while True:
        page = await service.page(conn, who, domain_id, search, PageRequest(_PAGE, "source_local_part", "asc", after))
        statuses: dict[UUID, AliasStatus] = {}
        while missing := [alias for alias in page.rows if alias.id not in statuses]:
            statuses |= await service.find_statuses(conn, who, missing)
        for alias in page.rows:
            if alias.domain_id not in names:
                names[alias.domain_id] = (await domains.get(conn, who, "alias.list", alias.domain_id)).name
            found.append((alias, names[alias.domain_id], statuses[alias.id]))
        after = page.next_key
        if after is None:
            return found
