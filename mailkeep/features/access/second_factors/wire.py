"""JSON of second factors."""

from __future__ import annotations

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.access.second_factors.model import Code, RecoveryCode, TotpSetup
from mailkeep.web.fields import Body, Timestamp


class CodeRequest(Body, frozen=True):
    """A currently valid code."""

    code: Code


class RecoveryCodeRequest(Body, frozen=True):
    """A recovery code. It works only once."""

    recovery_code: RecoveryCode


class TotpSetupResponse(Struct, frozen=True):
    """A secret for an authenticator. Show `provisioning_uri` as a QR code; enable it with a first code until
    `expires_at`.
    """

    provisioning_uri: str
    expires_at: Timestamp


class RecoveryCodes(Struct, frozen=True):
    """Recovery codes, shown only once; each works once in place of a code of the authenticator."""

    message: str
    totp_enabled: bool
    recovery_codes: list[str]


class TotpState(Struct, frozen=True):
    """Whether the account's authenticator is enabled."""

    message: str
    totp_enabled: bool


def to_setup(setup: TotpSetup) -> TotpSetupResponse:
    """The response to a setup."""
    return TotpSetupResponse(setup.provisioning_uri, iso(setup.expires_at))
