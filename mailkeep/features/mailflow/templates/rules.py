"""Declared and used variables of templates, and the errors of rendering."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

import msgspec

from mailkeep.core.errors import Conflict, FieldError, InvalidField, MissingFields, Refusal, invalid_field
from mailkeep.features.mailflow.templates.model import (
    MAX_TEMPLATES,
    MAX_VALUES_BYTES,
    Template,
    TemplateContent,
    TemplateVariable,
)
from mailkeep.mail.templates.exchange import TOO_MUCH_TIME, RenderResult, TemplateProblem, TemplateSource

_MAX_EXAMPLE_BYTES = 10_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Names that mean something else in a template.
_RESERVED = frozenset(
    {"and", "else", "false", "if", "in", "is", "loop", "namespace", "none", "not", "or", "range", "self", "true"}
)


def check_content(content: TemplateContent) -> None:
    """MISSING_FIELDS without a body; INVALID_FIELD for each faulty variable."""
    if content.text_body is None and content.html_body is None:
        raise MissingFields([FieldError(field="text_body", reason="one of text_body, html_body is required")])
    faults: list[FieldError] = []
    names: set[str] = set()
    for index, variable in enumerate(content.variables):
        field = f"variables[{index}]"
        if variable.name in names:
            faults.append({"field": f"{field}.name", "reason": f"{variable.name} is declared twice"})
        elif variable.name.partition(".")[0].lower() in _RESERVED:
            faults.append({"field": f"{field}.name", "reason": f"{variable.name} has a meaning in templates"})
        names.add(variable.name)
        if reason := _find_fault(variable.example):
            faults.append({"field": f"{field}.example", "reason": reason})
    if faults:
        raise InvalidField(faults)


def _find_fault(example: Any) -> str | None:
    if len(msgspec.json.encode(example)) > _MAX_EXAMPLE_BYTES:
        return f"must have at most {_MAX_EXAMPLE_BYTES} bytes as JSON"
    if any(_CONTROL.search(text) for text in _strings(example)):
        return "must not contain control characters"
    return None


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in cast(dict[str, Any], value).items():
            yield key
            yield from _strings(each)
    elif isinstance(value, list):
        for each in cast(list[Any], value):
            yield from _strings(each)


def source_of(content: TemplateContent) -> TemplateSource:
    """The source to render."""
    return TemplateSource(
        content.subject,
        content.text_body,
        content.html_body,
        [each.name for each in content.variables if each.required],
        [each.name for each in content.variables if not each.required],
        content.inline_css,
    )


def find_undeclared(uses: Mapping[str, Sequence[str]], variables: Sequence[TemplateVariable]) -> list[str]:
    """The used variables that are not declared, sorted. A declaration covers what is below it; a use of a whole object
    is covered by declarations below it.
    """
    names = [each.name for each in variables]
    return sorted(use for use in _all(uses) if not any(_is_related(use, name) for name in names))


def find_warnings(template: Template) -> list[str]:
    """What may be wrong with a draft: undeclared and unused variables."""
    variables = template.content.variables
    undeclared = [f"{name} is used but not declared." for name in find_undeclared(template.uses, variables)]
    uses = _all(template.uses)
    unused = [
        f"{each.name} is declared but not used."
        for each in variables
        if not any(_is_related(use, each.name) for use in uses)
    ]
    return [*undeclared, *unused]


def _all(uses: Mapping[str, Sequence[str]]) -> set[str]:
    return {name for names in uses.values() for name in names}


def _is_related(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def refuse_undeclared(template: Template) -> None:
    """CONFLICT `undeclared_variables` for a draft that uses variables which are not declared."""
    if names := find_undeclared(template.uses, template.content.variables):
        listed = ", ".join(names[:10])
        text = f"The draft uses variables that are not declared: {listed}. Declare them, or correct their names."
        raise Conflict(text, reason="undeclared_variables", variables=names[:100])


def refuse_more(count: int) -> None:
    """CONFLICT `limit_reached` if there are as many templates as may be."""
    if count >= MAX_TEMPLATES:
        raise Conflict(
            f"There are already {count} templates: delete one first.", reason="limit_reached", limit=MAX_TEMPLATES
        )


def refuse_other_domain(template: Template, domain_id: UUID) -> None:
    """INVALID_FIELD if a template of one domain is used for a sender of another."""
    if template.domain_id is not None and template.domain_id != domain_id:
        raise invalid_field("template_id", f"the template is for senders of {template.domain_name} only")


def add_examples(values: Mapping[str, Any], variables: Sequence[TemplateVariable]) -> dict[str, Any]:
    """The values of a preview: those given, and the examples of the others."""
    added = dict(values)
    for variable in variables:
        if variable.example is not None:
            _add_example(added, variable.name.split("."), variable.example)
    return added


def _add_example(values: dict[str, Any], path: Sequence[str], example: Any) -> None:
    """Add an example at a path, unless there is a value at it or above it."""
    key, *below = path
    if not below:
        values.setdefault(key, example)
        return
    inner = values.get(key)
    if inner is None or isinstance(inner, dict):
        values[key] = copy = dict(cast(dict[str, Any], inner or {}))
        _add_example(copy, below, example)


def check_values(values: Mapping[str, Any]) -> None:
    """INVALID_FIELD if the values for a rendering are too large."""
    size = len(msgspec.msgpack.encode(values))
    if size > MAX_VALUES_BYTES:
        raise invalid_field("variables", f"must have at most {MAX_VALUES_BYTES} bytes together (got {size})")


def refuse_problems(result: RenderResult, field: str | None = None) -> None:
    """INVALID_FIELD for what prevents rendering: `variables.NAME` for each missing variable; else the part with the
    problem, or `field`.
    """
    faults: list[FieldError] = [
        {"field": f"variables.{name}", "reason": "is missing: the template needs it"} for name in result.missing
    ]
    faults += [_to_fault(each, field) for each in result.problems]
    if faults:
        raise InvalidField(faults)


def is_too_slow(refusal: Refusal) -> bool:
    """Whether a rendering was refused because it exceeded the limits of its process, not because of its values."""
    fields = (refusal.details or {}).get("fields", ())
    return any(TOO_MUCH_TIME in each["reason"] for each in fields)


def _to_fault(problem: TemplateProblem, field: str | None) -> FieldError:
    line = f"line {problem.line}: " if problem.line else ""
    if field is None:
        return {"field": problem.field or "html_body", "reason": f"{line}{problem.reason}"}
    where = f"{problem.field}, {line}" if line else f"{problem.field}: " if problem.field else ""
    return {"field": field, "reason": f"the template can't be rendered: {where}{problem.reason}"}
