"""`mailkeep certificates`: lists, renews and revokes certificates, and replaces the key of the ACME account."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.db.pool import Conn
    from mailkeep.features.operations.certificates.model import Reason, TlsCertificate

Name = Annotated[str, typer.Argument(metavar="NAME", help="`server`, or the domain whose certificate it is.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    commands = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Certificates of the server and of domains."
    )
    commands.command("list", epilog=examples("mailkeep certificates list"))(list_certificates)
    commands.command(
        "renew", epilog=examples("mailkeep certificates renew server", "mailkeep certificates renew example.com")
    )(renew)
    commands.command("revoke", epilog=examples("mailkeep certificates revoke example.com --reason key_compromise"))(
        revoke
    )
    commands.command("account-key", epilog=examples("mailkeep certificates account-key"))(account_key)
    app.add_typer(commands, name="certificates")


def list_certificates(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List certificates: names, issuer, expiry, next renewal, and what is wrong."""
    run_command(as_json, _list(data_dir))


def renew(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Renew a certificate now, in the background."""
    run_command(as_json, _renew(data_dir, name))


def revoke(
    name: Name,
    reason: Annotated[
        str, typer.Option(help="unspecified, key_compromise, superseded or cessation_of_operation.")
    ] = "unspecified",
    at_once: Annotated[bool, typer.Option("--at-once", help="Revoke it before it is replaced.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Replace a certificate and revoke it, in the background."""
    run_command(as_json, _revoke(data_dir, name, reason, at_once))


def account_key(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Replace the key of the account at the certificate authority."""
    run_command(as_json, _account_key(data_dir))


async def _list(data_dir: Path | None) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.features.operations.certificates import service

    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        data = [to_builtins(service.describe(each, app.settings)) for each in await _list_all(conn)]
    rows = [
        [each["name"], ", ".join(each["names"]), each["source"], each["not_after"] or "", each["renew_at"] or ""]
        for each in data
    ]
    lines = table(["CERTIFICATE", "NAMES", "SOURCE", "EXPIRES", "RENEWAL"], rows)
    for each in data:
        problems = [check["problem"] for check in each["checks"] if check["status"] == "failed"]
        lines += [f"{each['name']}: {problem}" for problem in dict.fromkeys([each["problem"], *problems]) if problem]
    return CommandResult({"certificates": data}, lines)


async def _list_all(conn: Conn) -> list[TlsCertificate]:
    from mailkeep.core.page import PageRequest
    from mailkeep.features.operations.certificates import service

    found: list[TlsCertificate] = []
    after = None
    while True:
        page = await service.page(conn, PageRequest(200, "name", "asc", after))
        found += page.rows
        after = page.next_key
        if after is None:
            return found


async def _renew(data_dir: Path | None, name: str) -> CommandResult:
    from mailkeep.features.operations.certificates import service

    async with open_app(data_dir) as app, app.db.tx() as conn:
        certificate = await service.find_by_name(conn, name)
        await service.renew(app, conn, cli_principal(), certificate.id)
    return _confirm(certificate, f"The certificate of {_holder(certificate)} is being renewed.")


async def _revoke(data_dir: Path | None, name: str, reason: str, at_once: bool) -> CommandResult:
    from mailkeep.core.errors import invalid_field
    from mailkeep.features.operations.certificates import service
    from mailkeep.features.operations.certificates.model import REASONS

    known: dict[str, Reason] = {each: each for each in REASONS}
    if reason not in known:
        raise invalid_field("reason", f"must be one of {', '.join(REASONS)}")
    async with open_app(data_dir) as app, app.db.tx() as conn:
        certificate = await service.find_by_name(conn, name)
        await service.revoke(app, conn, cli_principal(), certificate.id, known[reason], at_once=at_once)
    return _confirm(certificate, f"The certificate of {_holder(certificate)} is being replaced and revoked.")


def _holder(certificate: TlsCertificate) -> str:
    return "this server" if certificate.name == "server" else certificate.name


def _confirm(certificate: TlsCertificate, text: str) -> CommandResult:
    data: dict[str, Any] = {"id": certificate.id, "name": certificate.name}
    return CommandResult(data, [f"{text} `mailkeep certificates list` shows the result."])


async def _account_key(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.operations.certificates import service

    async with open_app(data_dir) as app:
        await service.change_account_key(app, cli_principal())
    return CommandResult({"changed": True}, ["The key of the account was replaced."])
