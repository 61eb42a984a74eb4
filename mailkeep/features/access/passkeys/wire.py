"""JSON of passkeys. What goes to a browser and comes back has the names of Web Authentication Level 3 (§5.1.8)."""

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
_TIMEOUT = int(CHALLENGE_LIFETIME.total_seconds() * 1000)

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Password = Annotated[
    str,
    Meta(
        description="The current password; needed where the session was opened over 15 minutes ago",
        extra_json_schema={"format": "password"},
    ),
]
Credential = Annotated[
    dict[str, Any],
    Meta(
        max_length=20,
        description="What the browser answered, as `PublicKeyCredential.toJSON()` writes it; members that we don't use "
        "are not looked at",
    ),
]
Base64Url = Annotated[str, Meta(description="Base64url without padding")]


class CurrentPasswordRequest(Body, frozen=True):
    """A change of how one logs in."""

    current_password: Password | UnsetType = UNSET


class PasskeyRegistration(Body, frozen=True):
    """What `navigator.credentials.create()` answered, and what its owner calls it."""

    credential: Credential
    name: Name = "Passkey"


class PasskeyRename(Body, frozen=True):
    """Another name."""

    name: Name


class PasskeyLoginStart(Body, frozen=True):
    """Nothing to log in by a passkey alone; `totp_session` of a login that waits for its second factor."""

    totp_session: Text | UnsetType = UNSET


class PasskeyLogin(Body, frozen=True):
    """What `navigator.credentials.get()` answered; `totp_session` as it was with the options."""

    credential: Credential
    totp_session: Text | UnsetType = UNSET


class RpEntity(Struct, frozen=True):
    """For whom a passkey is made: the domain of `http.public_url`."""

    id: str
    name: str


class UserEntity(Struct, frozen=True, rename="camel"):
    """Whose passkey it is; `id` is the account's, in base64url."""

    id: str
    name: str
    display_name: str


class CredentialParameters(Struct, frozen=True):
    """A kind of key that is taken: an algorithm of COSE."""

    type: Literal["public-key"]
    alg: int


class CredentialDescriptor(Struct, frozen=True):
    """A passkey that is there."""

    type: Literal["public-key"]
    id: Base64Url
    transports: list[str]


class AuthenticatorSelection(Struct, frozen=True, rename="camel"):
    """Which authenticators are wanted."""

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
    """For `PublicKeyCredential.parseRequestOptionsFromJSON()`; no `allowCredentials`: any passkey of this site."""

    challenge: Base64Url
    timeout: int
    rp_id: str
    allow_credentials: list[CredentialDescriptor]
    user_verification: Literal["required", "preferred"]


class RegistrationOptionsResponse(Struct, frozen=True):
    """What to make a passkey with, once and until `expires_at`."""

    options: CreationOptions
    expires_at: Timestamp


class LoginOptionsResponse(Struct, frozen=True):
    """What to log in with, once and until `expires_at`."""

    options: RequestOptions
    expires_at: Timestamp


class PasskeyRecord(Struct, frozen=True):
    """A passkey.

    `backup_eligible` ones may be on several devices of their owner, `backed_up` ones are. `aaguid` tells the make of
    the authenticator, all zeros where it doesn't tell.
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
    """A new passkey. `recovery_codes` where it is the account's first factor: shown this once."""

    passkey: PasskeyRecord
    recovery_codes: list[str] | None


class PasskeyRecoveryCodes(Struct, frozen=True):
    """Recovery codes, shown this once: each works once, in place of the second factor."""

    message: str
    recovery_codes: list[str]


class PasskeyDeletion(Struct, frozen=True):
    """A passkey was deleted."""

    message: str
    id: UUID


def to_record(passkey: Passkey) -> PasskeyRecord:
    """A passkey as it is answered."""
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


def to_registration(registered: Registration) -> PasskeyRegistrationResponse:
    """A new passkey as it is answered."""
    return PasskeyRegistrationResponse(to_record(registered.passkey), registered.recovery_codes)


def audit_fields(passkey: Passkey) -> dict[str, Any]:
    """What the audit log keeps of a passkey."""
    return {
        "name": passkey.name,
        "credential_id": encode_base64url(passkey.credential_id),
        "aaguid": str(passkey.aaguid),
        "backup_eligible": passkey.backup_eligible,
    }


def to_registration_options(offer: PasskeyChallenge, owner: PasskeyOwner) -> RegistrationOptionsResponse:
    """What a browser makes a passkey with."""
    options = CreationOptions(
        rp=RpEntity(offer.party.id, _SERVICE_NAME),
        user=UserEntity(encode_base64url(owner.id.bytes), owner.email, owner.email),
        challenge=encode_base64url(offer.challenge),
        pub_key_cred_params=[CredentialParameters("public-key", number) for number in ALGORITHMS],
        timeout=_TIMEOUT,
        exclude_credentials=_descriptors(offer),
        authenticator_selection=AuthenticatorSelection("preferred", False, "preferred"),
        attestation="none",
    )
    return RegistrationOptionsResponse(options, iso(offer.expires_at))


def to_login_options(offer: PasskeyChallenge, *, alone: bool) -> LoginOptionsResponse:
    """What a browser logs in with; `alone`: without a password before it."""
    options = RequestOptions(
        challenge=encode_base64url(offer.challenge),
        timeout=_TIMEOUT,
        rp_id=offer.party.id,
        allow_credentials=_descriptors(offer),
        user_verification="required" if alone else "preferred",
    )
    return LoginOptionsResponse(options, iso(offer.expires_at))


def _descriptors(offer: PasskeyChallenge) -> list[CredentialDescriptor]:
    return [
        CredentialDescriptor("public-key", encode_base64url(one.credential_id), list(one.transports))
        for one in offer.passkeys
    ]
