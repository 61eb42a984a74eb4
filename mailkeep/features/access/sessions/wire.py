"""JSON of logins and sessions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import Role
from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.sessions import rules
from mailkeep.features.access.sessions.model import (
    AdminSession,
    CompletedLogin,
    SecondFactorChallenge,
    SecondFactorMethod,
)
from mailkeep.web.fields import OWN_CODE, Body, Text, Timestamp

Password = Annotated[str, Meta(extra_json_schema={"format": "password"})]
# What is no code is a wrong one: TOTP_INVALID.
Code = Annotated[
    str, Meta(extra=OWN_CODE, extra_json_schema={"pattern": "^[0-9]{6}$"}, description="Of the authenticator: 6 digits")
]
RecoveryCode = Annotated[
    str, Meta(extra=OWN_CODE, description="One of those that enrolment answered; hyphens and case don't matter")
]


class OwnAccount(Struct, frozen=True):
    """The caller's own account.

    `passkeys` is how many it has. `second_factor_required`: it can do nothing else until it has enrolled one.
    """

    id: UUID
    email: str
    role: Role
    totp_enabled: bool
    passkeys: int
    second_factor_required: bool
    oidc_provider: str | None
    last_login_at: Timestamp | None
    domain_ids: list[UUID]
    created_at: Timestamp


class SessionRecord(Struct, frozen=True):
    """An active session; `current` is the one that asks. Its id names it and opens nothing."""

    id: UUID
    ip_address: str | None
    user_agent: str | None
    created_at: Timestamp
    expires_at: Timestamp
    current: bool


class LoginByPassword(Body, frozen=True):
    """Who logs in. Any text is taken: what is no account's is INVALID_CREDENTIALS."""

    email: Text
    password: Password


class LoginByCode(Body, frozen=True):
    """The second step: what the first one answered, and a code of the authenticator."""

    totp_session: Text
    totp_code: Code


class LoginByRecoveryCode(Body, frozen=True):
    """The second step with a recovery code, which is used up."""

    totp_session: Text
    recovery_code: RecoveryCode


class LoginResponse(Struct, frozen=True):
    """A session was opened; the cookie `svc_session` carries it."""

    admin: OwnAccount
    session_id: UUID
    expires_at: Timestamp


class SecondFactorResponse(Struct, frozen=True):
    """The password was right; `totp_session` takes one of the `methods` next, until `expires_at`, 5 times at most."""

    requires_totp: Literal[True]
    totp_session: str
    expires_at: Timestamp
    methods: list[SecondFactorMethod]


class CodeRequest(Body, frozen=True):
    """A code that is valid now."""

    code: Code


class RecoveryCodeRequest(Body, frozen=True):
    """A recovery code, which is used up."""

    recovery_code: RecoveryCode


class TotpSetupResponse(Struct, frozen=True):
    """A secret for an authenticator, to be shown as a QR code; it waits for a first code until `expires_at`."""

    provisioning_uri: str
    expires_at: Timestamp


class RecoveryCodes(Struct, frozen=True):
    """Recovery codes, shown this once: each works once, in place of a code of the authenticator."""

    message: str
    totp_enabled: bool
    recovery_codes: list[str]


class TotpState(Struct, frozen=True):
    """Whether the account has a second factor now."""

    message: str
    totp_enabled: bool


class PasswordChange(Body, frozen=True):
    """The present password, and the one to have from now on (8 to 256 characters)."""

    current_password: Password
    new_password: Password


class LogoutResponse(Struct, frozen=True):
    """What was done."""

    message: str


class SessionEndResponse(Struct, frozen=True):
    """A session was ended."""

    message: str
    id: UUID


class SessionsEndResponse(Struct, frozen=True):
    """Sessions were ended: how many."""

    message: str
    sessions_ended: int


def to_account(admin: Admin, required: Collection[str]) -> OwnAccount:
    """An account as its owner sees it; `required`: the roles that need a second factor."""
    return OwnAccount(
        id=admin.id,
        email=admin.email,
        role=admin.role,
        totp_enabled=admin.totp_enabled,
        passkeys=admin.passkeys,
        second_factor_required=rules.second_factor_bar(admin.role, admin.second_factor, required) is not None,
        oidc_provider=admin.oidc_provider,
        last_login_at=iso_or_none(admin.last_login_at),
        domain_ids=list(admin.domain_ids),
        created_at=iso(admin.created_at),
    )


def to_login_response(
    done: CompletedLogin | SecondFactorChallenge, required: Collection[str]
) -> LoginResponse | SecondFactorResponse:
    """A login as it is answered: done, or half done."""
    if isinstance(done, SecondFactorChallenge):
        return SecondFactorResponse(True, done.token, iso(done.expires_at), list(done.methods))
    return LoginResponse(to_account(done.admin, required), done.session.id, iso(done.session.expires_at))


def to_session(found: AdminSession, current: UUID | None) -> SessionRecord:
    """A session as it is answered."""
    return SessionRecord(
        id=found.id,
        ip_address=found.ip_address,
        user_agent=found.user_agent,
        created_at=iso(found.created_at),
        expires_at=iso(found.expires_at),
        current=found.id == current,
    )
