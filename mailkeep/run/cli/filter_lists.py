"""`mailkeep filter entries|add|remove|import`: allow and deny lists of the server, a domain or a mailbox."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from mailkeep.run.cli.output import REFUSED, AsJson, CommandResult, DataDir, Line, examples, run_command, table

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.mailflow.filtering.model import EntryFilter, NewEntry, OwnerRef, StoredEntry

_PAGE = 200
_SHOWN_ERRORS = 20

DomainName = Annotated[
    str | None, typer.Option("--domain", metavar="NAME", help="Of this domain. Default: of the server.")
]
MailboxAddress = Annotated[str | None, typer.Option("--mailbox", metavar="ADDRESS", help="Of this mailbox.")]
ListOption = Annotated[Literal["allow", "deny"] | None, typer.Option("--list", help="Only this list.")]


def add_commands(group: typer.Typer) -> None:
    """Add these commands to `mailkeep filter`."""
    add = group.command
    add("entries", epilog=examples("mailkeep filter entries --domain example.com --list deny"))(list_entries)
    add(
        "add",
        epilog=examples(
            "mailkeep filter add deny bad.example --enforced --comment Phishing",
            "mailkeep filter add allow ann@partner.example --mailbox alice@example.com",
            "mailkeep filter add allow 192.0.2.0/24 --domain example.com",
        ),
    )(add_entry)
    add("remove", epilog=examples("mailkeep filter remove bad.example --domain example.com"))(remove)
    add("import", epilog=examples("mailkeep filter import lists.csv --domain example.com"))(import_table)


def list_entries(
    domain: DomainName = None,
    mailbox: MailboxAddress = None,
    list_name: ListOption = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="Only those with this text in value or comment.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the entries of the allow and deny lists, the newest first."""
    run_command(as_json, _entries(Owner(data_dir, domain, mailbox), list_name, search))


def add_entry(
    list_name: Annotated[Literal["allow", "deny"], typer.Argument(metavar="allow|deny", help="The list.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="An address, a domain, or an IP address or network.")],
    domain: DomainName = None,
    mailbox: MailboxAddress = None,
    enforced: Annotated[
        bool, typer.Option("--enforced", help="Narrower scopes can't override it (deny, not of a mailbox).")
    ] = False,
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add an entry to a list. A domain includes its sub-domains.

    An allow entry for an address or a domain applies only if SPF, DKIM or DMARC prove the author or sender.
    """
    body = {"list": list_name, "kind": _kind_of(value), "value": value, "enforced": enforced, "comment": comment}
    run_command(as_json, _add(Owner(data_dir, domain, mailbox), body))


def remove(
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value of the entry, or its ID.")],
    domain: DomainName = None,
    mailbox: MailboxAddress = None,
    list_name: ListOption = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove the entries with a value, or one by its ID."""
    run_command(as_json, _remove(Owner(data_dir, domain, mailbox), value, list_name))


def import_table(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV: list,kind,value,comment,enforced; -: standard input.")
    ],
    domain: DomainName = None,
    mailbox: MailboxAddress = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add the entries of a table. Those that exist do not change.

    Faulty rows are listed, and do not affect the others; the exit code is then 1.
    """
    run_command(as_json, _import(Owner(data_dir, domain, mailbox), file))


def _kind_of(value: str) -> str:
    from ipaddress import ip_network

    if "@" in value:
        return "address"
    try:
        ip_network(value, strict=False)
    except ValueError:
        return "domain"
    return "network"


class Owner(NamedTuple):
    """What the options name."""

    data_dir: Path | None
    domain: str | None
    mailbox: str | None


@asynccontextmanager
async def open_owner(owner: Owner) -> AsyncGenerator[tuple[App, OwnerRef]]:
    """The App, and the owner that the options name."""
    from mailkeep.run.cli.config import open_settings

    if owner.domain is not None and owner.mailbox is not None:
        raise typer.BadParameter("--domain and --mailbox can't be given together.")
    async with open_settings(owner.data_dir) as (app, _):
        async with app.db.autocommit() as conn:
            ref = await _find(conn, owner)
        yield app, ref


async def _find(conn: Conn, owner: Owner) -> OwnerRef:
    from mailkeep.core.errors import DomainNotFound
    from mailkeep.features.directory.domains import rules, service as domains
    from mailkeep.features.mailflow.filtering.model import OwnerRef
    from mailkeep.run.cli.mailbox import find_mailbox

    if owner.mailbox is not None:
        return OwnerRef("mailbox", (await find_mailbox(conn, owner.mailbox)).id)
    if owner.domain is None:
        return OwnerRef("server")
    found = await domains.find_by_name(conn, rules.parse_name(owner.domain))
    if found is None:
        raise DomainNotFound(f"There is no domain {owner.domain}.")
    return OwnerRef("domain", found.id)


async def _entries(owner: Owner, list_name: Any, search: str | None) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.features.mailflow.filtering.model import EntryFilter

    async with open_owner(owner) as (app, ref), app.db.autocommit() as conn:
        entries = await _list_all(conn, ref, EntryFilter(list=list_name, q=search))
    rows = [
        [each.list + (" (enforced)" if each.enforced else ""), each.kind, each.value, each.hits, each.comment]
        for each in entries
    ]
    return CommandResult({"entries": to_builtins(entries)}, table(["LIST", "KIND", "VALUE", "HITS", "COMMENT"], rows))


async def _list_all(conn: Conn, ref: OwnerRef, filters: EntryFilter) -> list[StoredEntry]:
    from mailkeep.core.page import PageRequest
    from mailkeep.features.mailflow.filtering import service
    from mailkeep.run.cli.accounts import cli_principal

    found: list[StoredEntry] = []
    after: Any = None
    while True:
        page = await service.page(conn, cli_principal(), ref, filters, PageRequest(_PAGE, "created_at", "desc", after))
        found += page.rows
        if (after := page.next_key) is None:
            return found


async def _add(owner: Owner, body: dict[str, Any]) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.core.errors import Refusal
    from mailkeep.features.mailflow.filtering import service
    from mailkeep.run.cli.accounts import cli_principal

    new = service.read_items([body])[0]
    if isinstance(new, Refusal):
        raise new
    async with open_owner(owner) as (app, ref), app.db.tx() as conn:
        entry = await service.create(conn, cli_principal(), app.clock(), ref, new)
    return CommandResult({"entry": to_builtins(entry)}, [f"Added: {entry.list} {entry.kind} {entry.value}."])


async def _remove(owner: Owner, value: str, list_name: Any) -> CommandResult:
    from mailkeep.core.errors import NotFound
    from mailkeep.features.mailflow.filtering import service
    from mailkeep.features.mailflow.filtering.model import EntryFilter
    from mailkeep.run.cli.accounts import cli_principal

    async with open_owner(owner) as (app, ref), app.db.tx() as conn:
        entries = await _list_all(conn, ref, EntryFilter(list=list_name))
        names = {value, value.lower(), _canonical(value)}
        ids = [each.id for each in entries if each.value in names or str(each.id) == value]
        if not ids:
            raise NotFound(f"There is no entry {value}; `mailkeep filter entries` lists all.")
        removed = [await service.delete(conn, cli_principal(), app.clock(), ref, each) for each in ids]
    return CommandResult({"removed": ids}, [f"Removed: {each.list} {each.kind} {each.value}." for each in removed])


def _canonical(value: str) -> str:
    """The form in which a value is stored; unchanged if it is no value."""
    from mailkeep.core.errors import Refusal
    from mailkeep.features.mailflow.filtering import service

    read = service.read_items([{"list": "deny", "kind": _kind_of(value), "value": value}])[0]
    return value if isinstance(read, Refusal) else read.value


async def _import(owner: Owner, file: Path) -> CommandResult:
    import asyncio

    from mailkeep.core.errors import Refusal
    from mailkeep.features.mailflow.filtering import service
    from mailkeep.features.mailflow.filtering.model import MAX_IMPORT
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.web.csv_table import parse_csv

    content = await asyncio.to_thread(sys.stdin.buffer.read if str(file) == "-" else file.read_bytes)
    found = await asyncio.to_thread(parse_csv, content, MAX_IMPORT)
    rows: list[NewEntry | Refusal] = service.read_import(found)
    async with open_owner(owner) as (app, ref), app.db.tx() as conn:
        results: list[UUID | Refusal] = await service.import_rows(conn, cli_principal(), app.clock(), ref, rows)
    errors = [
        {"row": number, "code": each.code, "message": each.message}
        for number, each in zip(found.numbers, results, strict=True)
        if isinstance(each, Refusal)
    ]
    lines: list[Line] = [f"{len(rows) - len(errors)} of {len(rows)} rows imported."]
    lines += [f"row {each['row']}: {each['message']}" for each in errors[:_SHOWN_ERRORS]]
    if len(errors) > _SHOWN_ERRORS:
        lines.append(f"… and {len(errors) - _SHOWN_ERRORS} more rows with errors.")
    data = {"total": len(rows), "succeeded": len(rows) - len(errors), "failed": len(errors), "errors": errors}
    return CommandResult(data, lines, REFUSED if errors else 0)
