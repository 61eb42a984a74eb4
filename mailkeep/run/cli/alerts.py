"""`mailkeep alerts`: what an administrator should look at, about the health of the server and about abuse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.features.record.alerts.model import Alert

AlertId = Annotated[str, typer.Argument(metavar="ID", help="The alert's ID.")]
Note = Annotated[str, typer.Option(help="What others should know.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    alerts = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Problems of the server and about abuse that last."
    )
    alerts.command("list", epilog=examples("mailkeep alerts list", "mailkeep alerts list --all"))(list_alerts)
    identifier = "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37"
    alerts.command("acknowledge", epilog=examples(f"mailkeep alerts acknowledge {identifier}"))(acknowledge)
    alerts.command("resolve", epilog=examples(f"mailkeep alerts resolve {identifier} --note 'The disk is larger.'"))(
        resolve
    )
    app.add_typer(alerts, name="alerts")


def list_alerts(
    all_alerts: Annotated[bool, typer.Option("--all", help="Also those that are resolved.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the latest 200 alerts about health and the latest 200 about abuse."""
    run_command(as_json, _list(data_dir, None if all_alerts else "unresolved"))


def acknowledge(alert_id: AlertId, note: Note = "", data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Look after an alert: nobody is reminded of it any more."""
    run_command(as_json, _change(data_dir, alert_id, note, "acknowledge"))


def resolve(alert_id: AlertId, note: Note = "", data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """End an alert. A problem that is seen again opens another one; a suspension that stays does not."""
    run_command(as_json, _change(data_dir, alert_id, note, "resolve"))


async def _list(data_dir: Path | None, state: Literal["unresolved"] | None) -> CommandResult:
    from mailkeep.core.page import PageRequest
    from mailkeep.features.record.alerts import service
    from mailkeep.features.record.alerts.model import AlertFilter, Area

    request = PageRequest(200, "created_at", "desc", None)
    found: list[Alert] = []
    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        for area in get_args(Area):
            page = await service.page(conn, cli_principal(), AlertFilter(area, None, state), request)
            found += page.rows
    data = [_to_json(each) for each in found]
    columns = ("subject", "kind", "severity", "state", "created_at", "reason", "id")
    rows = [[each[column] for column in columns] for each in data]
    return CommandResult(
        {"alerts": data}, table(["ABOUT", "KIND", "SEVERITY", "STATE", "SINCE", "PROBLEM", "ID"], rows)
    )


async def _change(
    data_dir: Path | None, alert_id: str, note: str, change: Literal["acknowledge", "resolve"]
) -> CommandResult:
    from mailkeep.core.errors import NotFound
    from mailkeep.core.ids import parse_uuid
    from mailkeep.features.record.alerts import service
    from mailkeep.features.record.alerts.model import AlertChange

    parsed = parse_uuid(alert_id)
    async with open_app(data_dir) as app, app.db.tx() as conn:
        area = parsed and await service.find_area(conn, parsed)
        if parsed is None or area is None:
            raise NotFound(f"{alert_id} is not the ID of an alert; `mailkeep alerts list` shows them.")
        function = service.acknowledge if change == "acknowledge" else service.resolve
        alert = await function(conn, cli_principal(), app.clock(), AlertChange(area, parsed, note or None))
    return CommandResult(_to_json(alert), [f"The alert about {alert.subject} is {alert.state}."])


def _to_json(alert: Alert) -> dict[str, Any]:
    import msgspec

    from mailkeep.features.record.alerts import service

    return msgspec.to_builtins(service.to_response(alert))
