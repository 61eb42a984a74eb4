"""`mailkeep mailbox setup` and `setup-link`: how to set up mail programs for a mailbox."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from mailkeep.run.cli.folders import MailboxAddress, find_mailbox
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.app import App
    from mailkeep.features.directory.client_setup.model import SetupLink

Profile = Annotated[
    Path | None,
    typer.Option("--profile", metavar="FILE", help="Write the profile for iPhone, iPad and Mac to this file."),
]


def add_commands(mailbox: typer.Typer) -> None:
    """Add these commands to `mailkeep mailbox`."""
    mailbox.command(
        "setup",
        epilog=examples(
            "mailkeep mailbox setup ann@example.com",
            "mailkeep mailbox setup ann@example.com --profile ann.mobileconfig",
        ),
    )(show_setup)
    mailbox.command(
        "setup-link",
        epilog=examples(
            "mailkeep mailbox setup-link ann@example.com", "mailkeep mailbox setup-link ann@example.com --delete"
        ),
    )(setup_link)


def show_setup(
    address: MailboxAddress, profile: Profile = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Show the servers and ports for mail programs, and the setup link if there is one.

    A profile is signed with the server's certificate; in the full profile Mailkeep must be running for that.
    """
    run_command(as_json, _show(data_dir, address, profile))


def setup_link(
    address: MailboxAddress,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the link: it stops working.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create a link to a page with the settings for mail programs, and show it as a QR code.

    The page has no password. The link works for 7 days; a link from before ends.
    """
    run_command(as_json, _delete_link(data_dir, address) if delete else _create_link(data_dir, address))


async def _show(data_dir: Path | None, address: str, profile: Path | None) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.features.directory.client_setup import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        setup, link = await service.get(app, cli_principal(), await find_mailbox(app, address))
        record = service.to_setup(setup, link and _to_record(app, link))
        if profile is not None:
            profile.write_bytes(await service.sign_profile(app, setup))
    rows = [(each.protocol, each.host, each.port, each.security) for each in record.services]
    lines = [
        f"User name: {record.login}",
        "Password: an app password" if record.app_password_required else "Password: of the mailbox, or an app password",
        *table(["PROTOCOL", "SERVER", "PORT", "SECURITY"], rows),
        *([f"Setup link until {record.link.expires_at}: {record.link.url}"] if record.link else []),
        *([f"The profile is in {profile}."] if profile else []),
    ]
    return CommandResult(to_builtins(record), lines)


async def _create_link(data_dir: Path | None, address: str) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.core.identity_provider import is_loopback_name
    from mailkeep.features.directory.client_setup import rules, service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        record = _to_record(app, await service.create_link(app, cli_principal(), await find_mailbox(app, address)))
    lines = [f"Setup link for {address}, until {record.expires_at}:", record.url]
    if is_loopback_name(urlsplit(str(record.url)).hostname or ""):
        lines.append(
            "Other devices can't open it: set http.public_url to the dashboard's address, restart, and run this again."
        )
    return CommandResult(
        {"address": address, "link": to_builtins(record)}, [*lines, *rules.draw_qr_text(record.url).splitlines()]
    )


async def _delete_link(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.directory.client_setup import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        await service.delete_link(app, cli_principal(), await find_mailbox(app, address))
    return CommandResult({"address": address, "link": None}, [f"The setup link of {address} does not work any more."])


def _to_record(app: App, link: SetupLink) -> Any:
    from mailkeep.features.directory.client_setup import service

    return service.to_link(link, service.url_of(app, link))
