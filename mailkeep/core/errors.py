"""API errors: each published error code with its HTTP status, one class per row of the catalogue.

A *refusal* is an error that the caller can act on; any code below the HTTP layer may raise it, and
`web.envelope` renders it. A *failure* comes from outside (the database is down, the MTA refuses a message);
it is logged and, unless `permanent`, retried. Any other exception is a bug: 500 INTERNAL_ERROR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypedDict

MAX_FIELD_ERRORS = 100
"""The maximum number of fields in one error, which limits the size of the response."""
_MAX_IN_MESSAGE = 5
_REQUIRED = "is required"


class FieldError(TypedDict):
    """One faulty field: its path in the body or query (`to[0].email`) and what is wrong with it."""

    field: str
    reason: str


class Refusal(Exception):
    """A published refusal. `details` (JSON-ready) goes to `error.details`, null when empty."""

    code: ClassVar[str]
    status: ClassVar[int]
    text: ClassVar[str]

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message or self.text)
        self.message = message or self.text
        self.details: Mapping[str, Any] | None = details or None
        self.retry_after: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with code, details and `retry_after`, for another process."""
        return rebuild_refusal, (type(self), self.message, self.details, self.retry_after)


def rebuild_refusal(
    kind: type[Refusal], message: str, details: Mapping[str, Any] | None, retry_after: int | None
) -> Refusal:
    """Rebuild a refusal that another process pickled."""
    refusal = kind.__new__(kind)
    Refusal.__init__(refusal, message, **(details or {}))
    refusal.retry_after = retry_after
    return refusal


class BadRequest(Refusal):
    """Sent by the HTTP listener before routing."""

    code, status, text = "BAD_REQUEST", 400, "The data received is not an HTTP request."


class RequestTimeout(Refusal):
    """Sent by the HTTP listener before routing."""

    code, status, text = "REQUEST_TIMEOUT", 408, "The request header did not arrive in time."


class HeadTooLarge(Refusal):
    """Sent by the HTTP listener before routing."""

    code, status, text = "HEAD_TOO_LARGE", 431, "The request header is too large."


class InvalidJson(Refusal):
    code, status, text = "INVALID_JSON", 400, "The body is not valid JSON."


class MissingFields(Refusal):
    code, status, text = "MISSING_FIELDS", 400, "Required fields are missing."

    def __init__(self, missing: Sequence[str | FieldError], other_faults: Sequence[FieldError] = ()) -> None:
        """`other_faults`: of other fields, since a required field is often missing because its name is misspelt."""
        faults = [FieldError(field=each, reason=_REQUIRED) if isinstance(each, str) else each for each in missing]
        more = " and more" if len(faults) > _MAX_IN_MESSAGE else ""
        names = ", ".join(fault["field"] for fault in faults[:_MAX_IN_MESSAGE])
        text = f"Required fields are missing: {names}{more}."
        super().__init__(
            f"{text} {_describe(other_faults)}." if other_faults else text,
            # `other_faults` first: they are few, and usually the cause.
            fields=[*other_faults[:MAX_FIELD_ERRORS], *faults][:MAX_FIELD_ERRORS],
        )


class InvalidField(Refusal):
    code, status, text = "INVALID_FIELD", 400, "A field has an invalid value."

    def __init__(self, faults: Sequence[FieldError]) -> None:
        super().__init__(f"{_describe(faults)}.", fields=list(faults[:MAX_FIELD_ERRORS]))


def _describe(faults: Sequence[FieldError]) -> str:
    return "; ".join(f"{fault['field'] or 'The body'}: {fault['reason']}" for fault in faults[:_MAX_IN_MESSAGE])


def invalid_field(field: str, reason: str) -> InvalidField:
    """The refusal for a single faulty field."""
    return InvalidField([{"field": field, "reason": reason}])


class InvalidPagination(Refusal):
    code, status, text = "INVALID_PAGINATION", 400, "cursor, limit, sort or order is malformed."


class InvalidPeriod(Refusal):
    code, status, text = "INVALID_PERIOD", 400, "period is malformed."


class InvalidSender(Refusal):
    code, status, text = "INVALID_SENDER", 400, "The sender address is malformed."


class InvalidRecipient(Refusal):
    """`details`: `field` (to, cc, bcc, reply_to) and `index` (position in it, null for reply_to)."""

    code, status, text = "INVALID_RECIPIENT", 400, "A recipient address is malformed."


class InvalidHeader(Refusal):
    code, status, text = "INVALID_HEADER", 400, "A custom header is not allowed."


class InvalidUrl(Refusal):
    code, status, text = "INVALID_URL", 400, "The URL is not allowed."


class WeakPassword(Refusal):
    code, status, text = "WEAK_PASSWORD", 400, "The password is too weak."


class EmptyBatch(Refusal):
    code, status, text = "EMPTY_BATCH", 400, "The batch is empty."


class BatchTooLarge(Refusal):
    code, status, text = "BATCH_TOO_LARGE", 400, "The batch has too many items."


class AuthRequired(Refusal):
    code, status, text = "AUTH_REQUIRED", 401, "This call needs a session cookie or an API key."


class SessionInvalid(Refusal):
    code, status, text = "SESSION_INVALID", 401, "The session is unknown, ended or expired."


class ApiKeyInvalid(Refusal):
    code, status, text = "API_KEY_INVALID", 401, "The API key is unknown, revoked or expired."


class InvalidCredentials(Refusal):
    code, status, text = "INVALID_CREDENTIALS", 401, "Wrong email or password."


class TotpInvalid(Refusal):
    code, status, text = "TOTP_INVALID", 401, "The code is wrong, too old, or was used before."


class Forbidden(Refusal):
    code, status, text = "FORBIDDEN", 403, "Your role or domains do not allow this."


class ApiKeyDomainScope(Refusal):
    code, status, text = "API_KEY_DOMAIN_SCOPE", 403, "The API key is limited to other domains."


class DomainInactive(Refusal):
    code, status, text = "DOMAIN_INACTIVE", 403, "The domain is inactive."


class SenderDomainUnknown(Refusal):
    """DOMAIN_NOT_FOUND of the sending endpoints: the sender's domain is not managed here."""

    code, status, text = "DOMAIN_NOT_FOUND", 403, "The sender's domain does not exist on this server."


class RecipientSuppressed(Refusal):
    """All recipients of a message are suppressed; `details.recipients` has the address, reason and ID of each."""

    code, status, text = "RECIPIENT_SUPPRESSED", 403, "Every recipient of the message is suppressed."


class MailboxSuspended(Refusal):
    code, status, text = "MAILBOX_SUSPENDED", 403, "Sending is suspended for this address."


class NotFound(Refusal):
    code, status, text = "NOT_FOUND", 404, "No such resource."


class DomainNotFound(Refusal):
    """DOMAIN_NOT_FOUND except in sending: no domain has this `domain_id`."""

    code, status, text = "DOMAIN_NOT_FOUND", 404, "No domain has this ID."


class MethodNotAllowed(Refusal):
    code, status, text = "METHOD_NOT_ALLOWED", 405, "The path does not support this method."


class Conflict(Refusal):
    """`details.reason` names the kind of conflict in snake_case."""

    code, status, text = "CONFLICT", 409, "The change conflicts with an existing object."


class DomainExists(Refusal):
    code, status, text = "DOMAIN_EXISTS", 409, "The domain is already registered."


class IdempotencyMismatch(Refusal):
    code, status, text = "IDEMPOTENCY_MISMATCH", 409, "The Idempotency-Key was used for another request."


class IdempotencyInProgress(Refusal):
    code, status, text = "IDEMPOTENCY_IN_PROGRESS", 409, "The outcome of the first call with this key is not known yet."

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = 1


class OrchestratorBusy(Refusal):
    """`details.operation_id` is the running operation; `reason` is `backups` if it is one on backups."""

    code, status, text = "ORCHESTRATOR_BUSY", 409, "Another operation is running; wait until it has finished."


class PreconditionFailed(Refusal):
    """`details`: the `expected` entity tags and the `actual` one, null if the object has none."""

    code, status, text = (
        "PRECONDITION_FAILED",
        412,
        "The object has changed since it was read; read it again, and repeat the change.",
    )


class PayloadTooLarge(Refusal):
    code, status, text = "PAYLOAD_TOO_LARGE", 413, "The request body is too large."


class UnsupportedMediaType(Refusal):
    code, status, text = (
        "UNSUPPORTED_MEDIA_TYPE",
        415,
        "The body must be application/json in UTF-8, without Content-Encoding.",
    )


class RateLimitExceeded(Refusal):
    """Carries `retry_after` (seconds) for the Retry-After header."""

    code, status, text = "RATE_LIMIT_EXCEEDED", 429, "Too many requests; try again later."

    def __init__(self, message: str | None = None, *, retry_after: int = 1, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class InternalError(Refusal):
    code, status, text = "INTERNAL_ERROR", 500, "An internal error occurred; the server's log has the details."


class SendFailed(Refusal):
    code, status, text = "SEND_FAILED", 500, "The mail transfer agent did not accept the message."


class SendUnavailable(Refusal):
    code, status, text = "SEND_UNAVAILABLE", 503, "Sending is not configured on this server."

    def __init__(self, message: str | None = None, *, retry_after: int = 60, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class Unavailable(Refusal):
    code, status, text = "UNAVAILABLE", 503, "The service is temporarily unavailable."

    def __init__(self, message: str | None = None, *, retry_after: int = 2, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class Failure(Exception):
    """An error outside of our control. `permanent`: retrying is useless."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent
