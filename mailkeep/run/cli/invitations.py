"""`mailkeep admin invite`, `enable` and `disable`, `mailkeep mailbox invite`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command

if TYPE_CHECKING:
    from mailkeep.features.access.invitations.model import Invitation

Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The administrator's email.")]
MailboxAddress = Annotated[str, typer.Argument(metavar="ADDRESS", help="The mailbox's address.")]
InviteTo = Annotated[
    str | None, typer.Option("--to", metavar="ADDRESS", help="Mail the link to this address instead of showing it.")
]


def add_admin_commands(admin: typer.Typer) -> None:
    """Add the commands to `mailkeep admin`."""
    admin.command(
        "invite",
        epilog=examples(
            "mailkeep admin invite sam@example.com", "mailkeep admin invite sam@example.com --to sam@elsewhere.example"
        ),
    )(invite_admin)
    admin.command("disable", epilog=examples("mailkeep admin disable sam@example.com"))(disable_admin)
    admin.command("enable", epilog=examples("mailkeep admin enable sam@example.com"))(enable_admin)


def add_mailbox_commands(mailbox: typer.Typer) -> None:
    """Add the commands to `mailkeep mailbox`."""
    mailbox.command("invite", epilog=examples("mailkeep mailbox invite ann@example.com"))(invite_mailbox)


def invite_admin(email: Email, to: InviteTo = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Create a link with which an administrator sets a new password.

    It works once, for 72 hours; a link from before ends. The present password works until then.
    """
    run_command(as_json, _invite_admin(data_dir, email, to))


def invite_mailbox(
    address: MailboxAddress, to: InviteTo = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Create a link with which the owner of a mailbox sets a new password.

    It works once, for 72 hours; a link from before ends. The present password works until then.
    """
    run_command(as_json, _invite_mailbox(data_dir, address, to))


def disable_admin(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Disable an administrator: the sessions end, and sign-ins and API keys are rejected."""
    run_command(as_json, _set_active(data_dir, email, active=False))


def enable_admin(email: Email, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Enable an administrator again, with the same password and API keys."""
    run_command(as_json, _set_active(data_dir, email, active=True))


async def _invite_admin(data_dir: Path | None, email: str, to: str | None) -> CommandResult:
    from mailkeep.features.access.admins import service
    from mailkeep.features.access.invitations import rules
    from mailkeep.run.cli.accounts import cli_principal, find_admin

    recipient = rules.parse_recipient(to)
    async with open_app(data_dir) as app, app.db.tx() as conn:
        admin = await find_admin(conn, email)
        at = app.clock()
        invitation = await service.replace_invitation(app, conn, cli_principal(), at, admin.id, recipient)
    return CommandResult({"email": admin.email, "invitation": to_json(invitation)}, to_lines(admin.email, invitation))


async def _invite_mailbox(data_dir: Path | None, address: str, to: str | None) -> CommandResult:
    from mailkeep.features.access.invitations import rules
    from mailkeep.features.directory.mailboxes import service
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.run.cli.mailbox import find_mailbox

    recipient, who = rules.parse_recipient(to), cli_principal()
    async with open_app(data_dir) as app, app.db.tx() as conn:
        mailbox = await service.get_for_credential_change(conn, who, (await find_mailbox(conn, address)).id)
        invitation = await service.invite(app, conn, who, mailbox, recipient)
    name = str(mailbox.address)
    return CommandResult({"address": name, "invitation": to_json(invitation)}, to_lines(name, invitation))


async def _set_active(data_dir: Path | None, email: str, *, active: bool) -> CommandResult:
    from mailkeep.features.access.admins import service
    from mailkeep.features.access.admins.model import AdminChanges
    from mailkeep.run.cli.accounts import cli_principal, find_admin

    async with open_app(data_dir) as app, app.db.tx() as conn:
        admin = await find_admin(conn, email)
        await service.change(conn, cli_principal(), app.clock(), admin.id, AdminChanges(active=active))
    state = "is enabled" if active else "is disabled; all its sessions have ended"
    return CommandResult({"id": admin.id, "email": admin.email, "active": active}, [f"{admin.email} {state}."])


def to_json(invitation: Invitation) -> dict[str, Any]:
    """The JSON of an invitation, as in the API."""
    from mailkeep.core.clock import iso

    return {"url": invitation.url, "sent_to": invitation.sent_to, "expires_at": iso(invitation.expires_at)}


def to_lines(account: str, invitation: Invitation) -> list[str]:
    """What the terminal shows of a new invitation of this account."""
    from mailkeep.core.clock import iso

    until = f"It works once, until {iso(invitation.expires_at)}."
    if invitation.url is None:
        return [f"A link for {account} is on its way to {invitation.sent_to}. {until}"]
    lines = [f"Link for {account}, shown only once. {until}", invitation.url]
    if urlsplit(invitation.url).hostname in ("localhost", "127.0.0.1"):
        lines.append(
            "It works on this machine only: set http.public_url in mailkeep.toml to the server's public address."
        )
    return lines
