"""The signatures of a delivery, over its raw body.

- `X-Svc-Signature`: hex HMAC-SHA256 of the body, keyed with the UTF-8 bytes of the secret as it is shown, `whsec_`
  included. While a rotation overlaps it is the new secret's, and `X-Svc-Signature-Previous` is the old one's.
- Standard Webhooks (https://www.standardwebhooks.com): `webhook-id`, the event's id, the same for every retry;
  `webhook-timestamp`, when this attempt is made; `webhook-signature`, `v1,` and the base64 HMAC-SHA256 of
  `id.timestamp.body`, keyed with the bytes that the secret's base64 stands for, one for each secret with spaces
  between. Receivers refuse a time that is more than five minutes off.
"""

from __future__ import annotations

import hmac
import secrets as randomness
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """A signing secret as it is shown, once: `whsec_` and the base64 of 256 random bits."""
    return _PREFIX + b64encode(randomness.token_bytes(_SECRET_BYTES)).decode()


def headers(body: bytes, event_id: UUID, kind: str, at: datetime, secrets: Sequence[str]) -> dict[str, str]:
    """What a delivery of `body`, attempted at `at`, is sent with; `secrets` is one or, newest first, two."""
    stamp = str(int(at.timestamp()))
    names = ("X-Svc-Signature", "X-Svc-Signature-Previous")[: len(secrets)]
    return {
        "Content-Type": "application/json",
        "X-Svc-Event": kind,
        **{name: _own(body, secret) for name, secret in zip(names, secrets, strict=True)},
        "webhook-id": str(event_id),
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(_standard(b"%b.%b.%b" % (str(event_id).encode(), stamp.encode(), body), secrets)),
    }


def _own(body: bytes, secret: str) -> str:
    return hmac.digest(secret.encode(), body, "sha256").hex()


def _standard(signed: bytes, secrets: Sequence[str]) -> list[str]:
    keys = (b64decode(secret.removeprefix(_PREFIX), validate=True) for secret in secrets)
    return ["v1," + b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys]
