"""JSON of passkeys. Objects for and from the browser are named as in Web Authentication Level 3 (§5.1.8)."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.passkey import ALGORITHMS
from mailkeep.core.secret import encode_base64url
from mailkeep.features.access.passkeys.model import (
    CHALLENGE_LIFETIME,
    Passkey,
    PasskeyChallenge,
    PasskeyOwner,
    Registration,
)
from mailkeep.web.fields import Body, Text, Timestamp

_SERVICE_NAME = "Mailkeep"
_TIMEOUT_MS = int(CHALLENGE_LIFETIME.total_seconds() * 1000)

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Credential = Annotated[
    dict[str, Any],
    Meta(
        max_length=20,
        description="The browser's result in the form of `PublicKeyCredential.toJSON()`; unused members are ignored",
    ),
]
Base64Url = Annotated[str, Meta(description="Base64url without padding")]


class PasskeyRegistration(Body, frozen=True):
    """The result of `navigator.credentials.create()`, and a name for the passkey."""

    credential: Credential
    name: Name = "Passkey"


class PasskeyRename(Body, frozen=True):
    """A new name."""

    name: Name


class PasskeyLoginStart(Body, frozen=True):
    """Empty to sign in with a passkey alone; `totp_session` of POST /auth/login to use it as the second factor."""

    totp_session: Text | UnsetType = UNSET


class PasskeyLogin(Body, frozen=True):
    """The result of `navigator.credentials.get()`; the same `totp_session` as in the request for the options."""

    credential: Credential
    totp_session: Text | UnsetType = UNSET


class RpEntity(Struct, frozen=True):
    """The relying party: the domain of `http.public_url`."""

    id: str
    name: str


class UserEntity(Struct, frozen=True, rename="camel"):
    """The passkey's owner; `id` is the account's id in base64url."""

    id: str
    name: str
    display_name: str


class CredentialParameters(Struct, frozen=True):
    """An accepted COSE algorithm."""

    type: Literal["public-key"]
    alg: int


class CredentialDescriptor(Struct, frozen=True):
    """A registered passkey."""

    type: Literal["public-key"]
    id: Base64Url
    transports: list[str]


class AuthenticatorSelection(Struct, frozen=True, rename="camel"):
    """Which authenticators are preferred."""

    resident_key: Literal["preferred"]
    require_resident_key: bool
    user_verification: Literal["preferred"]


class CreationOptions(Struct, frozen=True, rename="camel"):
    """For `PublicKeyCredential.parseCreationOptionsFromJSON()`."""

    rp: RpEntity
    user: UserEntity
    challenge: Base64Url
    pub_key_cred_params: list[CredentialParameters]
    timeout: int
    exclude_credentials: list[CredentialDescriptor]
    authenticator_selection: AuthenticatorSelection
    attestation: Literal["none"]


class RequestOptions(Struct, frozen=True, rename="camel"):
    """For `PublicKeyCredential.parseRequestOptionsFromJSON()`; empty `allowCredentials`: any passkey of this site."""

    challenge: Base64Url
    timeout: int
    rp_id: str
    allow_credentials: list[CredentialDescriptor]
    user_verification: Literal["required", "preferred"]


class RegistrationOptionsResponse(Struct, frozen=True):
    """Options for creating a passkey; valid once, until `expires_at`."""

    options: CreationOptions
    expires_at: Timestamp


class LoginOptionsResponse(Struct, frozen=True):
    """Options for signing in; valid once, until `expires_at`."""

    options: RequestOptions
    expires_at: Timestamp


class PasskeyRecord(Struct, frozen=True):
    """A passkey.

    `backup_eligible`: it can be on several devices of its owner; `backed_up`: it is. `aaguid` identifies the model of
    the authenticator; all zeros if unknown.
    """

    id: UUID
    name: str
    transports: list[str]
    backup_eligible: bool
    backed_up: bool
    aaguid: UUID
    created_at: Timestamp
    last_used_at: Timestamp | None


class PasskeyRegistrationResponse(Struct, frozen=True):
    """A new passkey. `recovery_codes` are shown only once; null unless it is the account's first second factor."""

    passkey: PasskeyRecord
    recovery_codes: list[str] | None


class PasskeyRecoveryCodes(Struct, frozen=True):
    """Recovery codes, shown only once; each works once in place of the second factor."""

    message: str
    recovery_codes: list[str]


class PasskeyDeletion(Struct, frozen=True):
    """A passkey was deleted."""

    message: str
    id: UUID


def to_record(passkey: Passkey) -> PasskeyRecord:
    """The response for a passkey."""
    return PasskeyRecord(
        id=passkey.id,
        name=passkey.name,
        transports=list(passkey.transports),
        backup_eligible=passkey.backup_eligible,
        backed_up=passkey.backed_up,
        aaguid=passkey.aaguid,
        created_at=iso(passkey.created_at),
        last_used_at=iso_or_none(passkey.last_used_at),
    )


def to_registration(registration: Registration) -> PasskeyRegistrationResponse:
    """The response for a new passkey."""
    return PasskeyRegistrationResponse(to_record(registration.passkey), registration.recovery_codes)


def audit_fields(passkey: Passkey) -> dict[str, Any]:
    """The audit log's fields of a passkey."""
    return {
        "name": passkey.name,
        "credential_id": encode_base64url(passkey.credential_id),
        "aaguid": str(passkey.aaguid),
        "backup_eligible": passkey.backup_eligible,
    }


def to_registration_options(challenge: PasskeyChallenge, owner: PasskeyOwner) -> RegistrationOptionsResponse:
    """The options with which a browser creates a passkey."""
    options = CreationOptions(
        rp=RpEntity(challenge.party.id, _SERVICE_NAME),
        user=UserEntity(encode_base64url(owner.id.bytes), owner.name, owner.name),
        challenge=encode_base64url(challenge.challenge),
        pub_key_cred_params=[CredentialParameters("public-key", number) for number in ALGORITHMS],
        timeout=_TIMEOUT_MS,
        exclude_credentials=_descriptors(challenge),
        authenticator_selection=AuthenticatorSelection("preferred", False, "preferred"),
        attestation="none",
    )
    return RegistrationOptionsResponse(options, iso(challenge.expires_at))


def to_login_options(challenge: PasskeyChallenge, *, alone: bool) -> LoginOptionsResponse:
    """The options with which a browser logs in; `alone`: without a password before."""
    options = RequestOptions(
        challenge=encode_base64url(challenge.challenge),
        timeout=_TIMEOUT_MS,
        rp_id=challenge.party.id,
        allow_credentials=_descriptors(challenge),
        user_verification="required" if alone else "preferred",
    )
    return LoginOptionsResponse(options, iso(challenge.expires_at))


def _descriptors(challenge: PasskeyChallenge) -> list[CredentialDescriptor]:
    return [
        CredentialDescriptor("public-key", encode_base64url(passkey.credential_id), list(passkey.transports))
        for passkey in challenge.passkeys
    ]
