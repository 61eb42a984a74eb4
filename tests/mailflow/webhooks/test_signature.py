"""Signatures of deliveries, verified by our own code and by the libraries of Standard Webhooks."""

import hashlib
import hmac
import json
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from mailkeep.features.mailflow.webhooks.signature import _standard_signatures, headers, new_secret
from tests.support.node import install_packages, run_node
from tests.webhook_receivers.deliveries import BODY, EVENT, deliveries

RECEIVERS = Path(__file__).parents[2] / "webhook_receivers"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OLD, NEW = new_secret(), new_secret()
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def signed(*secrets: str, body: bytes = BODY) -> dict[str, str]:
    return headers(body, EVENT, "mail.sent", NOW, secrets)


def test_a_secret_is_whsec_and_256_random_bits():
    made = {new_secret() for _ in range(50)}
    assert len(made) == 50
    assert all(secret.startswith("whsec_") and len(b64decode(secret[6:], validate=True)) == 32 for secret in made)


def test_the_body_signature_uses_the_secret_as_shown():
    expected = hmac.new(SECRET.encode("utf-8"), BODY, hashlib.sha256).hexdigest()
    assert signed(SECRET)["X-Svc-Signature"] == expected


def test_the_standard_signature_uses_the_decoded_secret():
    found = headers(b"{}", EVENT, "mail.sent", datetime.fromtimestamp(1614265330, UTC), [SECRET])
    signature = hmac.digest(b64decode(SECRET[6:]), f"{EVENT}.1614265330.{{}}".encode(), "sha256")
    assert found["webhook-signature"] == "v1," + b64encode(signature).decode()
    assert (found["webhook-id"], found["webhook-timestamp"]) == (str(EVENT), "1614265330")


def test_the_example_of_the_specification():
    content = b'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}'
    assert _standard_signatures(content, [SECRET]) == ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="]


def test_both_secrets_sign_during_a_rotation():
    both = signed(NEW, OLD)
    assert both["X-Svc-Signature"] == signed(NEW)["X-Svc-Signature"]
    assert both["X-Svc-Signature-Previous"] == signed(OLD)["X-Svc-Signature"]
    assert both["webhook-signature"].split(" ") == [signed(each)["webhook-signature"] for each in (NEW, OLD)]
    assert "X-Svc-Signature-Previous" not in signed(NEW)


@given(st.binary(max_size=200))
def test_any_body_can_be_signed_and_signatures_differ(body: bytes):
    found = signed(SECRET, body=body)
    changed = signed(SECRET, body=body + b" ")
    assert all(found[name] != changed[name] for name in ("X-Svc-Signature", "webhook-signature"))
    assert all(value.isascii() and value.isprintable() for value in found.values())


def test_the_python_library_verifies_signatures():
    for each in deliveries():
        if each.genuine:
            assert Webhook(each.secret).verify(each.body, each.headers) == json.loads(each.body), each.name
        else:
            with pytest.raises((WebhookVerificationError, ValueError)):
                Webhook(each.secret).verify(each.body, each.headers)


def test_the_javascript_library_verifies_signatures():
    given = deliveries()
    sent = [{"secret": each.secret, "body": b64encode(each.body).decode(), "headers": each.headers} for each in given]
    verdicts = json.loads(run_node(install_packages(RECEIVERS) / "verify.mjs", json.dumps(sent).encode(), timeout=90))
    assert [verdict is None for verdict in verdicts] == [each.genuine for each in given], verdicts
