"""An authority whose answers are hostile or wrong can't get names, files or records of ours."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from mailkeep.core.secret import decode_base64url
from mailkeep.net.acme import jws
from mailkeep.net.acme.answers import AcmeError, explain_refusal, retry_after
from mailkeep.net.acme.client import AcmeClient, Authority, OrderRequest, Proof, Publisher
from mailkeep.net.client import OutboundClient, OutboundRequest, OutboundResponse

NAME, BASE = "mx.host.test", "https://ca.test/"


def respond(content: bytes | dict[str, Any], status: int = 200, wait: str = "") -> OutboundResponse:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"replay-nonce": "n", "location": f"{BASE}order", "retry-after": wait}
    return OutboundResponse(status, headers, body, False, "", 0)


def decode(text: str) -> bytes:
    content = decode_base64url(text)
    assert content is not None
    return content


class HostileAuthority:
    """Answers by the last part of the URL; `names` are in its certificates."""

    def __init__(self, **changes: Any) -> None:
        self.token, self.identifier, self.names, self.authorizations = "token", NAME, [NAME], 1
        self.truncated, self.proved, self.csr = False, False, b""
        for name, value in changes.items():
            setattr(self, name, value)

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        place = request.url.removeprefix(BASE)
        if place == "directory":
            kinds = ("newNonce", "newAccount", "newOrder", "revokeCert")
            return respond({kind: BASE + kind for kind in kinds})
        if place == "challenge":
            self.proved = True
        if place == "finalize":
            payload = json.loads(decode(json.loads(request.body)["payload"]))
            self.csr = decode(payload["csr"])
        if place == "certificate":
            answer = respond(self._issue())
            return OutboundResponse(200, answer.headers, answer.body, self.truncated, "", 0)
        if place == "authorization":
            challenge = {"type": "http-01", "url": f"{BASE}challenge", "token": self.token}
            status = "valid" if self.proved else "pending"
            return respond({"status": status, "identifier": {"value": self.identifier}, "challenges": [challenge]})
        more = {"authorizations": [f"{BASE}authorization"] * self.authorizations, "finalize": f"{BASE}finalize"}
        return respond({"status": "valid" if self.csr else "ready", "certificate": f"{BASE}certificate", **more})

    def _issue(self) -> bytes:
        own, at = jws.new_key(), datetime.now(UTC)
        names = x509.SubjectAlternativeName([x509.DNSName(name) for name in self.names])
        builder = x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(x509.Name([]))
        builder = builder.public_key(x509.load_der_x509_csr(self.csr).public_key()).serial_number(1)
        builder = builder.not_valid_before(at).not_valid_after(at + timedelta(days=1))
        certificate = builder.add_extension(names, critical=False).sign(own, SHA256())
        return b"\xe9 text\n" + certificate.public_bytes(Encoding.PEM) + jws.to_pem(own)


class Recorder(Publisher):
    def __init__(self) -> None:
        self.proofs: list[Proof] = []

    async def publish(self, proof: Proof) -> None:
        self.proofs.append(proof)

    async def withdraw(self, proof: Proof) -> None:
        pass


async def obtain(authority: HostileAuthority, publisher: Publisher) -> str:
    client = AcmeClient(cast(OutboundClient, authority), Authority(f"{BASE}directory"), jws.new_key(), f"{BASE}me")
    return await client.obtain(OrderRequest(names=[NAME], challenge="http-01"), jws.new_key(), publisher)


async def test_only_certificates_of_its_answer_are_kept() -> None:
    chain = await obtain(HostileAuthority(), Recorder())
    assert chain.startswith("-----BEGIN CERTIFICATE-----")
    assert "PRIVATE KEY" not in chain


@pytest.mark.parametrize(
    "change, reason, published",
    [
        ({"token": "../../etc/passwd"}, "token for mx.host.test is not valid", 0),
        ({"token": "a\0"}, "token for mx.host.test is not valid", 0),
        ({"identifier": "www.other.test"}, "a name that was not ordered", 0),
        ({"authorizations": 1000}, "more authorizations than there are names", 0),
        ({"names": [NAME, "mail.x {\n}\nssl_key = </etc/shadow\n"]}, "not for the requested names", 1),
        ({"truncated": True}, "too large", 1),
    ],
)
async def test_what_is_refused(change: dict[str, Any], reason: str, published: int) -> None:
    recorder = Recorder()
    with pytest.raises(AcmeError, match=reason):
        await obtain(HostileAuthority(**change), recorder)
    assert len(recorder.proofs) == published


def test_texts_and_times_of_an_authority_have_limits() -> None:
    problem = {"type": "urn:ietf:params:acme:error:rateLimited", "detail": "wait\0\x1b[2J\nnow"}
    assert str(explain_refusal(respond(problem, 429))) == "The authority refused: wait [2J now (rateLimited)"
    waits = [retry_after(respond(b"", wait=text)) for text in ("9" * 400, "²", "later")]
    assert waits == [30 * 86_400, None, None]
