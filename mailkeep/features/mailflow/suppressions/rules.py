"""Which failures suppress an address, and the checks of new suppressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import FieldError, InvalidField, MissingFields
from mailkeep.features.mailflow.suppressions.model import Suppression
from mailkeep.features.record.messages.model import DeliveryAttempt, ServerReply

FULL_LIMIT = 3
FULL_WINDOW = timedelta(days=14)
"""A mailbox that is full for this many messages within this time is suppressed."""
COLUMNS = ("address", "reason", "domain", "group_id", "created_at")
"""Of an export. An import ignores `created_at`."""
_POLICY_CODE = re.compile(r"(?<![\d.])[45]\.7\.\d{1,3}(?![\d.])")
_AT_ONCE = frozenset({"invalid_recipient", "mailbox_disabled", "bad_domain"})


def is_hard_bounce(attempt: DeliveryAttempt) -> bool:
    """Whether an attempt shows that the address does not exist: a permanent refusal of a class that says so. Never with
    an enhanced code 5.7.x.
    """
    return attempt.kind == "bounced" and not _is_about_policy(attempt.reply) and attempt.reply.bounce[0] in _AT_ONCE


def is_full(status: str, reply: ServerReply) -> bool:
    """Whether a message was not delivered because the mailbox is full."""
    return status in ("bounced", "failed") and not _is_about_policy(reply) and reply.bounce[0] == "mailbox_full"


def _is_about_policy(reply: ServerReply) -> bool:
    """Whether the reply has an enhanced code X.7.Y (security or policy, RFC 3463 §3.8), also only in its text."""
    return _POLICY_CODE.search(f"{reply.enhanced_code or ''} {reply.diagnostic or ''}") is not None


def parse(text: str) -> Address:
    """The address of a new suppression; INVALID_FIELD."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise InvalidField([{"field": "address", "reason": error.reason}]) from None


def read_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The rows of an imported table, as items of a JSON import. An empty cell is an absent field.

    INVALID_FIELD for an unknown column, MISSING_FIELDS without the column `address`.
    """
    faults: list[FieldError] = [
        {"field": name[:100], "reason": f"is not a column of this table ({', '.join(COLUMNS)})"}
        for name in columns
        if name not in COLUMNS
    ]
    if faults:
        raise InvalidField(faults)
    if "address" not in columns:
        raise MissingFields(["address"])
    return [_read_row(columns, row) for row in rows]


def _read_row(columns: Sequence[str], row: Sequence[str]) -> dict[str, Any]:
    if len(row) > len(columns):
        return {"more cells than columns": ""}  # an unknown field
    return {name: cell.strip() for name, cell in zip(columns, row, strict=False) if cell.strip()}


def export_row(suppression: Suppression, created_at: str) -> tuple[str, ...]:
    """A line of an export."""
    group = str(suppression.group_id or "")
    return suppression.address, suppression.reason, suppression.domain_name, group, created_at
