"""Validation of scripts and their names; the refusals of a change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.errors import (
    MAX_FIELD_ERRORS,
    Conflict,
    FieldError,
    InvalidField,
    NotFound,
    PreconditionFailed,
    Refusal,
    invalid_field,
)
from mailkeep.features.directory.sieve.model import ScriptChange, ScriptChangeResult, ScriptTestMessage
from mailkeep.mail.sieve.config import MAX_SCRIPT_BYTES, MAX_SCRIPTS
from mailkeep.mail.sieve.output import ScriptMessage

_MAX_NAME_BYTES = 128
# RFC 5804 §1.6; a slash would be part of a path.
_FORBIDDEN_IN_NAME = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029/]")


def check_name(name: str) -> None:
    """INVALID_FIELD unless a script may have this name. Pigeonhole uses it, with a suffix, as a file name."""
    if fault := _fault_of_name(name):
        raise invalid_field("name", fault)


def expect_possible_name(name: str) -> None:
    """NOT_FOUND if no script can have this name."""
    if not name or _FORBIDDEN_IN_NAME.search(name) or len(name.encode("utf-8", "replace")) > 255:
        raise NotFound


def _fault_of_name(name: str) -> str | None:
    if name in ("", ".", ".."):
        return "is not a name for a script"
    if _FORBIDDEN_IN_NAME.search(name):
        return "must not contain a slash or control characters"
    if len(name.encode("utf-8", "replace")) > _MAX_NAME_BYTES:
        return f"must have at most {_MAX_NAME_BYTES} bytes"
    return None


def check_text(text: str) -> None:
    """INVALID_FIELD if a script is too large."""
    if len(text.encode()) > MAX_SCRIPT_BYTES:
        raise invalid_field("script", f"must have at most {MAX_SCRIPT_BYTES >> 10} KiB")


def check_test(message: ScriptTestMessage) -> None:
    """INVALID_FIELD if there is both a message and the ID of one, or an address is malformed."""
    if message.content is not None and message.message_id is not None:
        raise invalid_field("message_id", "can't be given together with message")
    for field, address in (("sender", message.sender), ("recipient", message.recipient)):
        if address:
            try:
                parse_address(address)
            except AddressError as error:
                raise invalid_field(field, error.reason) from None


def script_tag(script: bytes) -> str:
    """The entity tag of a script: a hash of its text."""
    return f'"{hashlib.sha256(script).hexdigest()[:32]}"'


def refuse_invalid(errors: Sequence[ScriptMessage]) -> InvalidField:
    """The refusal of a script that does not compile, with the line of each error also in `details.errors`."""
    refusal = InvalidField([FieldError(field="script", reason=_at_line(error)) for error in errors])
    refusal.details = {**(refusal.details or {}), "errors": _as_details(errors)}
    return refusal


def _as_details(errors: Sequence[ScriptMessage]) -> list[dict[str, Any]]:
    return [{"line": error.line, "message": error.message} for error in errors[:MAX_FIELD_ERRORS]]


def _at_line(error: ScriptMessage) -> str:
    return error.message if error.line is None else f"line {error.line}: {error.message}"


def refusal_of(result: ScriptChangeResult, change: ScriptChange) -> Refusal | None:
    """Why a change was not made; None if it was."""
    name = change.name
    match result.outcome:
        case "done":
            return None
        case "mailbox_deleted" | "not_found":
            return NotFound()
        case "in_use":
            return Conflict(
                f"The script {name} is active. Activate another one, or deactivate it, before you delete it.",
                reason="in_use",
            )
        case "limit_reached":
            text = f"A mailbox can have at most {MAX_SCRIPTS} scripts. Delete one first."
            return Conflict(text, reason="limit_reached", limit=MAX_SCRIPTS)
        case "other_version":
            return PreconditionFailed(expected=change.expected, actual=result.tag)
        case "invalid" if change.kind == "put":
            return refuse_invalid(result.errors)
        case "invalid":
            text = f"The script {name} does not compile: {_at_line(result.errors[0])}. Correct it first."
            return Conflict(text, reason="invalid_script", errors=_as_details(result.errors))
