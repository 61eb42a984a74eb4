"""Answers of an authority (RFC 8555 §7.1, RFC 9773), and what its errors mean."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.net.client import OutboundResponse

T = TypeVar("T")
_LONGEST_WAIT = 30 * 86_400.0  # seconds


class Meta(msgspec.Struct, rename={"external": "externalAccountRequired"}):
    """Facts about the authority."""

    external: bool = False
    profiles: dict[str, str] = {}


class Directory(msgspec.Struct, rename="camel"):
    """The URLs of the authority."""

    new_nonce: str
    new_account: str
    new_order: str
    revoke_cert: str
    key_change: str = ""
    renewal_info: str = ""
    meta: Meta = msgspec.field(default_factory=Meta)


class Subproblem(msgspec.Struct):
    """A part of a problem, about one identifier."""

    detail: str = ""


class Problem(msgspec.Struct):
    """A problem document (RFC 7807)."""

    type: str = ""
    detail: str = ""
    subproblems: list[Subproblem] = []


class OfferedChallenge(msgspec.Struct):
    """A way to prove control of a name."""

    type: str
    url: str = ""
    token: str = ""
    error: Problem | None = None


class Identifier(msgspec.Struct):
    """A name."""

    value: str


class Order(msgspec.Struct):
    """An order or an authorization."""

    status: str
    authorizations: list[str] = []
    finalize: str = ""
    certificate: str = ""
    identifier: Identifier | None = None
    challenges: list[OfferedChallenge] = []
    error: Problem | None = None


class SuggestedWindow(msgspec.Struct):
    """When to renew."""

    start: datetime
    end: datetime


class RenewalInfo(msgspec.Struct, rename="camel"):
    """The answer of ARI."""

    suggested_window: SuggestedWindow
    explanation_url: str = msgspec.field(default="", name="explanationURL")


class AcmeError(Failure):
    """The authority refused something, or can't be used; the message says why. `kind`: the last part of the problem's
    type (`rateLimited`), or empty. `retry_after`: the seconds that it asks to wait.
    """

    def __init__(self, message: str, kind: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.retry_after = kind, retry_after


def decode(response: OutboundResponse, kind: type[T]) -> T:
    """The body of an answer; AcmeError if it is not valid."""
    if response.truncated:
        raise AcmeError("The authority's answer is too large.")
    try:
        return msgspec.json.decode(response.body, type=kind)
    except msgspec.MsgspecError as error:
        raise AcmeError(f"The authority's answer (status {response.status}) is not valid: {error}.") from None


def explain_refusal(response: OutboundResponse) -> AcmeError:
    """The error of an answer with a problem document."""
    try:
        problem = msgspec.json.decode(response.body, type=Problem)
    except msgspec.MsgspecError:
        problem = Problem()
    return _explain_problem(problem, f"status {response.status}", retry_after(response))


def explain_invalid(found: Order) -> AcmeError:
    """The problem of an order or authorization that became invalid; that of its challenge says most."""
    problem = next((each.error for each in found.challenges if each.error), found.error) or Problem()
    error = _explain_problem(problem, found.status, None)
    return AcmeError(f"{found.identifier.value}: {error}" if found.identifier else str(error), error.kind)


def _explain_problem(problem: Problem, fallback: str, retry_after: float | None) -> AcmeError:
    kind = problem.type.rpartition(":")[2]
    details = [problem.detail or fallback, *(each.detail for each in problem.subproblems)]
    text = "".join(character if character.isprintable() else " " for character in " ".join(details))
    text = " ".join(text.split())[:500]
    return AcmeError(f"The authority refused: {text}{f' ({kind})' if kind else ''}", kind, retry_after)


def retry_after(response: OutboundResponse) -> float | None:
    """Seconds, at most 30 days: the field is a number or a date."""
    text = response.headers.get("retry-after", "")
    try:
        wait = float(text) if text.isdigit() else (parsedate_to_datetime(text) - utc_now()).total_seconds()
        return min(wait, _LONGEST_WAIT)
    except (ValueError, TypeError):
        return None
