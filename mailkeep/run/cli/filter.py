"""`mailkeep filter`: settings, lists, and the test of a decision, of the server, a domain or a mailbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mailkeep.run.cli import filter_lists
from mailkeep.run.cli.filter_lists import DomainName, MailboxAddress, Owner, open_owner
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, run_command, table

if TYPE_CHECKING:
    from mailkeep.features.mailflow.filtering.model import OwnerValues

_INHERIT = "inherit"
_NAMES = ("junk_score", "reject_score", "digest", "learn")

_NO_FILTER = "none; the embedded profile has no spam filter, and only the test string GTUBE gives a score"
_ResultOption = Literal["pass", "fail", "none", "softfail", "neutral", "temperror", "permerror"]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Filtering of incoming mail: scores, allow and deny lists. Of the server, a domain or a mailbox.",
    )
    add = group.command
    add("show", epilog=examples("mailkeep filter show", "mailkeep filter show --mailbox alice@example.com"))(show)
    add(
        "set",
        epilog=examples(
            "mailkeep filter set junk_score=6 reject_score=15",
            "mailkeep filter set junk_score=off digest=inherit --mailbox alice@example.com",
        ),
    )(set_values)
    filter_lists.add_commands(group)
    add(
        "test",
        epilog=examples(
            "mailkeep filter test --from ann@partner.example --score 9 --dmarc pass --mailbox alice@example.com",
            "mailkeep filter test --message-id 0199a1b2-a561-7527-8ce6-b3bebd1dd012 --mailbox alice@example.com",
        ),
    )(explain_message)
    app.add_typer(group, name="filter")


def show(
    domain: DomainName = None, mailbox: MailboxAddress = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Show the settings in force, and where each is set."""
    run_command(as_json, _show(Owner(data_dir, domain, mailbox)))


def set_values(
    assignments: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help="junk_score and reject_score (a number or off), digest (off, daily, weekly), learn (true, false); "
            "inherit: as the wider scope, or the default.",
        ),
    ],
    domain: DomainName = None,
    mailbox: MailboxAddress = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Change settings. They apply to the next message."""
    body: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} is not NAME=VALUE, such as junk_score=6.")
        if name not in _NAMES:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(_NAMES)}.")
        body[name] = _value(text)
    run_command(as_json, _set(Owner(data_dir, domain, mailbox), body))


def explain_message(
    sender: Annotated[str | None, typer.Option("--mail-from", metavar="ADDRESS", help="The envelope sender.")] = None,
    author: Annotated[str | None, typer.Option("--from", metavar="ADDRESS", help="The author (From).")] = None,
    client: Annotated[str | None, typer.Option("--client", metavar="IP", help="The client's IP address.")] = None,
    score: Annotated[float | None, typer.Option("--score", help="The filter's score.")] = None,
    spf: Annotated[_ResultOption, typer.Option("--spf", help="The result of SPF.")] = "none",
    dkim: Annotated[_ResultOption, typer.Option("--dkim", help="The result of DKIM for the author's domain.")] = "none",
    dmarc: Annotated[_ResultOption, typer.Option("--dmarc", help="The result of DMARC.")] = "none",
    message_id: Annotated[
        str | None, typer.Option("--message-id", metavar="ID", help="Instead: a message of the history.")
    ] = None,
    domain: DomainName = None,
    mailbox: MailboxAddress = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Explain what would happen to a message, step by step. Nothing is changed or counted."""
    body: dict[str, Any] = {"mail_from": sender, "from": author, "client_address": client, "score": score}
    if message_id is None:
        body["auth"] = {"spf": spf, "dkim": dkim, "dmarc": dmarc}
    else:
        body["message_id"] = message_id
    run_command(as_json, _test(Owner(data_dir, domain, mailbox), body))


def _value(text: str) -> Any:
    try:
        return {_INHERIT: None, "true": True, "false": False}[text]
    except KeyError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


async def _show(owner: Owner) -> CommandResult:
    from mailkeep.features.mailflow.filtering import service
    from mailkeep.features.operations.server_filtering import service as server
    from mailkeep.run.cli.accounts import cli_principal

    async with open_owner(owner) as (app, ref):
        if ref.scope == "server":
            values, _ = await server.get(app)
        else:
            values = await service.get_values(app, cli_principal(), ref)
        return _values_result(values, is_full_profile=app.settings.is_full_profile)


async def _set(owner: Owner, body: dict[str, Any]) -> CommandResult:
    from mailkeep.core.entity_tag import ANY_VERSION
    from mailkeep.features.mailflow.filtering import service
    from mailkeep.features.operations.server_filtering import service as server
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.web.decode import decode_body

    patch = decode_body(body, service.FilteringPatch)
    who = cli_principal()
    async with open_owner(owner) as (app, ref):
        if ref.scope == "server":
            values, _ = await server.change(app, who, service.read_patch(patch))
        else:
            values = await service.change_values(app, who, ref, service.read_change(patch), ANY_VERSION)
        return _values_result(values, is_full_profile=app.settings.is_full_profile)


def _values_result(values: OwnerValues, *, is_full_profile: bool) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.features.mailflow.filtering import service

    data = to_builtins(service.to_record(values))
    rows = [[name, _format(field["value"]), field["scope"]] for name, field in data["effective"].items()]
    training = _describe_training(data["training"]) if is_full_profile else _NO_FILTER
    return CommandResult(data, [*table(["SETTING", "VALUE", "SET BY"], rows), "", f"Training: {training}"])


def _describe_training(training: Mapping[str, Any]) -> str:
    if training["state"] == "unavailable":
        return "unknown, because the spam filter does not answer"
    learned = f"{training['spam_learned']} spam, {training['ham_learned']} wanted"
    needed = f"; it has no effect before {training['required']} of each" if training["state"] == "collecting" else ""
    return f"{training['state']} ({learned}{needed})"


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


async def _test(owner: Owner, body: dict[str, Any]) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.features.mailflow.filter_test import service
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.web.decode import decode_body

    tested = service.read_test(decode_body(body, service.FilterTest))
    async with open_owner(owner) as (app, ref):
        trial = await service.try_message(app, cli_principal(), ref, tested)
    data = to_builtins(service.to_test_result(trial))
    lines = [f"{each['at']:8}  {each['step']}: {each['result']}" for each in data["steps"]]
    return CommandResult(data, [*lines, "", f"Result: {data['action']} (at {data['at']})"])
