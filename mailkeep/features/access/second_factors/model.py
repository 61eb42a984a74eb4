"""Authenticators, codes and failed attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import Meta

from mailkeep.web.fields import OWN_CODE

ISSUER = "Mailkeep"
SETUP_LIFETIME = timedelta(minutes=10)
RECOVERY_CODES = 10

# Not validated here: a malformed code is TOTP_INVALID, like a wrong one.
Code = Annotated[
    str,
    Meta(extra=OWN_CODE, extra_json_schema={"pattern": "^[0-9]{6}$"}, description="Six digits from the authenticator"),
]
RecoveryCode = Annotated[
    str, Meta(extra=OWN_CODE, description="One of the account's recovery codes; hyphens and case don't matter")
]


@dataclass(frozen=True, slots=True)
class Failures:
    """The number of failed attempts that are counted under one key in the current window (`rules.WINDOW`)."""

    window_started_at: datetime
    failures: int
    last_failed_at: datetime


@dataclass(frozen=True, slots=True)
class TotpFactor:
    """An account's authenticator. `secret` is encrypted; `enabled_at` is None until the first code was verified."""

    secret: bytes
    created_at: datetime
    enabled_at: datetime | None


@dataclass(frozen=True, slots=True)
class SecondFactorCode:
    """A code of the authenticator, or a recovery code."""

    code: str
    is_recovery: bool = False


@dataclass(frozen=True, slots=True)
class TotpSetup:
    """A secret for an authenticator, as the URI for its QR code; to be enabled with a first code until `expires_at`."""

    provisioning_uri: str
    expires_at: datetime
