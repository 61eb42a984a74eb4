"""SQL of templates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from mailkeep.core.errors import Conflict
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.mailflow.templates.model import (
    MAX_VERSIONS,
    Template,
    TemplateContent,
    TemplateVariable,
    TemplateVersion,
)

_SELECT = """
    SELECT t.id, t.domain_id, (SELECT d.name FROM domains d WHERE d.id = t.domain_id) AS domain_name, t.name, t.version,
           t.published_version, t.subject, t.text_body, t.html_body, t.variables, t.inline_css, t.uses,
           t.is_draft_published, t.created_at, t.updated_at
    FROM templates t
"""
# A list has no bodies, which would make it large.
_SELECT_SUMMARY = """
    SELECT t.id, t.domain_id, (SELECT d.name FROM domains d WHERE d.id = t.domain_id) AS domain_name, t.name, t.version,
           t.published_version, t.subject, NULL AS text_body, NULL AS html_body, t.variables, t.inline_css, t.uses,
           t.is_draft_published, t.created_at, t.updated_at
    FROM templates t
"""
_SELECT_VERSION = """
    SELECT v.id, v.version, v.subject, v.text_body, v.html_body, v.variables, v.inline_css, v.created_at
    FROM template_versions v
"""
_SELECT_VERSION_SUMMARY = """
    SELECT v.id, v.version, v.subject, NULL AS text_body, NULL AS html_body, v.variables, v.inline_css, v.created_at
    FROM template_versions v
"""
_COLUMNS: Mapping[str, LiteralString] = {
    "created_at": "t.id",
    "updated_at": "t.updated_at",
    "name": "t.name",
    "id": "t.id",
}


async def lock(conn: Conn) -> None:
    """Let no other transaction create templates until this one ends, so that their count stays correct."""
    await conn.execute("LOCK TABLE templates IN SHARE ROW EXCLUSIVE MODE")


async def count(conn: Conn, domain_id: UUID | None) -> int:
    """Number of templates of a domain, or of none."""
    cursor = await conn.execute(
        "SELECT count(*) AS templates FROM templates t WHERE t.domain_id IS NOT DISTINCT FROM %(domain_id)s",
        {"domain_id": domain_id},
    )
    row = await cursor.fetchone()
    return row["templates"] if row else 0


async def insert(conn: Conn, template: Template) -> None:
    """Insert a template; CONFLICT `name_taken`."""
    try:
        await conn.execute(
            """
            INSERT INTO templates (id, domain_id, name, version, published_version, is_draft_published, subject,
                                   text_body, html_body, variables, inline_css, uses, created_at, updated_at)
            VALUES (%(id)s, %(domain_id)s, %(name)s, %(version)s, %(published_version)s, %(is_draft_published)s,
                    %(subject)s, %(text_body)s, %(html_body)s, %(variables)s, %(inline_css)s, %(uses)s,
                    %(created_at)s, %(updated_at)s)
            """,
            _columns(template),
        )
    except psycopg.errors.UniqueViolation as error:
        raise _name_conflict(error, template) from None


async def update(conn: Conn, template: Template) -> None:
    """Update name, draft and numbers of versions; CONFLICT `name_taken`."""
    try:
        await conn.execute(
            """
            UPDATE templates
            SET name = %(name)s, version = %(version)s, published_version = %(published_version)s,
                is_draft_published = %(is_draft_published)s, subject = %(subject)s, text_body = %(text_body)s,
                html_body = %(html_body)s, variables = %(variables)s, inline_css = %(inline_css)s, uses = %(uses)s,
                updated_at = %(updated_at)s
            WHERE id = %(id)s
            """,
            _columns(template),
        )
    except psycopg.errors.UniqueViolation as error:
        raise _name_conflict(error, template) from None


def _name_conflict(error: psycopg.errors.UniqueViolation, template: Template) -> Exception:
    if constraint_of(error) != "templates_name_unique":
        return error
    owner = f"The domain {template.domain_name}" if template.domain_name else "The server"
    text = f"{owner} already has a template with the name {template.name}."
    return Conflict(text, reason="name_taken")


async def delete(conn: Conn, template_id: UUID) -> None:
    """Delete a template with its versions."""
    await conn.execute("DELETE FROM templates WHERE id = %(id)s", {"id": template_id})


async def find(conn: Conn, template_id: UUID) -> Template | None:
    """The template with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE t.id = %(id)s", {"id": template_id})
    row = await cursor.fetchone()
    return _template(row) if row else None


async def find_for_update(conn: Conn, template_id: UUID) -> Template | None:
    """`find`, locked until the transaction ends."""
    cursor = await conn.execute(_SELECT + " WHERE t.id = %(id)s FOR UPDATE OF t", {"id": template_id})
    row = await cursor.fetchone()
    return _template(row) if row else None


async def page(
    conn: Conn, domains: list[UUID] | None, domain_id: UUID | None, part: str | None, page_request: PageRequest
) -> Page[Template]:
    """A page of the templates of `domains` (None: all) and of no domain, or of one domain; `part`: a folded substring
    of the name. Without bodies.
    """
    rows = await fetch_page(
        conn,
        _SELECT_SUMMARY,
        [
            (
                "(t.domain_id = ANY(%(domains)s) OR t.domain_id IS NULL)",
                "domains",
                domains if domain_id is None else None,
            ),
            ("t.domain_id = %(domain_id)s", "domain_id", domain_id),
            ("strpos(lower(t.name), %(part)s) > 0", "part", part),
        ],
        page_request,
        _COLUMNS,
    )
    return Page([_template(row) for row in rows.rows], rows.next_key)


async def insert_version(conn: Conn, version_id: UUID, template: Template, at: datetime) -> None:
    """Store the draft as a version, and drop the oldest versions over the limit, except the published one."""
    await conn.execute(
        """
        INSERT INTO template_versions (template_id, version, id, subject, text_body, html_body, variables, inline_css,
                                       created_at)
        VALUES (%(id)s, %(version)s, %(version_id)s, %(subject)s, %(text_body)s, %(html_body)s, %(variables)s,
                %(inline_css)s, %(at)s)
        """,
        _columns(template) | {"version_id": version_id, "at": at},
    )
    await conn.execute(
        """
        DELETE FROM template_versions v
        WHERE v.template_id = %(id)s AND v.version <> %(published_version)s AND v.version <= (
            SELECT w.version FROM template_versions w
            WHERE w.template_id = %(id)s ORDER BY w.version DESC OFFSET %(kept)s LIMIT 1
        )
        """,
        {"id": template.id, "published_version": template.published_version, "kept": MAX_VERSIONS},
    )


async def find_version(conn: Conn, template_id: UUID, version: int) -> TemplateVersion | None:
    """A published version."""
    cursor = await conn.execute(
        _SELECT_VERSION + " WHERE v.template_id = %(id)s AND v.version = %(version)s",
        {"id": template_id, "version": version},
    )
    row = await cursor.fetchone()
    return _version(row) if row else None


async def page_versions(conn: Conn, template_id: UUID, page_request: PageRequest) -> Page[TemplateVersion]:
    """A page of the versions of a template, without bodies."""
    rows = await fetch_page(
        conn,
        _SELECT_VERSION_SUMMARY,
        [("v.template_id = %(template_id)s", "template_id", template_id)],
        page_request,
        {"created_at": "v.id", "id": "v.id"},
    )
    return Page([_version(row) for row in rows.rows], rows.next_key)


async def find_published(conn: Conn, ids: Collection[UUID]) -> dict[UUID, Template]:
    """Templates with the content of their published versions (of the draft if there is none), by ID."""
    cursor = await conn.execute(
        """
        SELECT t.id, t.domain_id, (SELECT d.name FROM domains d WHERE d.id = t.domain_id) AS domain_name, t.name,
               t.version, t.published_version, v.subject, v.text_body, v.html_body, v.variables, v.inline_css,
               '{}'::jsonb AS uses, t.is_draft_published, t.created_at, t.updated_at
        FROM templates t
        LEFT JOIN template_versions v ON v.template_id = t.id AND v.version = t.published_version
        WHERE t.id = ANY(%(ids)s)
        """,
        {"ids": list(ids)},
    )
    return {row["id"]: _template(row) for row in await cursor.fetchall()}


def _columns(template: Template) -> dict[str, Any]:
    content = template.content
    return {
        "id": template.id,
        "domain_id": template.domain_id,
        "name": template.name,
        "version": template.version,
        "published_version": template.published_version,
        "is_draft_published": template.is_draft_published,
        "subject": content.subject,
        "text_body": content.text_body,
        "html_body": content.html_body,
        "variables": Jsonb(list(content.variables), dumps=msgspec.json.encode),
        "inline_css": content.inline_css,
        "uses": Jsonb(template.uses, dumps=msgspec.json.encode),
        "created_at": template.created_at,
        "updated_at": template.updated_at,
    }


def _content(row: Mapping[str, Any]) -> TemplateContent:
    return TemplateContent(
        subject=row["subject"] or "",
        text_body=row["text_body"],
        html_body=row["html_body"],
        variables=[TemplateVariable(**each) for each in row["variables"] or ()],
        inline_css=bool(row["inline_css"]),
    )


def _template(row: Mapping[str, Any]) -> Template:
    return Template(
        id=row["id"],
        domain_id=row["domain_id"],
        domain_name=row["domain_name"],
        name=row["name"],
        version=row["version"],
        published_version=row["published_version"],
        is_draft_published=row["is_draft_published"],
        content=_content(row),
        uses=row["uses"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _version(row: Mapping[str, Any]) -> TemplateVersion:
    return TemplateVersion(row["id"], row["version"], _content(row), row["created_at"])
