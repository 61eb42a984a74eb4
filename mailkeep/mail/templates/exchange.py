"""The requests to the child process that renders, and its answers: arrays in MessagePack, after their length.

The child begins with an answer of length 0, when it is ready.
"""

from __future__ import annotations

import struct
from typing import Any

from msgspec import Struct

LENGTH = struct.Struct(">I")
MAX_SUBJECT = 2000
"""Characters of a rendered subject, as in POST /send."""
MAX_BODY = 1 << 20
"""Characters of a rendered body."""


TOO_MUCH_TIME = "takes too much time or memory"
"""The problem of a template whose process was ended."""


class TemplateSource(Struct, frozen=True, array_like=True):
    """The templates of a message; a body may be null. `required`: variables that are reported as missing also if they
    are not used; `optional`: those that may be missing. `inline_css`: style sheets become style attributes.
    """

    subject: str
    text_body: str | None
    html_body: str | None
    required: list[str] = []
    optional: list[str] = []
    inline_css: bool = False


class RenderRequest(Struct, frozen=True, array_like=True):
    """Render with these variables, or check the source if `variables` is null. What is compiled is kept under `key`;
    if the child knows it, the source may be omitted.
    """

    key: str | None
    source: TemplateSource | None
    variables: dict[str, Any] | None


class TemplateProblem(Struct, frozen=True, array_like=True):
    """What is wrong with `subject`, `text_body` or `html_body` (empty: not known which), and in which line (0: not
    known).
    """

    field: str
    reason: str
    line: int = 0


class RenderResult(Struct, frozen=True, array_like=True):
    """The rendered message if `problems` and `missing` (variables) are empty. `text_derived`: the text is made from the
    HTML. `uses`: of a check, the variables that each part of the source uses.

    `needs_source`: the child does not know the key. `is_last`: the child ends.
    """

    problems: list[TemplateProblem] = []
    missing: list[str] = []
    subject: str = ""
    text_body: str | None = None
    html_body: str | None = None
    text_derived: bool = False
    uses: dict[str, list[str]] = {}
    needs_source: bool = False
    is_last: bool = False
