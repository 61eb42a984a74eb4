"""Use cases of templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import Conflict, NotFound, Refusal, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.templates import rules, store, wire
from mailkeep.features.mailflow.templates.model import (
    NewTemplate,
    RenderedMessage,
    Template,
    TemplateChanges,
    TemplateContent,
    TemplateUse,
    TemplateVersion,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.mail.templates.exchange import RenderResult, TemplateSource
from mailkeep.mail.templates.render_process import RenderingUnavailable
from mailkeep.web.decode import decode_body

Uses = Mapping[str, Sequence[str]]
_READ, _WRITE, _SEND = "template.read", "template.write", "send"
# Stands for the domain of a template without one when it is changed: no scoped key has it.
_NO_DOMAIN = UUID(int=0)
_PARTS = ("subject", "text_body", "html_body")


async def page(
    conn: Conn, who: Principal, domain_id: UUID | None, part: str | None, page_request: PageRequest
) -> Page[Template]:
    """A page of the templates that the caller may use, or of one domain, without bodies; `part`: a substring of the
    name. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    if domain_id is not None:
        await domains.get(conn, who, "template.list", domain_id)
    return await store.page(conn, who.domains(), domain_id, part.lower() if part else None, page_request)


async def get(conn: Conn, who: Principal, template_id: UUID) -> Template:
    """The template; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    return _authorize(await store.find(conn, template_id), who, _READ)


def read_new(fields: Mapping[str, Any]) -> NewTemplate:
    """A template of a file, with the fields of `POST /templates`. MISSING_FIELDS, INVALID_FIELD."""
    return wire.read_new(decode_body(fields, wire.TemplateCreate))


async def check_parts(app: App, parts: Mapping[str, Any]) -> Uses:
    """The variables that each of the parts (`subject`, `text_body`, `html_body`) uses. Not in a transaction.

    INVALID_FIELD for each part that is no template; UNAVAILABLE.
    """
    texts = {name: parts.get(name) for name in _PARTS}
    source = TemplateSource(texts["subject"] or "", texts["text_body"], texts["html_body"])
    try:
        result = await app.renderer.check(source)
    except RenderingUnavailable as error:
        raise _unavailable(error) from error
    rules.refuse_problems(result)
    return {name: result.uses.get(name, []) for name in parts if name in _PARTS}


async def create(conn: Conn, who: Principal, at: datetime, new: NewTemplate, uses: Uses) -> Template:
    """Create a template; `uses` are from `check_parts`.

    DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; CONFLICT `limit_reached`, `name_taken`. Roll back after a
    refusal.
    """
    domain = await domains.get_for_update(conn, who, _WRITE, new.domain_id) if new.domain_id else None
    if domain is None:
        allow_on(who, _WRITE, _NO_DOMAIN)
        await store.lock(conn)
    rules.refuse_more(await store.count(conn, new.domain_id))
    template = Template(
        id=uuid7(at),
        domain_id=domain.id if domain else None,
        domain_name=domain.name if domain else None,
        name=new.name,
        version=1,
        published_version=None,
        is_draft_published=False,
        content=new.content,
        uses=uses,
        created_at=at,
        updated_at=at,
    )
    await store.insert(conn, template)
    action = AuditAction("template.create", _target(template), after=wire.audit_fields(template))
    await audit.record(conn, who, at, action)
    return template


async def change(
    conn: Conn, who: Principal, at: datetime, template_id: UUID, changes: TemplateChanges, uses: Uses
) -> Template:
    """Change a draft and return the template; `uses` of the parts that change are from `check_parts`.

    NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; PRECONDITION_FAILED; MISSING_FIELDS, INVALID_FIELD; CONFLICT
    `name_taken`. Roll back after a refusal.
    """
    before = _authorize(await store.find_for_update(conn, template_id), who, _WRITE)
    changes.if_match.check(before.updated_at)
    content = replace(before.content, **changes.content)
    rules.check_content(content)
    after = replace(
        before,
        name=before.name if changes.name is None else changes.name,
        content=content,
        uses={**before.uses, **uses},
    )
    if content != before.content and before.is_draft_published:
        after = replace(after, version=before.version + 1, is_draft_published=False)
    if after == before:
        return before
    after = replace(after, updated_at=at)
    await store.update(conn, after)
    states = (wire.audit_fields(before), wire.audit_fields(after))
    await audit.record_change(conn, who, at, "template.update", _target(after), states)
    return after


async def delete(
    conn: Conn, who: Principal, at: datetime, template_id: UUID, if_match: IfMatch = ANY_VERSION
) -> Template:
    """Delete a template with its versions. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED."""
    template = _authorize(await store.find_for_update(conn, template_id), who, _WRITE)
    if_match.check(template.updated_at)
    await store.delete(conn, template_id)
    action = AuditAction("template.delete", _target(template), before=wire.audit_fields(template))
    await audit.record(conn, who, at, action)
    return template


async def publish(
    conn: Conn, who: Principal, at: datetime, template_id: UUID, version: int | None, if_match: IfMatch = ANY_VERSION
) -> Template:
    """Publish the draft, or an older version again; idempotent.

    NOT_FOUND (also for an unknown version), FORBIDDEN, API_KEY_DOMAIN_SCOPE; PRECONDITION_FAILED; CONFLICT
    `undeclared_variables`. Roll back after a refusal.
    """
    before = _authorize(await store.find_for_update(conn, template_id), who, _WRITE)
    if_match.check(before.updated_at)
    number = before.version if version is None else version
    after = replace(before, published_version=number, updated_at=at)
    if number == before.version and not before.is_draft_published:
        rules.refuse_undeclared(before)
        after = replace(after, is_draft_published=True)
        await store.insert_version(conn, uuid7(at), after, at)
    elif await store.find_version(conn, template_id, number) is None:
        raise NotFound(f"The template has no version {number}.")
    elif number == before.published_version:
        return before
    await store.update(conn, after)
    states = ({"published_version": before.published_version}, {"published_version": number})
    await audit.record_change(conn, who, at, "template.publish", _target(after), states)
    return after


async def page_versions(
    conn: Conn, who: Principal, template_id: UUID, page_request: PageRequest
) -> tuple[Template, Page[TemplateVersion]]:
    """A template and a page of its versions, without bodies. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    template = await get(conn, who, template_id)
    return template, await store.page_versions(conn, template_id, page_request)


async def get_version(conn: Conn, who: Principal, template_id: UUID, version: int) -> tuple[Template, TemplateVersion]:
    """A template and one of its versions. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    template = await get(conn, who, template_id)
    found = await store.find_version(conn, template_id, version)
    if found is None:
        raise NotFound(f"The template has no version {version}.")
    return template, found


async def render(
    app: App, who: Principal, template_id: UUID, version: int | None, values: Mapping[str, Any]
) -> RenderedMessage:
    """Render a version, or the draft; the examples of variables stand for values that are not given.

    NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; INVALID_FIELD; UNAVAILABLE.
    """
    async with app.db.autocommit() as conn:
        template = await get(conn, who, template_id)
        content = template.content
        if version is not None and (version != template.version or template.is_draft_published):
            content = (await get_version(conn, who, template_id, version))[1].content
    rendered = await render_content(app, content, values)
    return replace(rendered, template_id=template_id, version=template.version if version is None else version)


async def render_content(app: App, content: TemplateContent, values: Mapping[str, Any]) -> RenderedMessage:
    """Render content that is not stored, as `render` does. INVALID_FIELD, UNAVAILABLE."""
    rules.check_content(content)
    with_examples = rules.add_examples(values, content.variables)
    rules.check_values(with_examples)
    result = await _render(app, rules.source_of(content), with_examples)
    rules.refuse_problems(result)
    return _to_message(result, None, None)


async def render_for_send(app: App, who: Principal, uses: Sequence[TemplateUse]) -> list[RenderedMessage | Refusal]:
    """Render the published versions for messages; the refusal of each message that can't be rendered.

    NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; INVALID_FIELD; CONFLICT `not_published`; UNAVAILABLE. The messages of a
    call are rendered one after the other, so that one call can't occupy all processes.
    """
    async with app.db.autocommit() as conn:
        templates = await store.find_published(conn, {use.template_id for use in uses})
    outcomes: list[RenderedMessage | Refusal] = []
    too_slow: dict[UUID, Refusal] = {}  # not tried again: each takes seconds
    for use in uses:
        try:
            if refusal := too_slow.get(use.template_id):
                raise refusal
            template = _authorize(templates.get(use.template_id), who, _SEND)
            rules.refuse_other_domain(template, use.domain_id)
            if template.published_version is None:
                text = f"The template {template.name} was never published: publish it first."
                raise Conflict(text, reason="not_published")
            outcomes.append(await _render_published(app, template, use.values))
        except Refusal as refusal:
            outcomes.append(refusal)
            if refusal.code == "UNAVAILABLE" or rules.is_too_slow(refusal):
                too_slow[use.template_id] = refusal
    return outcomes


async def _render_published(app: App, template: Template, values: Mapping[str, Any]) -> RenderedMessage:
    rules.check_values(values)
    key = f"{template.id}:{template.published_version}"
    result = await _render(app, rules.source_of(template.content), values, key)
    rules.refuse_problems(result, "template_id")
    return _to_message(result, template.id, template.published_version)


async def _render(app: App, source: TemplateSource, values: Mapping[str, Any], key: str | None = None) -> RenderResult:
    try:
        return await app.renderer.render(source, dict(values), key)
    except RenderingUnavailable as error:
        raise _unavailable(error) from error


def _unavailable(error: RenderingUnavailable) -> Unavailable:
    if error.is_busy:
        return Unavailable(f"Templates can't be rendered now: {error}. Try again later.", retry_after=5)
    return Unavailable(f"Templates can't be rendered: {error}.", reason="no_isolation", retry_after=3600)


def _to_message(result: RenderResult, template_id: UUID | None, version: int | None) -> RenderedMessage:
    return RenderedMessage(
        template_id, version, result.subject, result.text_body, result.html_body, result.text_derived
    )


def _authorize(template: Template | None, who: Principal, action: str) -> Template:
    if template is None:
        raise NotFound("No template has this ID.")
    if template.domain_id is not None:
        allow_on(who, action, template.domain_id)
    elif action == _WRITE:
        allow_on(who, action, _NO_DOMAIN)
    else:
        allow(who, action)
    return template


def _target(template: Template) -> AuditTarget:
    return AuditTarget("template", template.id, template.domain_id, template.domain_name)
