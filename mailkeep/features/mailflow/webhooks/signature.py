"""Signatures of a delivery, over its raw body.

- `X-Svc-Signature`: hex HMAC-SHA256 of the body; the key is the UTF-8 text of the secret as shown, with `whsec_`.
  For 24 hours after a rotation it is made with the new secret, and `X-Svc-Signature-Previous` with the old one.
- Standard Webhooks (https://www.standardwebhooks.com): `webhook-id`, the ID of the event, the same for every
  attempt; `webhook-timestamp`, the time of this attempt; `webhook-signature`, `v1,` and the base64 HMAC-SHA256 of
  `id.timestamp.body`, the key is the decoded base64 of the secret; one signature for each secret, separated by
  spaces. Receivers should reject a timestamp that is more than five minutes off.
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
    """A signing secret: `whsec_` and the base64 of 256 random bits. It is shown once."""
    return _PREFIX + b64encode(randomness.token_bytes(_SECRET_BYTES)).decode()


def headers(body: bytes, event_id: UUID, kind: str, at: datetime, secrets: Sequence[str]) -> dict[str, str]:
    """The HTTP headers of an attempt at `at` to deliver `body`; `secrets` holds one or two, newest first."""
    stamp = str(int(at.timestamp()))
    names = ("X-Svc-Signature", "X-Svc-Signature-Previous")[: len(secrets)]
    return {
        "Content-Type": "application/json",
        "X-Svc-Event": kind,
        **{name: _sign_body(body, secret) for name, secret in zip(names, secrets, strict=True)},
        "webhook-id": str(event_id),
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(
            _standard_signatures(b"%b.%b.%b" % (str(event_id).encode(), stamp.encode(), body), secrets)
        ),
    }


def _sign_body(body: bytes, secret: str) -> str:
    return hmac.digest(secret.encode(), body, "sha256").hex()


def _standard_signatures(content: bytes, secrets: Sequence[str]) -> list[str]:
    keys = (b64decode(secret.removeprefix(_PREFIX), validate=True) for secret in secrets)
    return ["v1," + b64encode(hmac.digest(key, content, "sha256")).decode() for key in keys]
