"""`mailkeep abuse` and `mailkeep thresholds`: who misbehaves, and the limits of domains and mailboxes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.mailflow.abuse_overview.model import AbuseOverview
    from mailkeep.features.mailflow.thresholds.model import ThresholdSubject

_OF = "A domain, or the address of a mailbox."


def register(app: typer.Typer) -> None:
    """Add these commands."""
    abuse = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Who sends too much, and guesses passwords.")
    abuse.command("overview", epilog=examples("mailkeep abuse overview", "mailkeep abuse overview example.com"))(
        overview
    )
    app.add_typer(abuse, name="abuse")
    thresholds = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Limits and thresholds for sending and forwarding."
    )
    thresholds.command(
        "show",
        epilog=examples(
            "mailkeep thresholds show",
            "mailkeep thresholds show example.com",
            "mailkeep thresholds show alice@example.com",
        ),
    )(show)
    thresholds.command(
        "set",
        epilog=examples(
            "mailkeep thresholds set example.com sender_per_hour=500 forward_per_hour=2000",
            "mailkeep thresholds set alice@example.com sender_per_hour=default",
        ),
    )(set_thresholds)
    app.add_typer(thresholds, name="thresholds")


def overview(
    domain: Annotated[str, typer.Argument(metavar="[DOMAIN]", help="Only of this domain.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show suspended senders, who is near a limit or sends most, spikes, and failed sign-ins of the last hour."""
    run_command(as_json, _overview(data_dir, domain))


def show(
    subject: Annotated[str, typer.Argument(metavar="[SUBJECT]", help=_OF)] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show the values in force for all, a domain or a mailbox, and where each is set."""
    run_command(as_json, _show(data_dir, subject))


def set_thresholds(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help=_OF)],
    values: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE…", help="`default`: as the domain or the settings.")
    ],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Set values of a domain or mailbox. Those of all are settings: `mailkeep config set abuse.sender_per_hour=500`."""
    run_command(as_json, _set(data_dir, subject, dict(_split(each) for each in values)))


def _split(assignment: str) -> tuple[str, str]:
    name, equals, value = assignment.partition("=")
    if not equals:
        raise typer.BadParameter(f"{assignment!r} is not NAME=VALUE.")
    return name, value


async def _overview(data_dir: Path | None, domain: str) -> CommandResult:
    import msgspec

    from mailkeep.features.mailflow.abuse_overview import service

    async with open_app(data_dir) as app, app.db.tx() as conn:
        found = await _find_subject(conn, domain, of_mailboxes=False) if domain else None
        shown = await service.read(app, conn, cli_principal(), found and found.domain_id)
    return CommandResult(msgspec.to_builtins(shown), _lines(shown))


def _lines(shown: AbuseOverview) -> list[str]:
    from mailkeep.core.clock import iso, iso_or_none

    return [
        *_section(
            "Suspended",
            ["ADDRESS", "SINCE", "REASON"],
            [[x.address, iso(x.created_at), x.reason] for x in shown.suspended],
        ),
        *_section(
            "Near a limit",
            ["WHO", "LIMIT", "USED", "OF"],
            [[x.subject, x.name, x.used, x.limit] for x in shown.near_limit],
        ),
        *_section(
            "Spikes", ["WHO", "SINCE", "PROBLEM"], [[x.subject, iso(x.created_at), x.reason] for x in shown.spikes]
        ),
        *_section(
            "Top senders of the last hour",
            ["ADDRESS", "RECIPIENTS", "OF"],
            [[x.subject, x.used, x.limit] for x in shown.top_senders],
        ),
        *_section(
            "Failed sign-ins of the last hour, by address",
            ["FROM", "FAILURES", "ACCOUNTS", "BLOCKED UNTIL"],
            [[x.name, x.failures, x.others, iso_or_none(x.blocked_until) or "-"] for x in shown.failures_by_address],
        ),
        *_section(
            "Failed sign-ins of the last hour, by account",
            ["ACCOUNT", "FAILURES", "ADDRESSES", "BLOCKED UNTIL"],
            [
                [x.name.replace(":", " ", 1), x.failures, x.others, iso_or_none(x.blocked_until) or "-"]
                for x in shown.failures_by_account
            ],
        ),
    ]


def _section(title: str, titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return [f"{title}:", *[f"  {line}" for line in (table(titles, rows) if rows else ["none"])]]


async def _show(data_dir: Path | None, subject: str) -> CommandResult:
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        return await _read(app, conn, await _find_subject(conn, subject) if subject else None)


async def _set(data_dir: Path | None, name: str, texts: dict[str, str]) -> CommandResult:
    from mailkeep.core.errors import invalid_field
    from mailkeep.features.mailflow.thresholds import service
    from mailkeep.settings import SETTING_FIELDS

    async with open_app(data_dir) as app, app.db.tx() as conn:
        subject = await _find_subject(conn, name)
        known, _, _ = await service.read(app, conn, subject)
        changes: dict[str, Any] = {}
        for each, text in texts.items():
            if each not in known:
                raise invalid_field(each, f"is no threshold of {name}; it has {', '.join(known)}")
            field = SETTING_FIELDS[f"abuse.{each}"]
            try:
                changes[each] = None if text == "default" else field.base(text)
            except ValueError:
                raise invalid_field(each, f"must be {field.expectation}, or `default` (got {text!r})") from None
        await service.change(app, conn, cli_principal(), subject, changes)
        return await _read(app, conn, subject)


async def _read(app: App, conn: Conn, subject: ThresholdSubject | None) -> CommandResult:
    from mailkeep.features.mailflow.thresholds import service

    effective, _, _ = await service.read(app, conn, subject)
    data = {name: {"value": each.value, "source": each.source} for name, each in effective.items()}
    rows = [[name, f"{each.value:.10g}", each.source] for name, each in effective.items()]
    return CommandResult({"values": data}, table(["NAME", "VALUE", "FROM"], rows))


async def _find_subject(conn: Conn, name: str, *, of_mailboxes: bool = True) -> ThresholdSubject:
    """The domain or mailbox with this name. NOT_FOUND."""
    from mailkeep.core.address import parse_address
    from mailkeep.core.errors import NotFound
    from mailkeep.features.directory.domains import service as domains
    from mailkeep.features.directory.mailboxes import service as mailboxes
    from mailkeep.features.mailflow.thresholds.model import ThresholdSubject

    if "@" in name and of_mailboxes:
        mailbox = await mailboxes.find_by_address(conn, parse_address(name).key)
        if mailbox is None:
            raise NotFound(f"There is no mailbox {name}.")
        return ThresholdSubject(mailbox.domain_id, mailbox.domain_name, mailbox.id, mailbox.address)
    domain = await domains.find_by_name(conn, name.lower())
    if domain is None:
        raise NotFound(f"There is no domain {name}.")
    return ThresholdSubject(domain.id, domain.name)
