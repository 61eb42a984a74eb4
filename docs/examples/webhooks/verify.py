"""Verify a webhook's delivery: Python 3.9 or newer, nothing to install."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE = 5 * 60  # seconds: an older delivery may be somebody's replay


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: float | None = None) -> dict[str, Any]:
    """Answer the event, or raise ValueError. `headers` by lower-case name, `body` the raw bytes as they came."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise ValueError("no timestamp")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        raise ValueError("too old, or from the future")
    key = base64.b64decode(secret[len("whsec_") :])
    signed = event_id.encode() + b"." + timestamp.encode() + b"." + body
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    # While a secret is being rotated there are two signatures, with a space between.
    for signature in headers.get("webhook-signature", "").split(" "):
        version, _, encoded = signature.partition(",")
        try:
            given = base64.b64decode(encoded, validate=True)
        except ValueError:
            continue
        if version == "v1" and hmac.compare_digest(expected, given):
            return json.loads(body)
    raise ValueError("no signature of ours")
