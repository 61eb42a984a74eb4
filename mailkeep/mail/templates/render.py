"""Compiles, checks and renders the templates of a message. Call it only in the child process (`render_worker`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, cast

from css_inline import CSSInliner, InlineError
from jinja2 import Template
from jinja2.exceptions import SecurityError, TemplateSyntaxError

from mailkeep.mail.templates.environment import (
    TemplateEnvironment,
    create_environment,
    find_variables,
    parse,
    start_rendering,
)
from mailkeep.mail.templates.exchange import MAX_BODY, MAX_SUBJECT, RenderResult, TemplateProblem, TemplateSource
from mailkeep.mail.templates.html_text import convert_to_text

_MAX_REASON = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL_IN_BODY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_PLAIN, _HTML = create_environment(autoescape=False), create_environment(autoescape=True)
# Loads nothing, neither from the network nor from files.
_INLINER = CSSInliner(load_remote_stylesheets=False, keep_link_tags=True, keep_at_rules=True)


class RenderFailure(Exception):
    """A template can't be compiled or rendered."""

    def __init__(self, field: str, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.problem = TemplateProblem(field, reason[:_MAX_REASON], line)


class CompiledTemplate:
    """The compiled templates of a message."""

    def __init__(self, source: TemplateSource) -> None:
        """Compile the source. RenderFailure for the first problem."""
        self.source = source
        self._templates = {field: _compile(field, text) for field, text in _texts(source)}

    def render(self, variables: Mapping[str, Any]) -> RenderResult:
        """Render all parts. The result lists the missing variables of all of them."""
        missing = start_rendering(variables, self.source.optional)
        for name in self.source.required:
            if not _has(variables, name):
                missing.add(name)
        try:
            rendered = {field: _render(field, each, variables) for field, each in self._templates.items()}
            if not missing.names:
                return self._finish(rendered)
        except RenderFailure as failure:
            if not missing.names:  # else they are the cause
                return RenderResult(problems=[failure.problem])
        return RenderResult(missing=list(missing.names))

    def _finish(self, rendered: Mapping[str, str]) -> RenderResult:
        subject, text, html = rendered["subject"].strip(), rendered.get("text_body"), rendered.get("html_body")
        if not subject:
            raise RenderFailure("subject", "is empty")
        if _CONTROL.search(subject):
            raise RenderFailure("subject", "must not contain control characters, such as line breaks")
        is_derived = text is None and html is not None
        if html is not None:
            if text is None:
                text = convert_to_text(html)
            if self.source.inline_css:
                html = _inline_css(html)
        for field, body in (("text_body", text), ("html_body", html)):
            if body is not None and _CONTROL_IN_BODY.search(body):
                raise RenderFailure(field, "must not contain control characters")
        if not (text or "").strip() and not (html or "").strip():
            raise RenderFailure("html_body" if text is None else "text_body", "is empty")
        return RenderResult(subject=subject, text_body=text, html_body=html, text_derived=is_derived)


def check(source: TemplateSource) -> RenderResult:
    """The problems of the source, at most one for each part, and the variables that each part uses."""
    problems: list[TemplateProblem] = []
    uses: dict[str, list[str]] = {}
    for field, text in _texts(source):
        try:
            _compile(field, text)
            uses[field] = find_variables(parse(_environment(field), text))
        except RenderFailure as failure:
            problems.append(failure.problem)
    return RenderResult(problems=problems, uses=uses)


def _texts(source: TemplateSource) -> Iterator[tuple[str, str]]:
    for field, text in (
        ("subject", source.subject),
        ("text_body", source.text_body),
        ("html_body", source.html_body),
    ):
        if text is not None:
            yield field, text


def _environment(field: str) -> TemplateEnvironment:
    return _HTML if field == "html_body" else _PLAIN


def _compile(field: str, text: str) -> Template:
    environment = _environment(field)
    try:
        return environment.from_string(parse(environment, text))
    except TemplateSyntaxError as error:
        raise RenderFailure(field, error.message or "has a syntax error", error.lineno) from None
    except (RecursionError, SyntaxError):  # of Python's compiler: more than 20 nested loops
        raise RenderFailure(field, "is nested too deeply") from None
    except MemoryError:
        raise
    except Exception as error:
        raise RenderFailure(field, f"can't be compiled: {error}") from error


def _render(field: str, template: Template, variables: Mapping[str, Any]) -> str:
    limit = MAX_SUBJECT if field == "subject" else MAX_BODY
    pieces: list[str] = []
    size = 0
    try:
        for piece in template.root_render_func(template.new_context(dict(variables))):
            size += len(piece)
            if size > limit:
                raise RenderFailure(field, f"must have at most {limit} characters")
            pieces.append(piece)
    except (RenderFailure, MemoryError):
        raise
    except RecursionError:
        raise RenderFailure(field, "calls itself too often, or is nested too deeply") from None
    except SecurityError as error:
        raise RenderFailure(field, f"is not allowed: {error}", _line(template, error.__traceback__)) from None
    except Exception as error:  # noqa: BLE001 - whatever the template does
        raise RenderFailure(field, str(error) or type(error).__name__, _line(template, error.__traceback__)) from None
    return "".join(pieces)


def _line(template: Template, traceback: TracebackType | None) -> int:
    """The line of the template in which an error occurred; 0 if it is not known."""
    line = 0
    while traceback:
        if traceback.tb_frame.f_code.co_filename == "<template>":
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def _inline_css(html: str) -> str:
    try:
        inlined = _INLINER.inline(html)
    except InlineError as error:
        raise RenderFailure("html_body", f"its CSS can't be inlined: {error}") from None
    if len(inlined) > MAX_BODY:
        raise RenderFailure("html_body", f"must have at most {MAX_BODY} characters with inlined CSS")
    return inlined


def _has(variables: Mapping[str, Any], name: str) -> bool:
    """Whether a variable, by its dotted name, is there and not null."""
    value: Any = variables
    for key in name.split("."):
        if not isinstance(value, dict) or key not in value:
            return False
        value = cast(dict[str, Any], value)[key]
    return value is not None
