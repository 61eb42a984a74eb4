"""JSON of the test of a decision."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.errors import FieldError, InvalidField, MissingFields, invalid_field
from mailkeep.features.mailflow.filter_test.model import DecisionPoint, Trial
from mailkeep.features.mailflow.filtering.model import DecidedBy, Facts, Rule, Scope
from mailkeep.web.fields import Body, MayBeEmpty, Text

Result = Annotated[str, Meta(max_length=20)]


class TestedAuthentication(Body, frozen=True):
    """Results of sender authentication (RFC 8601): `pass`, `fail`, `none`, `temperror` and others. `dkim`: of a
    signature of the author's domain.
    """

    spf: Result = "none"
    dkim: Result = "none"
    dmarc: Result = "none"


class FilterTest(Body, frozen=True, rename={"from_": "from"}):
    """A message of the history by its ID, or one that is described: `mail_from` (empty: a bounce), the author in `from`
    (absent: none or several), `client_address`, `score` (absent: none) and `auth`.
    """

    message_id: UUID | None = None
    mail_from: MayBeEmpty | None = None
    from_: Text | None = None
    client_address: Text | None = None
    score: Annotated[float, Meta(ge=-1000, le=1000)] | None = None
    auth: TestedAuthentication | None = None


class DecidedByRecord(Struct, frozen=True):
    """The rule that decided, its scope, and the list entry if it was one."""

    scope: Scope
    rule: Rule
    entry_id: UUID | None


class TestStep(Struct, frozen=True):
    """A step in plain words: what was compared, and with which result. `scope`, `rule` and `entry_id` name the rule."""

    at: DecisionPoint
    step: str
    result: str
    is_deciding: bool
    scope: Scope | None
    rule: Rule | None
    entry_id: UUID | None


class FilterTestResult(Struct, frozen=True):
    """What would happen, and where: at RCPT, at the end of DATA or at delivery. `defer`: refused with 451, because DNS
    does not say whether an allow entry applies. `decided_by` null: no rule decided, so it goes to the inbox.
    """

    action: Literal["inbox", "junk", "refuse", "defer"]
    at: DecisionPoint
    decided_by: DecidedByRecord | None
    steps: list[TestStep]


def read_test(body: FilterTest) -> Facts | UUID:
    """The facts of a body, or the ID of the message; INVALID_FIELD, MISSING_FIELDS."""
    described: Mapping[str, Any] = {
        "mail_from": body.mail_from,
        "from": body.from_,
        "client_address": body.client_address,
        "score": body.score,
        "auth": body.auth,
    }
    given = [name for name, value in described.items() if value is not None]
    if body.message_id is not None:
        if given:
            raise InvalidField([FieldError(field=name, reason="must be absent with message_id") for name in given])
        return body.message_id
    if not given:
        raise MissingFields([FieldError(field="mail_from", reason="or message_id, or another field is required")])
    auth = body.auth or TestedAuthentication()
    return Facts(
        _read_client(body.client_address or ""),
        _read_address("mail_from", body.mail_from or ""),
        _read_address("from", body.from_ or ""),
        {"spf": auth.spf, "dkim": auth.dkim, "dmarc": auth.dmarc},
        body.score,
    )


def _read_address(field: str, text: str) -> str:
    try:
        return text and str(parse_address(text))
    except AddressError as error:
        raise invalid_field(field, error.reason) from None


def _read_client(text: str) -> str:
    try:
        return text and str(ip_address(text))
    except ValueError:
        raise invalid_field("client_address", "must be an IP address") from None


def to_test_result(trial: Trial) -> FilterTestResult:
    """The response of a test."""
    steps = [
        TestStep(each.at, each.step, each.result, each.is_deciding, each.scope, each.rule, each.entry_id)
        for each in trial.steps
    ]
    return FilterTestResult(trial.decision.action, trial.at, _to_decided_by(trial.decision.decided_by), steps)


def _to_decided_by(decided_by: DecidedBy | None) -> DecidedByRecord | None:
    return decided_by and DecidedByRecord(decided_by.scope, decided_by.rule, decided_by.entry_id)
