"""Commands that show the routing of an address, the OpenAPI document and the version."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.features.directory.routing.model import RouteExplanation


def register(app: typer.Typer) -> None:
    """Add these commands."""
    routing = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Routing.")
    routing.command("explain", epilog=examples("mailkeep routing explain sales+spring@example.com"))(explain)
    app.add_typer(routing, name="routing")
    app.command("openapi", epilog=examples("mailkeep openapi > openapi.json"))(openapi)
    app.command("version", epilog=examples("mailkeep version", "mailkeep version --json"))(version)


def explain(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The whole address, with its tag if it has one.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Explain the routing of an address, step by step.

    The mail server decides with the same database function.
    """
    run_command(as_json, _explain(data_dir, address))


def openapi(as_json: AsJson = False) -> None:
    """Print the OpenAPI document of the API.

    OpenAPI 3.1, indented, or with --json on one line.
    """
    run_command(as_json, _openapi())


def version(as_json: AsJson = False) -> None:
    """Print the version of Mailkeep."""
    run_command(as_json, _version())


async def _explain(data_dir: Path | None, address: str) -> CommandResult:
    from mailkeep.features.directory.routing import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        explanation = await service.explain(conn, cli_principal(), address)
    data = {
        "address": address,
        "decision": explanation.route.decision,
        "steps": [
            {"step": each.step, "result": each.result, "address": each.address, "row": each.row}
            for each in explanation.steps
        ],
        "deliveries": [
            {"type": each.type, "address": each.address, "mailbox_id": each.mailbox_id}
            for each in explanation.route.deliveries
        ],
        "warnings": explanation.warnings,
    }
    return CommandResult(data, _format_explanation(explanation))


_DESTINATIONS = {"mailbox": "mailbox", "external": "external address", "report": "the reader of reports,"}


def _format_explanation(explanation: RouteExplanation) -> list[str]:
    steps = table(
        ["STEP", "RESULT", "ADDRESS", "MATCH"],
        [[each.step, each.result, each.address, _format_match(each.row)] for each in explanation.steps],
    )
    return [
        *steps,
        "",
        f"Decision: {explanation.route.decision}",
        *(f"  to {_DESTINATIONS[each.type]} {each.address}" for each in explanation.route.deliveries),
        *(f"Warning: {warning}" for warning in explanation.warnings),
    ]


def _format_match(row: Mapping[str, Any] | None) -> str:
    if not row:
        return ""
    if "destinations" in row:
        return ", ".join(row["destinations"])
    address = str(row.get("address") or row.get("name") or row.get("id"))
    return f"*{address}" if address.startswith("@") else address  # a catch-all is shown as *@domain


async def _openapi() -> CommandResult:
    import json

    from mailkeep import __version__
    from mailkeep.run.runtime.router import ENDPOINTS
    from mailkeep.web.openapi import document

    data = document(ENDPOINTS, __version__)
    return CommandResult(data, json.dumps(data, ensure_ascii=False, indent=2).splitlines())


async def _version() -> CommandResult:
    import platform

    from mailkeep import __version__

    return CommandResult({"version": __version__, "python": platform.python_version()}, [f"mailkeep {__version__}"])
