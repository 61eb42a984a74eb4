"""`mailkeep mailbox`: vacation replies, forward, further sender addresses, and second factors of the owner."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli import bulk, client_setup, folders, invitations
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command

if TYPE_CHECKING:
    from mailkeep.db.pool import Conn
    from mailkeep.features.directory.mailboxes.model import Mailbox
    from mailkeep.features.directory.vacation.model import Vacation

_SUBJECT_CHARACTERS = 200
_FORMAT = "%Y-%m-%d %H:%M"

Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="The mailbox's address.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    mailbox = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Mailboxes.")
    bulk.add_mailbox_commands(mailbox)
    folders.add_commands(mailbox)
    client_setup.add_commands(mailbox)
    vacation = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Vacation replies (full profile).")
    add = vacation.command
    add("show", epilog=examples("mailkeep mailbox vacation show alice@example.com"))(show_vacation)
    add(
        "set",
        epilog=examples(
            'mailkeep mailbox vacation set alice@example.com --text "I am away until 15 August."',
            "mailkeep mailbox vacation set alice@example.com --text-file away.txt --start 2027-08-01T18:00 "
            "--end 2027-08-15",
        ),
    )(set_vacation)
    add("on", epilog=examples("mailkeep mailbox vacation on alice@example.com"))(enable_vacation)
    add("off", epilog=examples("mailkeep mailbox vacation off alice@example.com"))(disable_vacation)
    add("delete", epilog=examples("mailkeep mailbox vacation delete alice@example.com"))(delete_vacation)
    mailbox.add_typer(vacation, name="vacation")
    forward = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Forwards.")
    forward.command("show", epilog=examples("mailkeep mailbox forward show alice@example.com"))(show_forward)
    forward.command(
        "set",
        epilog=examples(
            "mailkeep mailbox forward set alice@example.com alice@elsewhere.example",
            "mailkeep mailbox forward set alice@example.com alice@elsewhere.example --no-copy",
        ),
    )(set_forward)
    forward.command("off", epilog=examples("mailkeep mailbox forward off alice@example.com"))(remove_forward)
    mailbox.add_typer(forward, name="forward")
    send_as = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Further sender addresses.")
    send_as.command("show", epilog=examples("mailkeep mailbox send-as show alice@example.com"))(show_send_as)
    send_as.command(
        "set",
        epilog=examples(
            "mailkeep mailbox send-as set alice@example.com sales@example.com example.org",
            "mailkeep mailbox send-as set alice@example.com",
        ),
    )(set_send_as)
    mailbox.add_typer(send_as, name="send-as")
    mailbox.command("reset-factors", epilog=examples("mailkeep mailbox reset-factors alice@example.com"))(reset_factors)
    invitations.add_mailbox_commands(mailbox)
    app.add_typer(mailbox, name="mailbox")


def reset_factors(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove the second factors of a mailbox's owner: authenticator, passkeys and recovery codes.

    For owners who have lost them. The password stays; the owner's sessions end.
    """
    run_command(as_json, _reset_factors(data_dir, address))


def show_vacation(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show the vacation of a mailbox. Times are in the mailbox's time zone; with --json in UTC."""
    run_command(as_json, _show_vacation(data_dir, address))


def set_vacation(
    address: Address,
    text: Annotated[str | None, typer.Option("--text", help="The reply, as text.")] = None,
    text_file: Annotated[
        Path | None, typer.Option("--text-file", metavar="FILE", help="A file with the reply, as text.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html-file", metavar="FILE", help="A file with the reply, as HTML.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", help="Default: `Auto:` and the subject of the message.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="TIME", help="The first moment with replies (ISO 8601). Default: now."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--end", metavar="TIME", help="The first moment without replies. Default: until `off`."),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=30, help="A sender gets one reply in this time.")] = 7,
    inactive: Annotated[bool, typer.Option("--inactive", help="Store it without sending replies.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Set the vacation of a mailbox. It replaces the one before.

    A time without an offset from UTC is in the mailbox's time zone.
    """
    if text is not None and text_file is not None:
        raise typer.BadParameter("--text and --text-file can't be given together.")
    text = text if text_file is None else _read_text(text_file)
    html = None if html_file is None else _read_text(html_file)
    if not text and not html:
        raise typer.BadParameter("Give the reply with --text, --text-file or --html-file.")
    if subject is not None and (len(subject) > _SUBJECT_CHARACTERS or not subject.isprintable()):
        raise typer.BadParameter(f"--subject must be one line of at most {_SUBJECT_CHARACTERS} characters.")
    times = (_parse_time("--start", start), _parse_time("--end", end))
    body = {"subject": subject or None, "text_body": text or None, "html_body": html or None, "days": days}
    run_command(as_json, _set_vacation(data_dir, address, body | {"active": not inactive}, times))


def enable_vacation(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Send the vacation replies of a mailbox, with the text that was set before."""
    run_command(as_json, _switch_vacation(data_dir, address, active=True))


def disable_vacation(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Send no vacation replies of a mailbox. Their text is kept."""
    run_command(as_json, _switch_vacation(data_dir, address, active=False))


def delete_vacation(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Delete the vacation of a mailbox, with its text."""
    run_command(as_json, _delete_vacation(data_dir, address))


def show_forward(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show where a mailbox forwards its mail."""
    run_command(as_json, _show_forward(data_dir, address))


def set_forward(
    address: Address,
    destinations: Annotated[list[str], typer.Argument(metavar="DESTINATION...", help="Up to ten addresses.")],
    no_copy: Annotated[
        bool, typer.Option("--no-copy", help="Keep no copy. Filters and vacation replies then have no effect.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Forward the mail of a mailbox. Spam is not forwarded."""
    run_command(as_json, _set_forward(data_dir, address, destinations, keep_copy=not no_copy))


def remove_forward(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove the forward of a mailbox."""
    run_command(as_json, _set_forward(data_dir, address, [], keep_copy=True))


def show_send_as(address: Address, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show from which further addresses a mailbox may send."""
    run_command(as_json, _show_send_as(data_dir, address))


def set_send_as(
    address: Address,
    senders: Annotated[
        list[str] | None, typer.Argument(metavar="[SENDER]...", help="Addresses, and domains for all their addresses.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Set from which further addresses a mailbox may send; without any, only from its own and its aliases."""
    run_command(as_json, _set_send_as(data_dir, address, senders or []))


def _read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{path} is not UTF-8.") from None
    if "\0" in text:
        raise typer.BadParameter(f"{path} is not a text file.")
    return text


def _parse_time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{option} must be a time such as 2027-08-01T18:00 or 2027-08-01.") from None


async def find_mailbox(conn: Conn, address: str) -> Mailbox:
    """The mailbox with this address, not from the trash."""
    from mailkeep.core.address import AddressError, parse_address
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.mailboxes import service

    try:
        mailbox = await service.find_by_address(conn, parse_address(address).key)
    except AddressError as error:
        raise Failure(f"{address} is not an address: it {error.reason}.", permanent=True) from None
    if mailbox is None:
        raise Failure(f"There is no mailbox {address}.", permanent=True)
    return mailbox


async def _show_vacation(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.directory.vacation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        mailbox = await find_mailbox(conn, address)
        _, vacation = await service.find(conn, cli_principal(), mailbox.id)
    return _vacation_result(mailbox, vacation, [])


async def _set_vacation(
    data_dir: Path | None, address: str, body: dict[str, Any], times: tuple[datetime | None, datetime | None]
) -> CommandResult:
    from mailkeep.features.directory.vacation import service
    from mailkeep.features.directory.vacation.model import Vacation
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            mailbox = await find_mailbox(conn, address)
        start_at, end_at = (_in_zone_of(mailbox, each) for each in times)
        vacation = Vacation(**body, start_at=start_at, end_at=end_at)
        stored, warnings = await service.write(app, cli_principal(), mailbox.id, vacation)
    return _vacation_result(mailbox, stored, warnings)


async def _switch_vacation(data_dir: Path | None, address: str, *, active: bool) -> CommandResult:
    from dataclasses import replace

    from mailkeep.core.entity_tag import IfMatch, entity_tag
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.vacation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            mailbox = await find_mailbox(conn, address)
            _, vacation = await service.find(conn, cli_principal(), mailbox.id)
        if vacation is None or vacation.updated_at is None:
            raise Failure(f"{mailbox.address} has no vacation: use `mailkeep mailbox vacation set`.", permanent=True)
        changed, version = replace(vacation, active=active), IfMatch(entity_tag(vacation.updated_at))
        stored, warnings = await service.write(app, cli_principal(), mailbox.id, changed, version)
    return _vacation_result(mailbox, stored, warnings)


async def _delete_vacation(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.directory.vacation import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            mailbox = await find_mailbox(conn, address)
        await service.delete(app, cli_principal(), mailbox.id)
    return _vacation_result(mailbox, None, [])


def _in_zone_of(mailbox: Mailbox, time: datetime | None) -> datetime | None:
    """A time without an offset is in the mailbox's time zone."""
    from datetime import UTC
    from zoneinfo import ZoneInfo

    if time is None:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=ZoneInfo(mailbox.time_zone))).astimezone(UTC)


def _vacation_result(mailbox: Mailbox, vacation: Vacation | None, warnings: Sequence[str]) -> CommandResult:
    from zoneinfo import ZoneInfo

    from mailkeep.core.clock import iso_or_none

    data: dict[str, Any] = {"address": str(mailbox.address), "active": bool(vacation and vacation.active)}
    if vacation is None:
        return CommandResult(data, [f"{mailbox.address} has no vacation."])

    def local(time: datetime | None, missing: str) -> str:
        zone = mailbox.time_zone
        return missing if time is None else f"{time.astimezone(ZoneInfo(zone)):{_FORMAT}} {zone}"

    data |= {
        "subject": vacation.subject,
        "text": vacation.text_body,
        "html": vacation.html_body,
        "start_at": iso_or_none(vacation.start_at),
        "end_at": iso_or_none(vacation.end_at),
        "days": vacation.days,
        "warnings": list(warnings),
    }
    lines = [
        f"Vacation of {mailbox.address}: {'active' if vacation.active else 'inactive'}",
        f"  from    {local(vacation.start_at, 'now')}",
        f"  until   {local(vacation.end_at, 'it is switched off')}",
        f"  replies to each sender once in {vacation.days} days",
        f"  subject {vacation.subject or 'Auto: and the subject of the message'}",
        "",
        *(vacation.text_body or vacation.html_body or "").splitlines(),
    ]
    return CommandResult(data, [*lines, *(f"Warning: {warning}" for warning in warnings)])


async def _reset_factors(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.access.accounts.model import AccountRef
    from mailkeep.run.cli.accounts import remove_factors

    async with open_app(data_dir) as app, app.db.tx() as conn:
        mailbox = await find_mailbox(conn, address)
        await remove_factors(app, conn, AccountRef("mailbox", mailbox.id))
    data = {"address": str(mailbox.address), "totp_enabled": False, "passkeys": 0}
    line = f"The owner of {mailbox.address} has no second factor now; all sessions of the owner have ended."
    return CommandResult(data, [line])


async def _show_forward(data_dir: Path | None, address: str) -> CommandResult:
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        return _forward_result(await find_mailbox(conn, address))


async def _set_forward(
    data_dir: Path | None, address: str, destinations: Sequence[str], *, keep_copy: bool
) -> CommandResult:
    from mailkeep.features.directory.mailboxes import service
    from mailkeep.features.directory.mailboxes.model import MailboxChanges
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            mailbox = await find_mailbox(conn, address)
        changes = MailboxChanges(destinations=tuple(destinations), keep_copy=keep_copy)
        return _forward_result(await service.change(app, cli_principal(), mailbox.id, changes))


def _forward_result(mailbox: Mailbox) -> CommandResult:
    destinations, keep_copy = list(mailbox.forward.destinations), mailbox.forward.keep_copy
    data = {"address": str(mailbox.address), "destinations": destinations, "keep_copy": keep_copy}
    if not destinations:
        return CommandResult(data, [f"{mailbox.address} does not forward its mail."])
    copy = "and keeps a copy" if keep_copy else "and keeps no copy"
    return CommandResult(data, [f"{mailbox.address} forwards its mail to {', '.join(destinations)} {copy}."])


async def _show_send_as(data_dir: Path | None, address: str) -> CommandResult:
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        return _send_as_result(await find_mailbox(conn, address))


async def _set_send_as(data_dir: Path | None, address: str, senders: Sequence[str]) -> CommandResult:
    from mailkeep.features.directory.mailboxes import service
    from mailkeep.features.directory.mailboxes.model import MailboxChanges
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            mailbox = await find_mailbox(conn, address)
        changes = MailboxChanges(send_as=tuple(senders))
        return _send_as_result(await service.change(app, cli_principal(), mailbox.id, changes))


def _send_as_result(mailbox: Mailbox) -> CommandResult:
    from mailkeep.features.directory.mailboxes import rules

    senders = rules.send_as_texts(mailbox)
    data = {"address": str(mailbox.address), "send_as": senders}
    if not senders:
        return CommandResult(data, [f"{mailbox.address} sends only from its own address and its aliases."])
    return CommandResult(data, [f"{mailbox.address} may also send from {', '.join(senders)}."])
