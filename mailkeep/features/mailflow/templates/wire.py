"""JSON of templates."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, ClassVar
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from mailkeep.core.clock import iso
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import NotFound, invalid_field
from mailkeep.features.mailflow.templates import rules
from mailkeep.features.mailflow.templates.model import (
    MAX_BODY,
    MAX_VARIABLES,
    NewTemplate,
    RenderedMessage,
    Template,
    TemplateChanges,
    TemplateContent,
    TemplateVariable,
    TemplateVersion,
)
from mailkeep.web.endpoint import Call
from mailkeep.web.fields import MULTILINE, Body, Patch, Query, Text, Timestamp
from mailkeep.web.string_views import read_views

_MAX_DIGITS = 9
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Subject = Annotated[str, Meta(max_length=2000, description="A Jinja2 template of one line.")]
TemplateBody = Annotated[str, Meta(max_length=MAX_BODY, extra=MULTILINE, description="A Jinja2 template.")]
Values = Annotated[
    Any,
    Meta(
        extra_json_schema={"type": "object"},
        description="Values of variables: an object, nested for dotted names; at most 256 KiB.",
    ),
]


class VariableBody(Body, frozen=True):
    """A variable that the template uses. `name` may be dotted (`order.id`) and covers what is below it; `example` is
    any JSON value, for previews.
    """

    name: Annotated[str, Meta(max_length=200, pattern=r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*")]
    required: bool = True
    example: Annotated[Any, Meta(description="At most 10,000 bytes of JSON.")] = None


Variables = Annotated[list[VariableBody], Meta(max_length=MAX_VARIABLES)]


class TemplateCreate(Body, frozen=True):
    """A template to create: its draft. Without `domain_id` all domains use it."""

    one_of: ClassVar[tuple[str, ...]] = ("text_body", "html_body")

    name: Name
    subject: Subject
    domain_id: UUID | None = None
    text_body: TemplateBody | None = None
    html_body: TemplateBody | None = None
    variables: Variables = []
    inline_css: bool = False


class TemplatePatch(Patch, frozen=True):
    """Changes of the draft. A body may be null if the other one is there."""

    name: Name | UnsetType = UNSET
    subject: Annotated[str, Meta(min_length=1, max_length=2000)] | UnsetType = UNSET
    text_body: TemplateBody | UnsetType | None = UNSET
    html_body: TemplateBody | UnsetType | None = UNSET
    variables: Variables | UnsetType = UNSET
    inline_css: bool | UnsetType = UNSET


class TemplateQuery(Query, frozen=True):
    """Filters of the list; `q` is a substring of the name."""

    domain_id: UUID | None = None
    q: Text | None = None


class TemplatePublication(Body, frozen=True):
    """Which version to publish; without it the draft."""

    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class TemplateValues(Body, frozen=True):
    """What to render: a version (without it the draft), and values. Examples stand for those that are not given."""

    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    variables: Values = None


class TemplateTrial(Body, frozen=True):
    """A template to render without storing it; `values` as `variables` of a stored one."""

    one_of: ClassVar[tuple[str, ...]] = ("text_body", "html_body")

    subject: Subject
    text_body: TemplateBody | None = None
    html_body: TemplateBody | None = None
    variables: Variables = []
    inline_css: bool = False
    values: Values = None


class VariableRecord(Struct, frozen=True):
    """A declared variable."""

    name: str
    required: bool
    example: Any


class TemplateRecord(Struct, frozen=True):
    """A template in a list. `version` is the number of the draft, `published_version` of what is sent (null: never
    published). `unpublished_changes`: the draft is not published yet.
    """

    id: UUID
    domain_id: UUID | None
    name: str
    version: int
    published_version: int | None
    unpublished_changes: bool
    subject: str
    inline_css: bool
    created_at: Timestamp
    updated_at: Timestamp


class TemplateDetail(TemplateRecord, frozen=True):
    """A template with its draft. `warnings`: variables that are used but not declared, or declared but not used."""

    text_body: str | None
    html_body: str | None
    variables: list[VariableRecord]
    warnings: list[str]


class TemplateVersionRecord(Struct, frozen=True):
    """A published version in a list; `published`: it is what is sent."""

    version: int
    published: bool
    subject: str
    created_at: Timestamp


class TemplateVersionDetail(TemplateVersionRecord, frozen=True):
    """A published version."""

    text_body: str | None
    html_body: str | None
    variables: list[VariableRecord]
    inline_css: bool


class RenderedTemplate(Struct, frozen=True):
    """A rendered message; `text_derived`: the text is made from the HTML. `version` is null for what is not stored."""

    version: int | None
    subject: str
    text_body: str | None
    html_body: str | None
    text_derived: bool


class TemplateDeletion(Struct, frozen=True):
    """A template was deleted."""

    message: str
    id: UUID


def to_record(template: Template) -> TemplateRecord:
    """The response for a template in a list."""
    return TemplateRecord(**_record_fields(template))


def to_detail(template: Template) -> TemplateDetail:
    """The response for a single template."""
    content = template.content
    return TemplateDetail(
        **_record_fields(template),
        text_body=content.text_body,
        html_body=content.html_body,
        variables=_variables(content),
        warnings=rules.find_warnings(template),
    )


def _record_fields(template: Template) -> dict[str, Any]:
    return {
        "id": template.id,
        "domain_id": template.domain_id,
        "name": template.name,
        "version": template.version,
        "published_version": template.published_version,
        "unpublished_changes": not template.is_draft_published,
        "subject": template.content.subject,
        "inline_css": template.content.inline_css,
        "created_at": iso(template.created_at),
        "updated_at": iso(template.updated_at),
    }


def _variables(content: TemplateContent) -> list[VariableRecord]:
    return [VariableRecord(each.name, each.required, each.example) for each in content.variables]


def to_version_record(template: Template, version: TemplateVersion) -> TemplateVersionRecord:
    """The response for a version in a list."""
    return TemplateVersionRecord(
        version.version, version.version == template.published_version, version.content.subject, iso(version.created_at)
    )


def to_version_detail(template: Template, version: TemplateVersion) -> TemplateVersionDetail:
    """The response for a single version."""
    content = version.content
    return TemplateVersionDetail(
        **structs.asdict(to_version_record(template, version)),
        text_body=content.text_body,
        html_body=content.html_body,
        variables=_variables(content),
        inline_css=content.inline_css,
    )


def to_rendered(message: RenderedMessage) -> RenderedTemplate:
    """The response for a rendered message."""
    return RenderedTemplate(
        message.version, message.subject, message.text_body, message.html_body, message.text_derived
    )


def audit_fields(template: Template) -> dict[str, Any]:
    """The audit log's fields of a template; of long texts the SHA-256."""
    content = template.content
    return {
        "name": template.name,
        "version": template.version,
        "subject": content.subject,
        "text_body_sha256": _digest(content.text_body),
        "html_body_sha256": _digest(content.html_body),
        "variables": [each.name for each in content.variables],
        "inline_css": content.inline_css,
    }


def _digest(text: str | None) -> str | None:
    return None if text is None else sha256(text.encode()).hexdigest()


def read_values(values: Any, field: str = "variables") -> dict[str, Any]:
    """The values for a rendering; INVALID_FIELD unless they are an object."""
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise invalid_field(field, "must be an object")
    return read_views(values)


def read_version(call: Call) -> int:
    """The number of a version in the path; NOT_FOUND if it is none."""
    text = call.path["version"]
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise NotFound
    return int(text)


def parts_of(content: TemplateContent) -> dict[str, str | None]:
    """The parts of a content that are templates."""
    return {"subject": content.subject, "text_body": content.text_body, "html_body": content.html_body}


def read_content(body: TemplateCreate | TemplateTrial) -> TemplateContent:
    """The content of a body. MISSING_FIELDS, INVALID_FIELD."""
    content = TemplateContent(
        subject=body.subject,
        text_body=body.text_body or None,
        html_body=body.html_body or None,
        variables=_read_variables(body.variables),
        inline_css=body.inline_css,
    )
    rules.check_content(content)
    return content


def _read_variables(variables: list[VariableBody]) -> list[TemplateVariable]:
    return [TemplateVariable(each.name, each.required, read_views(each.example)) for each in variables]


def read_new(body: TemplateCreate) -> NewTemplate:
    """The new template of a body. MISSING_FIELDS, INVALID_FIELD."""
    return NewTemplate(body.domain_id, body.name, read_content(body))


def read_changes(body: TemplatePatch, if_match: IfMatch) -> TemplateChanges:
    """The changes of a PATCH."""
    fields: dict[str, Any] = {
        name: value
        for name in ("subject", "text_body", "html_body", "inline_css")
        if (value := getattr(body, name)) is not UNSET
    }
    for name in ("text_body", "html_body"):
        if name in fields:
            fields[name] = fields[name] or None
    if body.variables is not UNSET:
        fields["variables"] = _read_variables(body.variables)
    return TemplateChanges(None if body.name is UNSET else body.name, fields, if_match)
