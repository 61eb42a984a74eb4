"""`mailkeep template`: list, show, render and publish templates, and move them between servers as files."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mailkeep.core.errors import Conflict, Failure, NotFound, Refusal, invalid_field
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command, table

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.mailflow.templates.model import NewTemplate, Template, TemplateContent

_PAGE = 200
_MAX_FILE_BYTES = 64 << 20

Name = Annotated[str, typer.Argument(metavar="TEMPLATE", help="Its ID, or its name.")]
Domain = Annotated[
    str | None, typer.Option("--domain", metavar="NAME", help="Only templates of this domain. Default: all.")
]
Version = Annotated[int | None, typer.Option("--version", min=1, help="This version. Default: the draft.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    template = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Templates of messages.")
    listing = examples("mailkeep template list", "mailkeep template list --domain example.com --search order")
    template.command("list", epilog=listing)(list_templates)
    showing = examples('mailkeep template show "Order sent"', 'mailkeep template show "Order sent" --version 2')
    template.command("show", epilog=showing)(show)
    template.command("render", epilog=examples('mailkeep template render "Order sent" --values order.json'))(render)
    publishing = examples(
        'mailkeep template publish "Order sent"', 'mailkeep template publish "Order sent" --version 2'
    )
    template.command("publish", epilog=publishing)(publish)
    exporting = examples(
        "mailkeep template export > templates.json", 'mailkeep template export "Order sent" > order.json'
    )
    template.command("export", epilog=exporting)(export)
    importing = examples(
        "mailkeep template import templates.json",
        "mailkeep template import order.json --domain example.com --publish",
    )
    template.command("import", epilog=importing)(import_templates)
    app.add_typer(template, name="template")


def list_templates(
    domain: Domain = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="Only those with this text in their name.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List templates, with the version that is sent and the number of the draft."""
    run_command(as_json, _list(data_dir, domain, search))


def show(
    template: Name, domain: Domain = None, version: Version = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Show a template: the draft, or a version."""
    run_command(as_json, _show(data_dir, template, domain, version))


def render(
    template: Name,
    domain: Domain = None,
    version: Version = None,
    values: Annotated[
        str | None,
        typer.Option("--values", metavar="FILE", help="A JSON object with values of variables; - is stdin."),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Render a template and print the message. Nothing is sent.

    The examples of variables stand for values that are not given.
    """
    run_command(as_json, _render(data_dir, (template, domain), version, values))


def publish(
    template: Name, domain: Domain = None, version: Version = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Publish the draft, or an earlier version again: messages accepted from now on use it."""
    run_command(as_json, _publish(data_dir, template, domain, version))


def export(
    template: Annotated[
        str | None, typer.Argument(metavar="[TEMPLATE]", help="Its ID, or its name. Default: all.")
    ] = None,
    domain: Domain = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the drafts of templates as JSON, for `mailkeep template import`."""
    run_command(as_json, _export(data_dir, template, domain))


def import_templates(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The output of `template export`; - is stdin.")],
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="NAME", help="Import them into this domain, not that of the file.")
    ] = None,
    publish: Annotated[bool, typer.Option("--publish", help="Publish them as well.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create templates, or change the drafts of those that a domain has with the same name: all, or none.

    Without --publish, what is sent stays as it is.
    """
    run_command(as_json, _import(data_dir, file, domain, publishes=publish))


@asynccontextmanager
async def _open(data_dir: Path | None) -> AsyncGenerator[App]:
    async with open_app(data_dir) as app:
        try:
            yield app
        finally:
            await app.renderer.close()


async def _list(data_dir: Path | None, domain: str | None, search: str | None) -> CommandResult:
    async with _open(data_dir) as app, app.db.autocommit() as conn:
        found = await _read_all(conn, domain, search)
    rows = [
        [each.id, each.name, each.domain_name or "all", each.published_version or "never", _draft(each)]
        for each in found
    ]
    data = {"templates": [_to_json(each) for each in found]}
    return CommandResult(data, table(["ID", "NAME", "DOMAIN", "PUBLISHED", "DRAFT"], rows))


async def _show(data_dir: Path | None, name: str, domain: str | None, version: int | None) -> CommandResult:
    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    async with _open(data_dir) as app, app.db.autocommit() as conn:
        template = await _find(conn, name, domain)
        content = template.content
        if version is not None and (version != template.version or template.is_draft_published):
            content = (await service.get_version(conn, cli_principal(), template.id, version))[1].content
    shown = template.version if version is None else version
    variables = [f"{each.name}{'' if each.required else ' (optional)'}" for each in content.variables]
    lines = [
        f"ID         {template.id}",
        f"Name       {template.name}",
        f"Domain     {template.domain_name or 'all'}",
        f"Published  {template.published_version or 'never'}",
        f"Draft      {_draft(template)}",
        f"Shown      version {shown}",
        f"Variables  {', '.join(variables) or 'none'}",
        *_message_lines(content.subject, content.text_body, content.html_body),
    ]
    return CommandResult(_to_json(template) | {"shown_version": shown} | _content_json(content), lines)


async def _render(
    data_dir: Path | None, template: tuple[str, str | None], version: int | None, values: str | None
) -> CommandResult:
    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    given = {} if values is None else _read_json(values)
    async with _open(data_dir) as app:
        async with app.db.autocommit() as conn:
            found = await _find(conn, *template)
        rendered = await service.render(app, cli_principal(), found.id, version, given)
    names = ("version", "subject", "text_body", "html_body", "text_derived")
    lines = _message_lines(rendered.subject, rendered.text_body, rendered.html_body)
    return CommandResult({name: getattr(rendered, name) for name in names}, lines)


async def _publish(data_dir: Path | None, name: str, domain: str | None, version: int | None) -> CommandResult:
    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    async with _open(data_dir) as app, app.db.tx() as conn:
        template = await _find(conn, name, domain)
        template = await service.publish(conn, cli_principal(), app.clock(), template.id, version)
    return CommandResult(_to_json(template), [f"Version {template.published_version} of {template.name} is published."])


async def _export(data_dir: Path | None, name: str | None, domain: str | None) -> CommandResult:
    import json

    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    async with _open(data_dir) as app, app.db.autocommit() as conn:
        found = [await _find(conn, name, domain)] if name is not None else await _read_all(conn, domain, None)
        drafts = [await service.get(conn, cli_principal(), each.id) for each in found]  # lists have no bodies
    data = {
        "templates": [{"name": each.name, "domain": each.domain_name} | _content_json(each.content) for each in drafts]
    }
    return CommandResult(data, json.dumps(data, ensure_ascii=False, indent=2).splitlines())


async def _import(data_dir: Path | None, file: str, domain: str | None, *, publishes: bool) -> CommandResult:
    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    read = _read_templates(_read_json(file))
    who = cli_principal()
    imported: list[tuple[str, Template]] = []
    async with _open(data_dir) as app:
        uses: list[service.Uses] = []
        for _, new in read:
            with _naming(new.name):
                uses.append(await service.check_parts(app, _parts(new.content)))
        async with app.db.tx() as conn:
            for (own_domain, new), used in zip(read, uses, strict=True):
                with _naming(new.name):
                    done, template = await _import_one(app, conn, domain or own_domain, new, used)
                    if publishes:
                        template = await service.publish(conn, who, app.clock(), template.id, None)
                    imported.append((done, template))
    lines = [
        f"{each.name} ({each.domain_name or 'all domains'}): {done}, "
        + (f"version {each.published_version} is published" if publishes else f"draft {_draft(each)}")
        for done, each in imported
    ]
    return CommandResult({"templates": [_to_json(each) | {"result": done} for done, each in imported]}, lines)


async def _import_one(
    app: App, conn: Conn, domain: str | None, new: NewTemplate, uses: Mapping[str, Sequence[str]]
) -> tuple[str, Template]:
    """What was done (created, changed or unchanged), and the template."""
    from dataclasses import asdict, replace

    from mailkeep.features.mailflow.templates import service
    from mailkeep.features.mailflow.templates.model import TemplateChanges
    from mailkeep.run.cli.accounts import cli_principal

    who, at = cli_principal(), app.clock()
    domain_id = await _find_domain(conn, domain) if domain else None
    same_name = [
        each for each in await _read_all(conn, domain, new.name) if (each.name, each.domain_id) == (new.name, domain_id)
    ]
    if not same_name:
        return "created", await service.create(conn, who, at, replace(new, domain_id=domain_id), uses)
    before = same_name[0]
    content = asdict(new.content) | {"variables": new.content.variables}
    after = await service.change(conn, who, at, before.id, TemplateChanges(None, content), uses)
    return ("unchanged" if after.updated_at == before.updated_at else "changed"), after


@contextmanager
def _naming(name: str) -> Generator[None]:
    """Say which template of a file a refusal is about."""
    try:
        yield
    except Refusal as refusal:
        refusal.message = f"{name}: {refusal.message}"
        raise


def _read_templates(data: Mapping[str, Any]) -> list[tuple[str | None, NewTemplate]]:
    """The templates of a file, each with the name of its domain."""
    from mailkeep.features.mailflow.templates import service

    listed = data.get("templates")
    if not isinstance(listed, list) or not listed:
        raise invalid_field("templates", "must be a list with at least one template")
    read: list[tuple[str | None, NewTemplate]] = []
    for index, each in enumerate(cast(list[Any], listed)):
        fields = dict(cast(dict[str, Any], each)) if isinstance(each, dict) else None
        domain = fields.pop("domain", None) if fields is not None else None
        if fields is None or not isinstance(domain, str | None):
            raise invalid_field(f"templates[{index}]", "must be an object, whose domain is a name or null")
        with _naming(f"templates[{index}]"):
            read.append((domain, service.read_new(fields)))
    return read


def _read_json(file: str) -> dict[str, Any]:
    import json

    try:
        raw = sys.stdin.buffer.read(_MAX_FILE_BYTES + 1) if file == "-" else Path(file).read_bytes()
        data = json.loads(raw.decode("utf-8-sig")) if len(raw) <= _MAX_FILE_BYTES else None
    except ValueError as error:
        raise Failure(f"{file} is no JSON: {error}", permanent=True) from error
    if not isinstance(data, dict):
        raise Failure(f"{file} must have a JSON object of at most {_MAX_FILE_BYTES >> 20} MiB.", permanent=True)
    return cast(dict[str, Any], data)


async def _find(conn: Conn, name: str, domain: str | None) -> Template:
    """The template with this ID or name. NOT_FOUND; CONFLICT for a name that several domains use."""
    from mailkeep.core.ids import parse_uuid
    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    template_id: UUID | None = parse_uuid(name)
    if template_id is None:
        found = [each for each in await _read_all(conn, domain, name) if each.name == name]
        if len(found) > 1:
            listed = ", ".join(f"{each.id} ({each.domain_name or 'all domains'})" for each in found)
            raise Conflict(f"Several templates have this name. Use --domain, or the ID: {listed}.", reason="ambiguous")
        if not found:
            raise NotFound(f"There is no template {name}{f' of {domain}' if domain else ''}.")
        template_id = found[0].id
    return await service.get(conn, cli_principal(), template_id)


async def _read_all(conn: Conn, domain: str | None, search: str | None) -> list[Template]:
    """The templates by name, without bodies."""
    from mailkeep.core.page import PageRequest
    from mailkeep.features.mailflow.templates import service
    from mailkeep.run.cli.accounts import cli_principal

    domain_id = await _find_domain(conn, domain) if domain is not None else None
    found: list[Template] = []
    after: Any = None
    while True:
        page_request = PageRequest(_PAGE, "name", "asc", after)
        page = await service.page(conn, cli_principal(), domain_id, search, page_request)
        found += page.rows
        after = page.next_key
        if after is None:
            return found


async def _find_domain(conn: Conn, name: str) -> UUID:
    from mailkeep.run.cli.accounts import find_domain_ids

    [domain_id] = await find_domain_ids(conn, [name])
    return domain_id


def _draft(template: Template) -> str:
    return f"{template.version}{' (published)' if template.is_draft_published else ''}"


def _parts(content: TemplateContent) -> dict[str, str | None]:
    return {"subject": content.subject, "text_body": content.text_body, "html_body": content.html_body}


def _message_lines(subject: str, text_body: str | None, html_body: str | None) -> list[str]:
    lines = [f"Subject    {subject}"]
    for title, body in (("Text", text_body), ("HTML", html_body)):
        if body is not None:
            lines += ["", f"{title}:", *body.splitlines()]
    return lines


def _to_json(template: Template) -> dict[str, Any]:
    return {
        "id": template.id,
        "name": template.name,
        "domain": template.domain_name,
        "version": template.version,
        "published_version": template.published_version,
        "unpublished_changes": not template.is_draft_published,
    }


def _content_json(content: TemplateContent) -> dict[str, Any]:
    return _parts(content) | {
        "variables": [
            {"name": each.name, "required": each.required, "example": each.example} for each in content.variables
        ],
        "inline_css": content.inline_css,
    }
