"""Commands for administrators."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.run.cli import invitations
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.access.accounts.model import AccountRef
    from mailkeep.features.access.admins.model import Admin

_PASSWORD_BYTES = 4096

Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The administrator's email.")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of generating one.")
]

MustChange = Annotated[
    bool, typer.Option("--must-change-password", help="The account can do nothing until it has changed the password.")
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    admin = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Administrators.")
    admin.command(
        "create",
        epilog=examples(
            "mailkeep admin create dora@example.com --role domain_admin --domain example.com",
            "mailkeep admin create sam@example.com --role super_admin --password-stdin < password.txt",
            "mailkeep admin create nora@example.com --invite-to nora@elsewhere.example",
        ),
    )(create_admin)
    admin.command("password", epilog=examples("mailkeep admin password sam@example.com"))(set_password)
    admin.command("reset-factors", epilog=examples("mailkeep admin reset-factors sam@example.com"))(reset_factors)
    admin.command("disconnect", epilog=examples("mailkeep admin disconnect sam@example.com"))(disconnect)
    invitations.add_admin_commands(admin)
    admin.command("list", epilog=examples("mailkeep admin list --json"))(list_admins)
    app.add_typer(admin, name="admin")


def create_admin(
    email: Email,
    role: Annotated[Role | None, typer.Option("--role", help="Default: admin; with --domain: domain_admin.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="A domain of a domain_admin; may be repeated.")
    ] = None,
    password_stdin: FromStdin = False,
    invite: Annotated[
        bool, typer.Option("--invite", help="Instead of a password: show a link with which its owner sets one.")
    ] = False,
    invite_to: Annotated[
        str | None, typer.Option("--invite-to", metavar="ADDRESS", help="The same, but mail the link to this address.")
    ] = None,
    must_change: MustChange = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create an administrator.

    An admin may access all domains, a domain_admin only those of --domain. The password is generated and shown
    once, unless you give one with --password-stdin, or choose an invitation.
    """
    names = domain or []
    role = role or (Role.DOMAIN_ADMIN if names else Role.ADMIN)
    if names and role is not Role.DOMAIN_ADMIN:
        raise typer.BadParameter(f"--domain requires the role domain_admin: {role.value} has access to all domains.")
    is_invited = invite or invite_to is not None
    if is_invited and (password_stdin or must_change):
        raise typer.BadParameter("An invitation excludes --password-stdin and --must-change-password.")
    password = _read_password() if password_stdin else None
    if is_invited:
        run_command(as_json, _create_invited(data_dir, email, role, names, invite_to))
    else:
        run_command(as_json, _create_admin(data_dir, email, role, names, password, must_change=must_change))


def set_password(
    email: Email,
    password_stdin: FromStdin = False,
    must_change: MustChange = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Set a new password for an administrator.

    The password is generated and shown once, unless you give one with --password-stdin. The account's sessions end.
    """
    password = _read_password() if password_stdin else None
    run_command(as_json, _set_password(data_dir, email, password, must_change=must_change))


def reset_factors(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove an administrator's second factors: authenticator, passkeys and recovery codes.

    For administrators who have lost them. The password stays; the account's sessions end.
    """
    run_command(as_json, _reset_factors(data_dir, email))


def disconnect(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Disconnect an administrator from the identity provider.

    The account's sessions end. An account that the provider created has no password: set one with
    `mailkeep admin password`.
    """
    run_command(as_json, _disconnect(data_dir, email))


def list_admins(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List administrators, the newest first."""
    run_command(as_json, _list_admins(data_dir))


async def _create_admin(
    data_dir: Path | None, email: str, role: Role, domain_names: list[str], password: str | None, *, must_change: bool
) -> CommandResult:
    from mailkeep.features.access.admins import rules, service
    from mailkeep.features.access.admins.model import NewAdmin

    address = rules.parse_email(email)
    password, generated = _check_or_generate(password, address.text)
    async with open_app(data_dir, create=True) as app:
        password_hash = await service.hash_password(password)
        async with app.db.tx() as conn:
            domain_ids = await find_domain_ids(conn, domain_names)
            new = NewAdmin(address, password_hash, role, domain_ids, must_change_password=must_change)
            admin = await service.create(conn, cli_principal(), app.clock(), new)
    return _password_result(f"Administrator {admin.email} ({admin.role.value}) was created.", admin, generated)


async def _create_invited(
    data_dir: Path | None, email: str, role: Role, domain_names: list[str], invite_to: str | None
) -> CommandResult:
    from mailkeep.features.access.admins import rules, service
    from mailkeep.features.access.admins.model import NO_PASSWORD, NewAdmin
    from mailkeep.features.access.invitations import rules as invitation_rules

    address, send_to = rules.parse_email(email), invitation_rules.parse_recipient(invite_to)
    async with open_app(data_dir, create=True) as app, app.db.tx() as conn:
        new = NewAdmin(address, NO_PASSWORD, role, await find_domain_ids(conn, domain_names))
        admin = await service.create(conn, cli_principal(), app.clock(), new)
        invitation = await service.invite(app, conn, cli_principal(), app.clock(), admin, send_to)
    line = f"Administrator {admin.email} ({admin.role.value}) was created, without a password."
    data = {"admin": _admin_json(admin), "password": None, "invitation": invitations.to_json(invitation)}
    return CommandResult(data, [line, *invitations.to_lines(admin.email, invitation)])


async def _set_password(data_dir: Path | None, email: str, password: str | None, *, must_change: bool) -> CommandResult:
    from mailkeep.features.access.admins import service

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            admin = await find_admin(conn, email)
        password, generated = _check_or_generate(password, admin.email)
        password_hash = await service.hash_password(password)
        async with app.db.tx() as conn:
            admin = await service.set_password(
                conn, cli_principal(), app.clock(), admin.id, password_hash, must_change=must_change
            )
    line = f"Administrator {admin.email} has a new password; all its sessions have ended."
    return _password_result(line, admin, generated)


def _check_or_generate(password: str | None, email: str) -> tuple[str, str | None]:
    """Check the password, or generate one if it is None; the password, and again if it was generated, to be shown."""
    from mailkeep.core.password import check_password
    from mailkeep.core.secret import new_password

    generated = new_password() if password is None else None
    return check_password(generated or password or "", email), generated


async def _reset_factors(data_dir: Path | None, email: str) -> CommandResult:
    from mailkeep.features.access.accounts.model import AccountRef

    async with open_app(data_dir) as app, app.db.tx() as conn:
        admin = await find_admin(conn, email)
        await remove_factors(app, conn, AccountRef("admin", admin.id))
    data = {"id": admin.id, "email": admin.email, "totp_enabled": False, "passkeys": 0}
    return CommandResult(data, [f"Administrator {admin.email} has no second factor now; all its sessions have ended."])


async def remove_factors(app: App, conn: Conn, account: AccountRef) -> None:
    """Delete the second factors and recovery codes of an account; CONFLICT `totp_off` if it has none."""
    from mailkeep.features.access.accounts import service as accounts
    from mailkeep.features.access.passkeys import service as passkeys
    from mailkeep.features.access.second_factors import service

    who, at = cli_principal(), app.clock()
    removed = await passkeys.delete_all(conn, who, at, account)
    if (await accounts.get(conn, account)).totp_enabled or not removed:
        await service.reset(conn, who, at, account)
    else:
        await service.delete_recovery_codes(conn, account)


async def _disconnect(data_dir: Path | None, email: str) -> CommandResult:
    from mailkeep.features.access.oidc import service

    async with open_app(data_dir) as app, app.db.tx() as conn:
        admin = await find_admin(conn, email)
        await service.unlink(conn, cli_principal(), app.clock(), admin.id)
    line = f"Administrator {admin.email} is no longer linked to an identity; all its sessions have ended."
    return CommandResult({"id": admin.id, "email": admin.email, "oidc_provider": None}, [line])


async def _list_admins(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.access.admins import service

    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        admins = await service.list_visible(conn, cli_principal())
    data = [_admin_json(admin) for admin in admins]
    rows = [
        [
            row["email"],
            row["role"],
            "active" if row["active"] else "inactive",
            len(row["domain_ids"]) if row["role"] == "domain_admin" else "all",
            row["last_login_at"] or "never",
            row["id"],
        ]
        for row in data
    ]
    return CommandResult({"admins": data}, table(["EMAIL", "ROLE", "STATE", "DOMAINS", "LAST LOGIN", "ID"], rows))


async def find_admin(conn: Conn, email: str) -> Admin:
    """The administrator with this email; NOT_FOUND."""
    from mailkeep.core.errors import NotFound
    from mailkeep.features.access.admins import rules, service

    admin = await service.find_by_email(conn, rules.parse_email(email))
    if admin is None:
        raise NotFound(f"There is no administrator {email}; `mailkeep admin list` shows all.")
    return admin


async def find_domain_ids(conn: Conn, names: list[str]) -> tuple[UUID, ...]:
    """The IDs of domains by their names. DOMAIN_NOT_FOUND."""
    from mailkeep.core.errors import DomainNotFound
    from mailkeep.features.directory.domains import rules, service

    ids: dict[UUID, None] = {}
    for name in names:
        domain = await service.find_by_name(conn, rules.parse_name(name))
        if domain is None:
            raise DomainNotFound(f"There is no domain {name}.")
        ids[domain.id] = None
    return tuple(ids)


def cli_principal() -> Principal:
    """A super admin, since the caller can open the data directory; the audit log names the system account."""
    import os
    import pwd

    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    return Principal(None, f"cli:{name}", Role.SUPER_ADMIN, ActorType.CLI)


def _admin_json(admin: Admin) -> dict[str, Any]:
    from mailkeep.core.clock import iso, iso_or_none

    return {
        "id": admin.id,
        "email": admin.email,
        "role": admin.role.value,
        "active": admin.active,
        "must_change_password": admin.must_change_password,
        "domain_ids": admin.domain_ids,
        "totp_enabled": admin.totp_enabled,
        "passkeys": admin.passkeys,
        "last_login_at": iso_or_none(admin.last_login_at),
        "created_at": iso(admin.created_at),
    }


def _password_result(line: str, admin: Admin, generated: str | None) -> CommandResult:
    lines = [line, *([f"Password, shown only once: {generated}"] if generated else [])]
    return CommandResult({"admin": _admin_json(admin), "password": generated}, lines)


def _read_password() -> str:
    """Standard input without the line end."""
    try:
        return sys.stdin.buffer.read(_PASSWORD_BYTES).decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise typer.BadParameter("The password on standard input is not UTF-8.") from None
