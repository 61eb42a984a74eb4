"""`mailkeep incidents`: what to do at once about a mailbox, an API key or an administrator."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.features.mailflow.incidents.model import Incident


class SubjectKind(StrEnum):
    """What an incident can be about."""

    MAILBOX = "mailbox"
    API_KEY = "api_key"
    ADMIN = "admin"


class ActionName(StrEnum):
    """What an incident can do (`mailflow/incidents`)."""

    SUSPEND = "suspend"
    DISABLE_SIGN_IN = "disable_sign_in"
    DISABLE_KEYS = "disable_keys"
    DISABLE_APP_PASSWORDS = "disable_app_passwords"
    BLOCK_APP_PASSWORDS = "block_app_passwords"
    DISABLE_FORWARDS = "disable_forwards"
    DISABLE_SIEVE = "disable_sieve"
    END_SESSIONS = "end_sessions"
    HOLD_QUEUE = "hold_queue"
    DELETE_QUEUE = "delete_queue"


def register(app: typer.Typer) -> None:
    """Add these commands."""
    incidents = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Suspend, disable and hold in one step what could be misused, and undo it.",
    )
    incidents.command("list", epilog=examples("mailkeep incidents list --open"))(list_incidents)
    incidents.command(
        "create",
        epilog=examples(
            "mailkeep incidents create alice@example.com --action suspend --action disable_sign_in --note phishing",
            "mailkeep incidents create bob@example.com --type admin --action suspend",
        ),
    )(create)
    incidents.command("undo", epilog=examples("mailkeep incidents undo 0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37"))(undo)
    app.add_typer(incidents, name="incidents")


def list_incidents(
    only_open: Annotated[bool, typer.Option("--open", help="Only those that are not undone.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the latest 200 incidents, the newest first."""
    run_command(as_json, _list(data_dir, "open" if only_open else None))


def create(
    subject: Annotated[
        str,
        typer.Argument(metavar="SUBJECT", help="The address of the mailbox, email of the account, or ID of the key."),
    ],
    actions: Annotated[list[ActionName], typer.Option("--action", help="What to do; may be repeated.")],
    kind: Annotated[SubjectKind, typer.Option("--type", help="What the incident is about.")] = SubjectKind.MAILBOX,
    note: Annotated[str, typer.Option(help="Why.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Carry out actions at once. Each is carried out even if another one fails."""
    run_command(as_json, _create(data_dir, (kind, subject), actions, note))


def undo(
    incident_id: Annotated[str, typer.Argument(metavar="ID", help="The incident's ID.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Restore what an incident suspended, disabled or held."""
    run_command(as_json, _undo(data_dir, incident_id))


async def _list(data_dir: Path | None, state: Literal["open"] | None) -> CommandResult:
    from mailkeep.core.page import PageRequest
    from mailkeep.features.mailflow.incidents import service
    from mailkeep.features.mailflow.incidents.model import IncidentFilter

    filters = IncidentFilter(None, state=state)
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        page = await service.page(conn, cli_principal(), filters, PageRequest(200, "created_at", "desc", None))
    data = [_to_json(each) for each in page.rows]
    rows = [
        [
            each["subject"],
            each["subject_type"],
            "undone" if each["undone_at"] else "open",
            ", ".join(action["action"] for action in each["actions"]),
            each["created_at"],
            each["id"],
        ]
        for each in data
    ]
    return CommandResult({"incidents": data}, table(["ABOUT", "TYPE", "STATE", "ACTIONS", "OPENED", "ID"], rows))


async def _create(
    data_dir: Path | None, subject: tuple[SubjectKind, str], names: list[ActionName], note: str
) -> CommandResult:
    from mailkeep.features.mailflow.incidents import rules, service
    from mailkeep.features.mailflow.incidents.model import NewIncident

    kind = subject[0].value
    async with open_app(data_dir) as app:
        ordered = rules.order_actions(kind, [each.value for each in names])
        subject_id = await _find_subject(app, *subject)
        incident = await service.create(app, cli_principal(), NewIncident(kind, subject_id, ordered, note))
    lines = [f"{each.action}: {each.result}{_explain(each.error)}" for each in incident.actions]
    return CommandResult(_to_json(incident), [f"Incident {incident.id} about {incident.subject}:", *lines])


async def _undo(data_dir: Path | None, incident_id: str) -> CommandResult:
    from mailkeep.core.errors import NotFound
    from mailkeep.core.ids import parse_uuid
    from mailkeep.features.mailflow.incidents import service

    parsed = parse_uuid(incident_id)
    if parsed is None:
        raise NotFound(f"{incident_id} is not the ID of an incident; `mailkeep incidents list` shows them.")
    async with open_app(data_dir) as app:
        incident = await service.undo(app, cli_principal(), parsed)
    lines = [
        f"{each.action}: {each.undo}{_explain(each.error) if each.undo == 'failed' else ''}"
        for each in incident.actions
    ]
    return CommandResult(_to_json(incident), lines)


async def _find_subject(app: App, kind: SubjectKind, subject: str) -> UUID:
    from mailkeep.core.address import parse_address
    from mailkeep.core.errors import NotFound
    from mailkeep.core.ids import parse_uuid
    from mailkeep.features.access.admins import service as admins
    from mailkeep.features.directory.mailboxes import service as mailboxes

    found = None
    if kind is SubjectKind.API_KEY:
        found = parse_uuid(subject)
    elif "@" in subject:
        address = parse_address(subject)
        async with app.db.autocommit() as conn:
            owner = (
                await mailboxes.find_by_address(conn, address.key)
                if kind is SubjectKind.MAILBOX
                else await admins.find_by_email(conn, address)
            )
        found = owner and owner.id
    if found is None:
        raise NotFound(f"There is no {kind.value} {subject}.")
    return found


def _explain(error: Any) -> str:
    return f" ({error['message']})" if error else ""


def _to_json(incident: Incident) -> dict[str, Any]:
    import msgspec

    return msgspec.to_builtins(incident)
