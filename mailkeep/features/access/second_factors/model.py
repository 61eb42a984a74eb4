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

# No further validation: a malformed code is a wrong one, TOTP_INVALID.
Code = Annotated[
    str,
    Meta(extra=OWN_CODE, extra_json_schema={"pattern": "^[0-9]{6}$"}, description="Six digits from the authenticator"),
]
RecoveryCode = Annotated[
    str, Meta(extra=OWN_CODE, description="One of the account's recovery codes; hyphens and case don't matter")
]


@dataclass(frozen=True, slots=True)
class Failures:
    """The failed attempts of an account in the current window."""

    window_started_at: datetime
    failures: int
    last_failed_at: datetime


@dataclass(frozen=True, slots=True)
class TotpFactor:
    """An account's authenticator: its sealed secret; pending while `enabled_at` is None."""

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
    """A setup that must be completed with a first code until `expires_at`."""

    provisioning_uri: str
    expires_at: datetime
