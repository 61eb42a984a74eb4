"""A template and its versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from mailkeep.core.entity_tag import ANY_VERSION, IfMatch

MAX_BODY = 256 << 10
"""Characters of a template's text or HTML."""
MAX_VARIABLES = 100
"""Declared variables of a template."""
MAX_VALUES_BYTES = 256 << 10
"""Size of the values for a rendering, in MessagePack."""
MAX_TEMPLATES = 1000
"""Templates of a domain, and templates of no domain."""
MAX_VERSIONS = 100
"""Versions that are kept of a template; the oldest are dropped."""


class TemplateVariable(Struct, frozen=True):
    """A declared variable: its dotted name, whether it must be given, and an example for previews."""

    name: str
    required: bool = True
    example: Any = None


@dataclass(frozen=True, slots=True)
class TemplateContent:
    """What a version consists of; at least one of the bodies is there."""

    subject: str
    text_body: str | None
    html_body: str | None
    variables: Sequence[TemplateVariable]
    inline_css: bool


@dataclass(frozen=True, slots=True)
class Template:
    """A template. `content` is the draft, `version` its number; `is_draft_published`: it is stored as that version.

    `uses`: the variables that each part of the draft uses.
    """

    id: UUID
    domain_id: UUID | None
    domain_name: str | None
    name: str
    version: int
    published_version: int | None
    is_draft_published: bool
    content: TemplateContent
    uses: Mapping[str, Sequence[str]]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """A version that was published at `created_at`."""

    id: UUID
    version: int
    content: TemplateContent
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewTemplate:
    """A template to create."""

    domain_id: UUID | None
    name: str
    content: TemplateContent


@dataclass(frozen=True, slots=True)
class TemplateChanges:
    """Changes of a draft in the version that `if_match` names: new values of fields of the content, by name."""

    name: str | None = None
    content: Mapping[str, Any] = field(default_factory=dict[str, Any])
    if_match: IfMatch = ANY_VERSION


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A rendered version; `text_derived`: the text is made from the HTML."""

    template_id: UUID | None
    version: int | None
    subject: str
    text_body: str | None
    html_body: str | None
    text_derived: bool


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """A message to render: the template, its values, and the sender's domain."""

    template_id: UUID
    values: Mapping[str, Any]
    domain_id: UUID
