"""`mailkeep dkim`: the DKIM keys of a domain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.directory.dkim.model import DkimKey
    from mailkeep.features.directory.dkim_rotation.model import NewKey
    from mailkeep.features.directory.domains.model import Domain

_MAX_KEY_BYTES = 16_384

DomainName = Annotated[str, typer.Argument(metavar="DOMAIN", help="A managed domain.")]
Selector = Annotated[str, typer.Argument(metavar="SELECTOR", help="The key's selector, or its ID.")]
NewSelector = Annotated[
    str | None, typer.Option("--selector", metavar="NAME", help="The selector. Default: a new random one.")
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    dkim = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="DKIM keys of a domain.")
    dkim.command("list", epilog=examples("mailkeep dkim list example.com"))(list_keys)
    dkim.command(
        "create",
        epilog=examples("mailkeep dkim create example.com", "mailkeep dkim create example.com --algorithm ed25519"),
    )(create)
    dkim.command(
        "import",
        epilog=examples(
            "mailkeep dkim import example.com key.pem --selector mail2026",
            "mailkeep dkim import example.com - < key.pem",
        ),
    )(import_key)
    dkim.command(
        "activate",
        epilog=examples(
            "mailkeep dkim activate example.com mail2026", "mailkeep dkim activate example.com mail2026 --force"
        ),
    )(activate)
    dkim.command("retire", epilog=examples("mailkeep dkim retire example.com mail2026"))(retire)
    dkim.command("delete", epilog=examples("mailkeep dkim delete example.com mail2026"))(delete)
    app.add_typer(dkim, name="dkim")


def list_keys(domain: DomainName, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the keys of a domain, the newest first."""
    run_command(as_json, _list(data_dir, domain))


def create(
    domain: DomainName,
    algorithm: Annotated[
        Literal["rsa2048", "rsa4096", "ed25519"], typer.Option("--algorithm", help="The algorithm.")
    ] = "rsa2048",
    selector: NewSelector = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Generate a key and print its DNS record. It signs when it is activated."""
    from mailkeep.features.directory.dkim_rotation.model import NewKey

    run_command(as_json, _create(data_dir, domain, NewKey(algorithm, selector)))


def import_key(
    domain: DomainName,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The private key in PEM; -: standard input.")],
    selector: NewSelector = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Import a private key (PEM, without a passphrase) and print its DNS record."""
    run_command(as_json, _import(data_dir, domain, file, selector))


def activate(
    domain: DomainName,
    selector: Selector,
    force: Annotated[
        bool, typer.Option("--force", help="Also if not every name server finds the key's record.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let a key sign, instead of the active one of its family (RSA or Ed25519)."""
    run_command(as_json, _activate(data_dir, domain, selector, force=force))


def retire(domain: DomainName, selector: Selector, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """End the use of a key. Leave its record in DNS until `list` says that it can be removed."""
    run_command(as_json, _retire(data_dir, domain, selector))


def delete(domain: DomainName, selector: Selector, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Delete a pending or retired key."""
    run_command(as_json, _delete(data_dir, domain, selector))


async def _list(data_dir: Path | None, name: str) -> CommandResult:
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        domain = await _find_domain(conn, name)
        keys = await _list_all(conn, domain)
    data = [_to_json(key, domain) for key in keys]
    rows = [
        [key.selector, key.algorithm, _stage_text(key), key.dns_status.replace("_", " "), str(key.id)] for key in keys
    ]
    return CommandResult(
        {"domain": domain.name, "keys": data}, table(["SELECTOR", "ALGORITHM", "STAGE", "DNS", "ID"], rows)
    )


async def _create(data_dir: Path | None, name: str, new: NewKey) -> CommandResult:
    from mailkeep.features.directory.dkim_rotation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            domain = await _find_domain(conn, name)
        domain, key = await service.create(app, cli_principal(), domain.id, new)
    data = _to_json(key, domain)
    record = data["dns"]
    lines = [
        f"The key {key.selector} ({key.algorithm}) is pending. Publish its record:",
        "",
        f"  Name:  {record['name']}",
        f"  Type:  {record['type']}",
        f"  Value: {record['value']}",
        "",
        f"Then: mailkeep dkim activate {domain.name} {key.selector}",
        *data["warnings"],
    ]
    return CommandResult(data, lines)


async def _import(data_dir: Path | None, name: str, file: str, selector: str | None) -> CommandResult:
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.dkim_rotation.model import NewKey

    content = sys.stdin.buffer.read(_MAX_KEY_BYTES + 1) if file == "-" else _read_file(Path(file))
    if len(content) > _MAX_KEY_BYTES:
        raise Failure(f"{file} is larger than a private key in PEM can be.", permanent=True)
    return await _create(data_dir, name, NewKey(None, selector, content.decode("ascii", "replace")))


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_KEY_BYTES + 1)


async def _activate(data_dir: Path | None, name: str, selector: str, *, force: bool) -> CommandResult:
    from mailkeep.features.directory.dkim_rotation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        domain, key_id = await _find_key(app, name, selector)
        domain, key = await service.activate(app, cli_principal(), domain.id, key_id, force=force)
    return CommandResult(_to_json(key, domain), [f"The key {key.selector} signs now."])


async def _retire(data_dir: Path | None, name: str, selector: str) -> CommandResult:
    from mailkeep.features.directory.dkim_rotation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        domain, key_id = await _find_key(app, name, selector)
        async with app.db.tx() as conn:
            domain, key = await service.retire(conn, cli_principal(), app.clock(), domain.id, key_id)
    return CommandResult(_to_json(key, domain), [f"The key {key.selector} is {_stage_text(key)}."])


async def _delete(data_dir: Path | None, name: str, selector: str) -> CommandResult:
    from mailkeep.features.directory.dkim_rotation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        domain, key_id = await _find_key(app, name, selector)
        async with app.db.tx() as conn:
            key = await service.delete(conn, cli_principal(), app.clock(), domain.id, key_id)
    return CommandResult({"id": key.id, "selector": key.selector}, [f"The key {key.selector} is deleted."])


def _stage_text(key: DkimKey) -> str:
    return "retired; its record can be removed" if key.stage == "retired" else key.stage


def _to_json(key: DkimKey, domain: Domain) -> dict[str, Any]:
    import msgspec

    from mailkeep.features.directory.dkim_rotation import service

    return msgspec.to_builtins(service.describe(key, domain))


async def _find_domain(conn: Conn, name: str) -> Domain:
    from mailkeep.core.errors import DomainNotFound
    from mailkeep.features.directory.domains import rules, service

    domain = await service.find_by_name(conn, rules.parse_name(name))
    if domain is None:
        raise DomainNotFound(f"There is no domain {name}.")
    return domain


async def _find_key(app: App, name: str, selector: str) -> tuple[Domain, UUID]:
    """The domain, and the ID of the key with this selector or ID; a key that is not retired comes first."""
    from mailkeep.core.errors import NotFound

    async with app.db.autocommit() as conn:
        domain = await _find_domain(conn, name)
        keys = [key for key in await _list_all(conn, domain) if selector.lower() in (key.selector, str(key.id))]
    if not keys:
        raise NotFound(f"{domain.name} has no DKIM key {selector}; `mailkeep dkim list {domain.name}` shows all.")
    return domain, min(keys, key=lambda key: key.stage == "retired").id


async def _list_all(conn: Conn, domain: Domain) -> list[DkimKey]:
    from mailkeep.features.directory.dkim_rotation import service

    return list(reversed(await service.list_keys(conn, domain.id)))
