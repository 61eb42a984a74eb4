"""What a delivery is signed with, verified as receivers do: by hand, and by the libraries of Standard Webhooks."""

import hashlib
import hmac
import json
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from mailkeep.features.webhooks.signature import _standard, headers, new_secret
from tests.node import installed, run_node

RECEIVERS = Path(__file__).parents[2] / "webhook_receivers"
EVENT = UUID("0197f1a0-0000-7000-8000-000000000001")
BODY = '{"event":"mail.sent","data":{"subject":"Grüße ✉"}}'.encode()
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OLD, NEW, OTHER = (new_secret() for _ in range(3))
NOW = datetime.now(UTC)


def signed(*secrets: str, body: bytes = BODY, at: datetime = NOW) -> dict[str, str]:
    return headers(body, EVENT, "mail.sent", at, secrets)


def test_a_secret_is_whsec_and_256_random_bits():
    made = {new_secret() for _ in range(50)}
    assert len(made) == 50
    assert all(secret.startswith("whsec_") and len(b64decode(secret[6:], validate=True)) == 32 for secret in made)


def test_the_reference_s_signature_is_keyed_with_the_secret_as_it_is_shown():
    expected = hmac.new(SECRET.encode("utf-8"), BODY, hashlib.sha256).hexdigest()
    assert signed(SECRET)["X-Svc-Signature"] == expected


def test_the_standard_one_is_keyed_with_the_bytes_behind_the_base64():
    found = headers(b"{}", EVENT, "mail.sent", datetime.fromtimestamp(1614265330, UTC), [SECRET])
    signature = hmac.digest(b64decode(SECRET[6:]), f"{EVENT}.1614265330.{{}}".encode(), "sha256")
    assert found["webhook-signature"] == "v1," + b64encode(signature).decode()
    assert (found["webhook-id"], found["webhook-timestamp"]) == (str(EVENT), "1614265330")


def test_the_specification_s_own_example():
    content = b'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}'
    assert _standard(content, [SECRET]) == ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="]


def test_while_a_rotation_overlaps_both_secrets_sign():
    both = signed(NEW, OLD)
    assert both["X-Svc-Signature"] == signed(NEW)["X-Svc-Signature"]
    assert both["X-Svc-Signature-Previous"] == signed(OLD)["X-Svc-Signature"]
    assert both["webhook-signature"].split(" ") == [signed(each)["webhook-signature"] for each in (NEW, OLD)]
    assert "X-Svc-Signature-Previous" not in signed(NEW)


@given(st.binary(max_size=200))
def test_any_body_can_be_signed_and_each_signature_is_its_own(body: bytes):
    found = signed(SECRET, body=body)
    changed = signed(SECRET, body=body + b" ")
    assert all(found[name] != changed[name] for name in ("X-Svc-Signature", "webhook-signature"))
    assert all(value.isascii() and value.isprintable() for value in found.values())


FIVE = timedelta(minutes=5, seconds=5)
CASES = [
    ("one secret", NEW, signed(NEW), BODY, True),
    ("the new of two", NEW, signed(NEW, OLD), BODY, True),
    ("the old of two", OLD, signed(NEW, OLD), BODY, True),
    ("a secret that is no more", OTHER, signed(NEW, OLD), BODY, False),
    ("another body", NEW, signed(NEW), BODY + b" ", False),
    ("another id", NEW, signed(NEW) | {"webhook-id": str(UUID(int=1))}, BODY, False),
    ("another time", NEW, signed(NEW) | {"webhook-timestamp": str(int(NOW.timestamp()) - 1)}, BODY, False),
    ("replayed after five minutes", NEW, signed(NEW, at=NOW - FIVE), BODY, False),
    ("from the future", NEW, signed(NEW, at=NOW + FIVE), BODY, False),
]


@pytest.mark.parametrize("name, secret, head, body, good", CASES, ids=[case[0] for case in CASES])
def test_python_s_library_verifies(name: str, secret: str, head: dict[str, str], body: bytes, good: bool):
    if good:
        assert Webhook(secret).verify(body, head) == json.loads(body)
    else:
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, head)


def test_javascript_s_library_verifies():
    given: list[dict[str, Any]] = [
        {"secret": secret, "body": b64encode(body).decode(), "headers": head} for _, secret, head, body, _ in CASES
    ]
    verdicts = json.loads(run_node(installed(RECEIVERS) / "verify.mjs", json.dumps(given).encode()))
    assert verdicts == [None if good else "WebhookVerificationError" for *_, good in CASES]
