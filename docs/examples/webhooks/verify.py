"""Verify a webhook delivery: Python 3.9 or newer, no dependencies."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE = 5 * 60  # seconds: reject older deliveries (replay attacks)


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: float | None = None) -> dict[str, Any]:
    """Return the event or raise ValueError. `headers` have lower-case names, `body` is the raw request body."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise ValueError("missing or invalid timestamp")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        raise ValueError("the timestamp is more than five minutes off")
    key = base64.b64decode(secret[len("whsec_") :])
    signed = event_id.encode() + b"." + timestamp.encode() + b"." + body
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    # During a secret rotation there are two signatures, separated by a space.
    for signature in headers.get("webhook-signature", "").split(" "):
        version, _, encoded = signature.partition(",")
        try:
            given = base64.b64decode(encoded, validate=True)
        except ValueError:
            continue
        if version == "v1" and hmac.compare_digest(expected, given):
            return json.loads(body)
    raise ValueError("no matching signature")
