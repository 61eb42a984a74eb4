"""`mailkeep mailbox` and `mailkeep alias`: import tables of any size, and export them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mailkeep.run.cli.output import (
    DONE,
    REFUSED,
    AsJson,
    CommandResult,
    DataDir,
    examples,
    open_app,
    open_instance,
    run_command,
    table,
)

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.core.errors import Refusal
    from mailkeep.core.principal import Principal
    from mailkeep.features.directory.bulk.model import BulkAction, BulkResource

_MAX_ROWS = 1_000_000
_POLL_SECONDS = 0.2
_STALLED_SECONDS = 120.0  # without a result: no worker runs

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A table in CSV (UTF-8), whose first line names the columns; - is stdin.")
]
Action = Annotated[Literal["create", "update", "delete"], typer.Option("--action", help="What to do with each row.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check all rows, and change nothing.")]
DomainName = Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only those of this domain.")]


def add_mailbox_commands(mailbox: typer.Typer) -> None:
    """Add these commands to `mailkeep mailbox`."""
    mailbox.command(
        "import",
        epilog=examples(
            "mailkeep mailbox import staff.csv --dry-run",
            "mailkeep mailbox import staff.csv",
            "mailkeep mailbox import leavers.csv --action delete",
        ),
    )(import_mailboxes)
    mailbox.command("export", epilog=examples("mailkeep mailbox export --domain example.com > mailboxes.csv"))(
        export_mailboxes
    )


def add_alias_commands(alias: typer.Typer) -> None:
    """Add these commands to `mailkeep alias`."""
    alias.command("import", epilog=examples("mailkeep alias import aliases.csv --dry-run"))(import_aliases)
    alias.command("export", epilog=examples("mailkeep alias export > aliases.csv"))(export_aliases)


def import_mailboxes(
    file: File,
    action: Action = "create",
    dry_run: DryRun = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create, update or delete the mailboxes of a table.

    Columns: address, name, password or password_hash, quota_bytes, active; instead of address also id. Each row is
    done completely or not at all; faulty rows are listed with the reason. The running instance does the work, 1,000
    rows at a time; with --dry-run, limits are checked for these.
    """
    run_command(as_json, _import(data_dir, "mailbox", _ImportOptions(file, action, dry_run)))


def import_aliases(
    file: File,
    action: Action = "create",
    dry_run: DryRun = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create, update or delete the aliases of a table.

    Columns: domain, source_local_part, destination, active; instead of the first two also id. Each row is done
    completely or not at all; faulty rows are listed with the reason.
    """
    run_command(as_json, _import(data_dir, "alias", _ImportOptions(file, action, dry_run)))


def export_mailboxes(domain: DomainName = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print the mailboxes as a table in CSV, without passwords.

    It can be imported again. An apostrophe stands before what a spreadsheet would evaluate as a formula.
    """
    run_command(as_json, _export(data_dir, "mailbox", domain))


def export_aliases(domain: DomainName = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print the aliases as a table in CSV, which can be imported again."""
    run_command(as_json, _export(data_dir, "alias", domain))


@dataclass(frozen=True, slots=True)
class _ImportOptions:
    file: Path
    action: BulkAction
    dry_run: bool


@dataclass(frozen=True, slots=True)
class _TableRow:
    """A row of the table: its number in a spreadsheet, and its content, or why it can't be read."""

    number: int
    item: Mapping[str, Any] | Refusal


async def _import(data_dir: Path | None, resource: BulkResource, wanted: _ImportOptions) -> CommandResult:
    import asyncio

    from mailkeep.features.directory.bulk import rules
    from mailkeep.features.directory.bulk.model import MAX_ITEMS
    from mailkeep.web.csv_table import parse_csv

    content = await asyncio.to_thread(sys.stdin.buffer.read if str(wanted.file) == "-" else wanted.file.read_bytes)
    found = await asyncio.to_thread(parse_csv, content, _MAX_ROWS)
    items = rules.read_rows(resource, wanted.action, found.columns, found.rows)
    rows = [_TableRow(number, item) for number, item in zip(found.numbers, items, strict=True)]
    errors: list[dict[str, Any]] = []
    async with open_instance(data_dir) as app:
        for start in range(0, len(rows), MAX_ITEMS):
            part = rows[start : start + MAX_ITEMS]
            errors += await _run_part(app, resource, wanted, part)
            typer.echo(f"{start + len(part):,} of {len(rows):,} rows, {len(errors):,} with errors", err=True)
    if wanted.dry_run and wanted.action == "create":
        errors += _list_repeated(resource, rows, {each["row"] for each in errors})
        errors.sort(key=lambda each: each["row"])
    return _summarize(wanted, len(rows), errors)


async def _run_part(
    app: App, resource: BulkResource, wanted: _ImportOptions, rows: Sequence[_TableRow]
) -> list[dict[str, Any]]:
    """Let the instance do some rows; the errors."""
    from mailkeep.features.directory.bulk import service
    from mailkeep.features.directory.bulk.model import BulkRequest
    from mailkeep.run.cli.accounts import cli_principal

    request = BulkRequest(resource, wanted.action, [row.item for row in rows], wanted.dry_run)
    operation_id = await service.submit(app, cli_principal(), request)
    results = await _wait(app, operation_id)
    return [
        {"row": rows[index].number, "name": _name(rows[index].item), **_by_row_numbers(error, rows, resource)}
        for index, error in results
    ]


def _by_row_numbers(error: dict[str, Any], rows: Sequence[_TableRow], resource: BulkResource) -> dict[str, Any]:
    """An error that names another item of the call by its index, with that row's number instead."""
    details: dict[str, Any] | None = error["details"]
    if details is None or details.get("reason") != "repeated":
        return error
    return _repetition_error(rows[int(details["index"])].number, resource)


def _repetition_error(row: int, resource: BulkResource) -> dict[str, Any]:
    text = f"Row {row} is about this {resource} too."
    return {"code": "CONFLICT", "message": text, "details": {"reason": "repeated", "row": row}}


async def _wait(app: App, operation_id: UUID) -> list[tuple[int, dict[str, Any]]]:
    """Wait until an operation has finished; the indexes and errors of the items that failed."""
    import asyncio

    import msgspec

    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.bulk import service
    from mailkeep.run.cli.accounts import cli_principal

    clock = asyncio.get_running_loop().time
    done, progressed_at = 0, clock()
    while True:
        found = await service.find(app, cli_principal(), operation_id)
        assert found is not None
        operation, progress = found
        if operation.state != "running":
            break
        if progress.done > done:
            done, progressed_at = progress.done, clock()
        elif clock() - progressed_at > _STALLED_SECONDS:
            text = f"Nothing happens, although the operation {operation_id} is not finished: see the log of `worker`."
            raise Failure(text)
        await asyncio.sleep(_POLL_SECONDS)
    results = await service.list_results(app, operation)
    return [(each.index, msgspec.json.decode(each.error)) for each in results if each.error is not None]


def _name(item: Mapping[str, Any] | Refusal) -> str:
    if not isinstance(item, Mapping):
        return ""
    if "address" in item:
        return str(item["address"])
    if "domain" in item:
        return f"{item.get('source_local_part', '')}@{item['domain']}"
    return str(item.get("id", ""))


def _list_repeated(resource: BulkResource, rows: Sequence[_TableRow], faulty: set[int]) -> list[dict[str, Any]]:
    """The errors of rows that name what an earlier row names; those of the same part are among `faulty` already."""
    first: dict[str, int] = {}
    errors: list[dict[str, Any]] = []
    for row in rows:
        if row.number in faulty:
            continue
        name = _name(row.item)
        number = first.setdefault(name.casefold(), row.number)
        if number != row.number:
            errors.append({"row": row.number, "name": name, **_repetition_error(number, resource)})
    return errors


def _summarize(wanted: _ImportOptions, rows: int, errors: Sequence[Mapping[str, Any]]) -> CommandResult:
    verb = {"create": "created", "update": "updated", "delete": "deleted"}[wanted.action]
    summary = f"{'Would be ' + verb if wanted.dry_run else verb.capitalize()}: {rows - len(errors):,} of {rows:,} rows."
    lines = [summary]
    if errors:
        cells = [[each["row"], each["name"][:60], each["code"], each["message"]] for each in errors]
        lines = [*table(["ROW", "NAME", "CODE", "REASON"], cells), "", summary]
    data = {
        "action": wanted.action,
        "dry_run": wanted.dry_run,
        "rows": rows,
        "succeeded": rows - len(errors),
        "failed": len(errors),
        "errors": errors,
    }
    return CommandResult(data, lines, REFUSED if errors else DONE)


async def _export(data_dir: Path | None, resource: BulkResource, domain: str | None) -> CommandResult:
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.bulk import rules, service
    from mailkeep.features.directory.domains import service as domains
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.web.csv_table import write_csv

    export = service.export_mailboxes if resource == "mailbox" else service.export_aliases
    rows: list[Sequence[str]] = []
    async with open_app(data_dir) as app:
        domain_id = None
        if domain is not None:
            async with app.db.autocommit() as conn:
                found = await domains.find_by_name(conn, domain.lower())
            if found is None:
                raise Failure(f"There is no domain {domain}.", permanent=True)
            domain_id = found.id

        async def find_caller() -> Principal:
            return cli_principal()

        await service.record_export(app, cli_principal(), resource, domain_id)
        async for page in export(app, find_caller, domain_id):
            rows += page
    columns = rules.COLUMNS[resource]
    data = {"rows": [dict(zip(columns, row, strict=True)) for row in rows]}
    return CommandResult(data, write_csv([columns, *rows]).decode().splitlines())
