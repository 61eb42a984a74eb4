"""`mailkeep domain`: domains, and which of them are alias domains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.db.pool import Conn
    from mailkeep.features.directory.domains.model import Domain

_PAGE = 200

Name = Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain's name.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    domain = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Domains.")
    domain.command("list", epilog=examples("mailkeep domain list", "mailkeep domain list --json"))(list_domains)
    domain.command(
        "alias",
        epilog=examples("mailkeep domain alias example.net example.com", "mailkeep domain alias example.net --off"),
    )(set_alias)
    app.add_typer(domain, name="domain")


def list_domains(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List all domains by name, alias domains with their target."""
    run_command(as_json, _list(data_dir))


def set_alias(
    name: Name,
    target: Annotated[
        str | None, typer.Argument(metavar="[TARGET]", help="The domain whose mailboxes and aliases receive the mail.")
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Make it a domain with addresses of its own again.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a domain an alias domain: its addresses are routed as those of the target.

    It must have no mailboxes and no aliases. Its DNS records and DKIM keys stay its own.
    """
    if off == (target is not None):
        raise typer.BadParameter("Give either the target, or --off.")
    run_command(as_json, _set_alias(data_dir, name, target))


async def _list(data_dir: Path | None) -> CommandResult:
    from mailkeep.core.page import PageRequest
    from mailkeep.features.directory.domains import service
    from mailkeep.features.directory.domains.model import DomainFilter, DomainUsage

    found: list[tuple[Domain, DomainUsage]] = []
    after: Any = None
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        while True:
            page = await service.page(conn, DomainFilter(None), PageRequest(_PAGE, "name", "asc", after))
            found += page.rows
            after = page.next_key
            if after is None:
                break
    names = {domain.id: domain.name for domain, _ in found}
    data = [
        {
            "name": domain.name,
            "active": domain.active,
            "alias_of": names.get(domain.alias_of) if domain.alias_of else None,
            "mailboxes": usage.mailboxes,
            "aliases": usage.aliases,
            "id": domain.id,
        }
        for domain, usage in found
    ]
    rows = [
        [
            row["name"],
            "active" if row["active"] else "inactive",
            row["alias_of"] or "",
            row["mailboxes"],
            row["aliases"],
        ]
        for row in data
    ]
    return CommandResult({"domains": data}, table(["DOMAIN", "STATE", "ALIAS OF", "MAILBOXES", "ALIASES"], rows))


async def _set_alias(data_dir: Path | None, name: str, target: str | None) -> CommandResult:
    from mailkeep.features.directory.domains import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app, app.db.tx() as conn:
        domain = await _find(conn, name)
        target_domain = await _find(conn, target) if target is not None else None
        changes = {"alias_of": target_domain and target_domain.id}
        await service.change(app, conn, cli_principal(), domain.id, changes)
    data = {"name": domain.name, "alias_of": target_domain and target_domain.name}
    if target_domain is None:
        return CommandResult(data, [f"{domain.name} is not an alias domain any more."])
    return CommandResult(data, [f"Addresses in {domain.name} are routed as those in {target_domain.name}."])


async def _find(conn: Conn, name: str) -> Domain:
    from mailkeep.core.errors import DomainNotFound
    from mailkeep.features.directory.domains import rules, service

    domain = await service.find_by_name(conn, rules.parse_name(name))
    if domain is None:
        raise DomainNotFound(f"There is no domain {name}.")
    return domain
