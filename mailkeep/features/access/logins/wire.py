"""JSON of logins."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import Role
from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.logins.model import CompletedLogin, SecondFactorChallenge, SecondFactorMethod
from mailkeep.features.access.second_factors.model import Code, RecoveryCode
from mailkeep.features.access.sessions import rules
from mailkeep.web.fields import Body, Text, Timestamp

Password = Annotated[str, Meta(extra_json_schema={"format": "password"})]


class OwnAccount(Struct, frozen=True):
    """The caller's own account.

    `passkeys` is their number. `must_change_password`: only POST /auth/password and /auth/logout are allowed besides
    this call. `second_factor_required`: no other call is allowed until it has enrolled a second factor.
    """

    id: UUID
    email: str
    role: Role
    totp_enabled: bool
    passkeys: int
    must_change_password: bool
    second_factor_required: bool
    oidc_provider: str | None
    last_login_at: Timestamp | None
    domain_ids: list[UUID]
    created_at: Timestamp


class LoginByPassword(Body, frozen=True):
    """The first step. Any text is accepted as email; INVALID_CREDENTIALS if no account has it."""

    email: Text
    password: Password


class LoginByCode(Body, frozen=True):
    """The second step: the token of the first one, and a code of the authenticator."""

    totp_session: Text
    totp_code: Code


class LoginByRecoveryCode(Body, frozen=True):
    """The second step with a recovery code, which is used up."""

    totp_session: Text
    recovery_code: RecoveryCode


class LoginResponse(Struct, frozen=True):
    """A session was opened; the cookie `svc_session` carries its token."""

    admin: OwnAccount
    session_id: UUID
    expires_at: Timestamp


class SecondFactorResponse(Struct, frozen=True):
    """The password was right. Complete the sign-in until `expires_at`, with `totp_session` and one of the `methods`, in
    at most 5 attempts.
    """

    requires_totp: Literal[True]
    totp_session: str
    expires_at: Timestamp
    methods: list[SecondFactorMethod]


class PasswordChange(Body, frozen=True):
    """The current password and the new one (8 to 256 characters)."""

    current_password: Password
    new_password: Password


class PasswordChangeResponse(Struct, frozen=True):
    """The password was changed; `sessions_ended` is the number of other sessions that were ended."""

    message: str
    sessions_ended: int


def to_account(admin: Admin, required: Collection[str]) -> OwnAccount:
    """The response for the caller's account; `required` are the roles that need a second factor."""
    return OwnAccount(
        id=admin.id,
        email=admin.email,
        role=admin.role,
        totp_enabled=admin.totp_enabled,
        passkeys=admin.passkeys,
        must_change_password=admin.must_change_password,
        second_factor_required=rules.second_factor_block(admin.role, admin.second_factor, required) is not None,
        oidc_provider=admin.oidc_provider,
        last_login_at=iso_or_none(admin.last_login_at),
        domain_ids=list(admin.domain_ids),
        created_at=iso(admin.created_at),
    )


def to_challenge(challenge: SecondFactorChallenge) -> SecondFactorResponse:
    """The response to the first step of a login."""
    return SecondFactorResponse(True, challenge.token, iso(challenge.expires_at), list(challenge.methods))


def to_login_response(
    result: CompletedLogin | SecondFactorChallenge, required: Collection[str]
) -> LoginResponse | SecondFactorResponse:
    """The response to a login or to its first step; `required` as in `to_account`."""
    if isinstance(result, SecondFactorChallenge):
        return to_challenge(result)
    assert result.admin is not None
    return LoginResponse(to_account(result.admin, required), result.session.id, iso(result.session.expires_at))
