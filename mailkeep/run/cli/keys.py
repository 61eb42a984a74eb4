"""Commands for API keys."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from mailkeep.core.principal import KeyPermissions
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command

_NAME_CHARACTERS = 200


def register(app: typer.Typer) -> None:
    """Add these commands."""
    key = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="API keys.")
    key.command(
        "create",
        epilog=examples(
            "mailkeep key create newsletter --admin dora@example.com --domain example.com --expires-in-days 90",
            "mailkeep key create shop --admin dora@example.com --permissions sending",
            "mailkeep key create backup --admin sam@example.com --network 192.0.2.10 --network 2001:db8::/48",
        ),
    )(create_key)
    app.add_typer(key, name="key")


def create_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the key.")],
    admin: Annotated[str, typer.Option("--admin", metavar="EMAIL", help="The administrator whose rights the key has.")],
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="Limit it to this domain; may be repeated.")
    ] = None,
    rate_limit: Annotated[
        int | None,
        typer.Option("--rate-limit", min=0, max=1_000_000, help="Requests per minute. Default: 60; 0: no limit."),
    ] = None,
    expires_in_days: Annotated[
        int, typer.Option("--expires-in-days", min=0, max=36_500, help="Days until the key expires. 0: never.")
    ] = 0,
    expires_at: Annotated[
        str,
        typer.Option(
            "--expires-at", metavar="TIME", help="When the key expires: an ISO 8601 time with its UTC offset."
        ),
    ] = "",
    permissions: Annotated[
        KeyPermissions,
        typer.Option(help="full; sending: send, and see its own messages; read: see everything, change nothing."),
    ] = KeyPermissions.FULL,
    network: Annotated[
        list[str] | None,
        typer.Option("--network", metavar="CIDR", help="Network that the key may be used from; may be repeated."),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create an API key; it is shown once, with the settings to send by SMTP.

    The key acts for an administrator and always has that administrator's current rights.
    """
    if not (name.strip() and name.isprintable() and len(name) <= _NAME_CHARACTERS):
        raise typer.BadParameter(f"NAME takes 1 to {_NAME_CHARACTERS} printable characters.")
    limits = _KeyLimits(rate_limit, expires_in_days, _parse_expiry(expires_at), permissions, network or [])
    run_command(as_json, _create_key(data_dir, name, admin, domain or [], limits))


@dataclass(frozen=True)
class _KeyLimits:
    """The options of a new key."""

    rate_limit: int | None
    expires_in_days: int
    expires_at: datetime | None
    permissions: KeyPermissions
    networks: list[str]


def _parse_expiry(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text) if text else None
    except ValueError:
        at = datetime.min  # noqa: DTZ901 - as one without an offset
    if at is not None and at.tzinfo is None:
        raise typer.BadParameter("--expires-at must be a time with its offset, such as 2027-08-01T18:00:00Z.")
    return at


async def _create_key(
    data_dir: Path | None, name: str, email: str, domain_names: list[str], limits: _KeyLimits
) -> CommandResult:
    from mailkeep.core.clock import iso_or_none
    from mailkeep.features.access.api_keys import rules, service
    from mailkeep.features.access.api_keys.model import NewApiKey
    from mailkeep.run.cli.accounts import cli_principal, find_admin, find_domain_ids
    from mailkeep.run.runtime import state

    allowed_networks = rules.parse_networks(limits.networks)
    async with open_app(data_dir) as app, app.db.tx() as conn:
        owner = await find_admin(conn, email)
        at = app.clock()
        new = NewApiKey(
            name,
            await find_domain_ids(conn, domain_names),
            limits.rate_limit,
            rules.expiry(at, limits.expires_in_days, limits.expires_at),
            allowed_networks,
            limits.permissions,
        )
        key, secret = await service.create(conn, cli_principal(), owner.id, at, new)
        running = state.read(app.data_dir)
        settings = service.submission_server(app.settings, running.smtp if running else "")
        smtp = settings if key.permissions is not KeyPermissions.READ else None
    data = {
        "key": secret,
        "id": key.id,
        "name": key.name,
        "admin_id": key.admin_id,
        "scoped_domain_ids": key.scoped_domain_ids,
        "rate_limit": key.rate_limit,
        "allowed_networks": key.allowed_networks,
        "permissions": key.permissions.value,
        "expires_at": iso_or_none(key.expires_at),
        "smtp": asdict(smtp) if smtp else None,
    }
    lines = [f"Key of {owner.email}, shown only once:", secret]
    if smtp:
        ports = {"STARTTLS": smtp.starttls_port, "TLS": smtp.tls_port}
        text = " or ".join(f"{port} ({tls})" for tls, port in ports.items() if port)
        lines.append(f"To send by SMTP: server {smtp.host}, port {text}, user {smtp.user}, the key as the password.")
    return CommandResult(data, lines)
