"""A hostile provider and a hostile browser: invalid proof opens no session, and is recorded in the audit log."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey as PrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt

from mailkeep.core.secret import encode_base64url
from mailkeep.net import openid
from mailkeep.net.openid import OpenIdClient
from tests.access.oidc.provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    Provider,
    Visitor,
    by_hand,
    ec_key,
    ended,
    public,
    rsa_key,
    settings_of,
)
from tests.access.oidc.test_login import link
from tests.support.caller import Answer
from tests.support.client import Api

Prepare = Callable[[Provider], None]


async def refused(api: Api, answer: Answer, code: str, why: str, case: str = "") -> None:
    """No session was opened, no identity linked, and the audit log has the reason."""
    path, parameters = ended(answer)
    assert (path, parameters.get("error")) == ("/login", code), case
    assert why not in answer.headers["location"]
    assert "svc_session" not in answer.headers.get("set-cookie", "")
    entry = (await api.audit_entries("auth.login"))[-1]
    assert (entry["outcome"], entry["error_code"]) == ("failed", code), case
    assert (entry["details"]["method"], entry["details"]["reason"]) == ("oidc:acme", why), case
    assert len(await api.sql("SELECT 1 FROM sessions")) == 4, f"the cast's own, after {case}"


@pytest.fixture(autouse=True)
async def linked(api: Api, provider: Provider, visitor: Visitor) -> None:
    """Sue's login would succeed without the change under test."""
    await link(api, "sue", provider)


def claims(**changes: Any) -> Prepare:
    def prepare(provider: Provider) -> None:
        provider.claims = {name: value(provider) if callable(value) else value for name, value in changes.items()}

    return prepare


def header(**changes: Any) -> Prepare:
    def prepare(provider: Provider) -> None:
        provider.header = provider.header | changes

    return prepare


def signed_by(signer: Any, **changes: Any) -> Prepare:
    def prepare(provider: Provider) -> None:
        provider.signer, provider.header = signer(), provider.header | changes

    return prepare


def with_token(make: Callable[[dict[str, Any]], str]) -> Prepare:
    def prepare(provider: Provider) -> None:
        provider.make_token = make

    return prepare


def at(seconds: float) -> Callable[[Provider], int]:
    return lambda provider: int(provider.now() + seconds)


def by_secret(secret: Callable[[], bytes]) -> Prepare:
    """HS256 with a public value as the secret (CVE-2015-9235)."""
    header = {"alg": "HS256", "kid": "one"}
    return with_token(lambda values: by_hand(header, values, lambda data: hmac.digest(secret(), data, "sha256")))


def pem() -> bytes:
    return rsa_key().public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def signature_of(key: PrivateKey | None) -> Callable[[bytes], bytes]:
    assert key is not None
    return lambda data: key.sign(data, PKCS1v15(), SHA256())


def altered(values: dict[str, Any]) -> str:
    """A signed token whose claims were replaced."""
    head, _, signature = jwt.encode({"alg": "RS256", "kid": "one"}, values | {"sub": "x"}, rsa_key()).split(".")
    return ".".join((head, encode_base64url(json.dumps(values).encode()), signature))


def own_key_in_header(values: dict[str, Any]) -> str:
    key = rsa_key("two")
    return by_hand({"alg": "RS256", "jwk": public(key)}, values, signature_of(key.private_key))


def critical(values: dict[str, Any]) -> str:
    """An unknown critical header must be refused (RFC 7515 §4.1.11)."""
    return by_hand(
        {"alg": "RS256", "kid": "one", "crit": ["b64"], "b64": True}, values, signature_of(rsa_key().private_key)
    )


def small_key(provider: Provider) -> None:
    key = generate_private_key(65537, 1024)
    modulus = key.public_key().public_numbers().n.to_bytes(128, "big")
    provider.keys = [{"kty": "RSA", "kid": "one", "n": encode_base64url(modulus), "e": "AQAB"}]
    provider.make_token = lambda values: by_hand({"alg": "RS256", "kid": "one"}, values, signature_of(key))


def for_encryption(provider: Provider) -> None:
    provider.keys = [public(rsa_key()) | {"use": "enc"}, public(ec_key())]


def two_without_id(provider: Provider) -> None:
    provider.keys = [public(rsa_key()) | {"kid": None}, public(rsa_key("two")) | {"kid": None}]
    provider.header = {"alg": "RS256"}


TOKENS: list[tuple[str, Prepare, str]] = [
    ("another issuer", claims(iss="https://evil.test"), "token_issuer"),
    ("the issuer with a slash", claims(iss=lambda p: f"{p.issuer}/"), "token_issuer"),
    ("the issuer in a list", claims(iss=lambda p: [p.issuer]), "token_issuer"),
    ("no issuer", claims(iss=None), "token_issuer"),
    ("another audience", claims(aud="somebody-else"), "token_audience"),
    ("other audiences", claims(aud=["a", "b"]), "token_audience"),
    ("no audience", claims(aud=None), "token_audience"),
    ("an audience that begins like ours", claims(aud=f"{CLIENT_ID}2"), "token_audience"),
    ("several audiences and no azp", claims(aud=[CLIENT_ID, "other"]), "token_azp"),
    ("several audiences and another's azp", claims(aud=[CLIENT_ID, "other"], azp="other"), "token_azp"),
    ("our audience, another's azp", claims(azp="other"), "token_azp"),
    ("another nonce", claims(nonce="x" * 43), "token_nonce"),
    ("no nonce", claims(nonce=None), "token_nonce"),
    ("a nonce that is no text", claims(nonce=["x"]), "token_nonce"),
    ("expired", claims(exp=at(-61)), "token_expired"),
    ("no expiry", claims(exp=None), "token_expired"),
    ("an expiry that is no number", claims(exp="2099-01-01"), "token_expired"),
    ("an expiry that is true", claims(exp=True), "token_expired"),
    ("issued in the future", claims(iat=at(61)), "token_issued_at"),
    ("issued long ago", claims(iat=at(-3600)), "token_issued_at"),
    ("not issued", claims(iat=None), "token_issued_at"),
    ("not valid yet", claims(nbf=at(61)), "token_not_before"),
    ("no subject", claims(sub=None), "token_subject"),
    ("an empty subject", claims(sub=""), "token_subject"),
    ("a subject that is a number", claims(sub=1), "token_subject"),
    ("a subject without end", claims(sub="x" * 256), "token_subject"),
    ("the hash of another access token", claims(at_hash="x" * 22), "token_at_hash"),
    ("the algorithm none", with_token(lambda values: by_hand({"alg": "none"}, values)), "token_algorithm"),
    (
        "the algorithm NoNe",
        with_token(lambda values: by_hand({"alg": "NoNe", "kid": "one"}, values)),
        "token_algorithm",
    ),
    ("no signature", with_token(lambda values: by_hand({"alg": "RS256", "kid": "one"}, values)), "token_signature"),
    ("HS256 with the public key in PEM", by_secret(pem), "token_algorithm"),
    ("HS256 with the public JWK", by_secret(lambda: json.dumps(public(rsa_key())).encode()), "token_algorithm"),
    ("HS256 with the client's secret", by_secret(CLIENT_SECRET.encode), "token_algorithm"),
    ("replaced claims", with_token(altered), "token_signature"),
    ("an unknown key", header(kid="unknown"), "token_unknown_key"),
    ("another's key by our key's id", signed_by(lambda: rsa_key("two")), "token_signature"),
    ("a key in the token's own header", with_token(own_key_in_header), "token_signature"),
    ("a key of another kind", signed_by(ec_key, alg="ES256"), "token_unknown_key"),
    ("a key of 1024 bits", small_key, "keys"),
    ("a key for encryption", for_encryption, "token_unknown_key"),
    ("two keys, and no telling which", two_without_id, "token_unknown_key"),
    ("a critical header", with_token(critical), "token_critical_header"),
    ("an access token", header(typ="at+jwt"), "token_type"),
    ("no token", with_token(lambda values: ""), "token_malformed"),
    ("no JSON", with_token(lambda values: f"{encode_base64url(b'{')}.{encode_base64url(b'{}')}.x"), "token_malformed"),
    ("five parts", with_token(lambda values: "a.b.c.d.e"), "token_malformed"),
    ("a token of 40 KB", claims(more="x" * 30_000), "token_malformed"),
]


def begin_again(api: Api, provider: Provider) -> None:
    """Reset the provider, and clear what is cached about it."""
    honest = Provider()
    for name in ("document", "keys", "header", "claims", "signer", "make_token", "userinfo", "answers"):
        setattr(provider, name, getattr(honest, name))
    provider.seen.clear()
    api.app.openid = OpenIdClient(api.app.outbound)


async def test_an_invalid_token_opens_no_session(api: Api, provider: Provider, visitor: Visitor):
    for name, prepare, why in TOKENS:
        begin_again(api, provider)
        there = await visitor.begin(provider)
        prepare(provider)
        answer = await there.come_back(provider, provider.authorize(there.location))
        await refused(api, answer, "UNAVAILABLE" if why == "keys" else "INVALID_CREDENTIALS", why, name)


def without_key_id(provider: Provider) -> None:
    provider.header = {"alg": "RS256"}


GOOD: list[tuple[str, Prepare]] = [
    ("as it comes", claims()),
    ("audiences with our azp", claims(aud=[CLIENT_ID, "other"], azp=CLIENT_ID)),
    ("the right hash of the access token", claims(at_hash=encode_base64url(hashlib.sha256(b"at").digest()[:16]))),
    ("a clock that is a minute ahead", claims(iat=at(59), nbf=at(59))),
    ("a clock that is a minute behind", claims(exp=at(-59), iat=at(-359))),
    ("a token without key id where there is one key", without_key_id),
    ("typ JWT", header(typ="JWT")),
]


def by_curve(provider: Provider) -> None:
    provider.keys.append(public(ec_key()))
    provider.signer, provider.header = ec_key(), {"alg": "ES256", "kid": "curve"}


def by_pss(provider: Provider) -> None:
    provider.header = provider.header | {"alg": "PS256"}


async def test_a_good_token_opens_a_session(api: Api, provider: Provider, visitor: Visitor):
    api.app.counters.drain()
    for name, prepare in [*GOOD, ("ES256", by_curve), ("PS256", by_pss)]:
        begin_again(api, provider)
        prepare(provider)
        assert ended(await visitor.log_in(provider)) == ("/", {}), name
    assert (("logins", ("http", "success")), len(GOOD) + 2) in list(api.app.counters.drain())


# The redirect back


async def test_a_used_code_opens_no_session(api: Api, provider: Provider, visitor: Visitor):
    there = await visitor.begin(provider)
    parameters = provider.authorize(there.location)
    assert ended(await there.come_back(provider, parameters)) == ("/", {})
    await api.sql("DELETE FROM sessions WHERE user_agent IS NULL")
    # In the same login: its state was used. In another login: the provider no longer accepts the code.
    await refused(api, await there.come_back(provider, parameters), "SESSION_INVALID", "unknown_state")
    again = await visitor.begin(provider)
    replayed = provider.authorize(again.location) | {"code": parameters["code"]}
    await refused(api, await again.come_back(provider, replayed), "INVALID_CREDENTIALS", "code")


async def test_a_code_is_bound_to_the_verifier_of_its_login(api: Api, provider: Provider, visitor: Visitor):
    """A stolen code, injected into the attacker's own login (RFC 9700 §4.5)."""
    victim = provider.authorize((await visitor.begin(provider)).location)
    attacker = await visitor.begin(provider)
    injected = provider.authorize(attacker.location) | {"code": victim["code"]}
    await refused(api, await attacker.come_back(provider, injected), "INVALID_CREDENTIALS", "code")


ANSWERS: list[tuple[dict[str, Any], str, str]] = [
    ({"state": None}, "INVALID_CREDENTIALS", "no_state"),
    ({"state": ""}, "INVALID_CREDENTIALS", "no_state"),
    ({"state": "x" * 43}, "SESSION_INVALID", "unknown_state"),
    ({"state": "x" * 201}, "INVALID_CREDENTIALS", "too_long"),
    ({"state": "ÿ\ud800"}, "SESSION_INVALID", "unknown_state"),
    ({"code": None}, "INVALID_CREDENTIALS", "no_code"),
    ({"code": ""}, "INVALID_CREDENTIALS", "no_code"),
    ({"code": "made-up"}, "INVALID_CREDENTIALS", "code"),
    ({"code": "x" * 8193}, "INVALID_CREDENTIALS", "too_long"),
    ({"iss": "https://evil.test"}, "INVALID_CREDENTIALS", "mix_up"),
    ({"iss": ""}, "INVALID_CREDENTIALS", "mix_up"),
    ({"error": "something_else", "code": None}, "FORBIDDEN", "provider_refused"),
    ({"error": "<script>", "code": None}, "FORBIDDEN", "provider_refused"),
]


async def test_an_invalid_response_opens_no_session(api: Api, provider: Provider, visitor: Visitor):
    for changes, code, why in ANSWERS:
        there = await visitor.begin(provider)
        parameters = provider.authorize(there.location) | {"session_state": "whatever", "scope": "openid"} | changes
        sent = {name: value.encode("utf-8", "surrogatepass") for name, value in parameters.items() if value is not None}
        answer = await there.come_back(provider, sent)
        if why == "provider_refused":  # a reason that users see
            assert ended(answer) == ("/login", {"error": code, "reason": why})
            assert (await api.audit_entries("auth.login"))[-1]["details"]["reason"] == why
        else:
            await refused(api, answer, code, why, str(changes))


async def test_the_user_may_refuse_at_the_provider(api: Api, provider: Provider, visitor: Visitor):
    there = await visitor.begin(provider)
    parameters = {"state": provider.authorize(there.location)["state"], "error": "access_denied"}
    answer = await there.come_back(provider, parameters)
    assert ended(answer) == ("/login", {"error": "FORBIDDEN", "reason": "access_denied"})
    assert (await api.audit_entries("auth.login"))[-1]["details"]["reason"] == "access_denied"


async def test_a_repeated_parameter_is_refused(api: Api, provider: Provider, visitor: Visitor):
    there = await visitor.begin(provider)
    parameters = provider.authorize(there.location)
    query = f"state={parameters['state']}&code={parameters['code']}&code=other"
    answer = await there.client("GET", f"/auth/oidc/callback/acme?{query}")
    await refused(api, answer, "INVALID_CREDENTIALS", "repeated_parameter")


async def test_a_login_belongs_to_the_browser_that_began_it(api: Api, provider: Provider, visitor: Visitor):
    """Login CSRF: the attacker's response in the victim's browser."""
    there = await visitor.begin(provider)
    parameters = provider.authorize(there.location)
    elsewhere = replace(there, client=api.nobody)
    await refused(api, await elsewhere.come_back(provider, parameters), "SESSION_INVALID", "no_cookie")
    another = await visitor.begin(provider)
    await refused(api, await another.come_back(provider, parameters), "SESSION_INVALID", "unknown_state")
    # The browser that began it can still complete it.
    assert ended(await there.come_back(provider, parameters)) == ("/", {})


async def test_a_login_expires_after_ten_minutes(api: Api, provider: Provider, visitor: Visitor):
    there = await visitor.begin(provider)
    parameters = provider.authorize(there.location)
    api.clock.advance(minutes=10)
    await refused(api, await there.come_back(provider, parameters), "SESSION_INVALID", "unknown_state")
    await visitor.begin(provider)
    assert len(await api.sql("SELECT 1 FROM oidc_logins")) == 1, "what was never finished is forgotten"


async def test_a_response_of_another_provider_is_refused(
    api: Api, provider: Provider, other: Provider, visitor: Visitor
):
    """Mix-up attack (RFC 9207 §1): the response of one provider at the callback of another."""
    there = await visitor.begin(other)
    parameters = other.authorize(there.location)
    await refused(api, await there.come_back(provider, parameters), "INVALID_CREDENTIALS", "mix_up")


async def test_a_provider_that_announces_its_issuer_must_send_it(api: Api, provider: Provider, visitor: Visitor):
    provider.document = {"authorization_response_iss_parameter_supported": True}
    there = await visitor.begin(provider)
    parameters = provider.authorize(there.location)
    await refused(api, await there.come_back(provider, parameters), "INVALID_CREDENTIALS", "mix_up")
    there = await visitor.begin(provider)
    parameters = provider.authorize(there.location) | {"iss": provider.issuer}
    assert ended(await there.come_back(provider, parameters)) == ("/", {})


# Metadata of the provider


def answering(**more: Any) -> Callable[[web.Request], web.Response]:
    return lambda request: web.Response(**more)


def redirecting(request: web.Request) -> web.Response:
    return web.Response(status=302, headers={"location": f"http://{request.host}/moved"})


async def slow(request: web.Request) -> web.StreamResponse:
    """Send a byte from time to time, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(1000):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    return response


DISCOVERY: list[tuple[str, dict[str, Any], str]] = [
    ("oversized", {"answer": answering(body=b"[" + b" " * (256 * 1024))}, "oversized"),
    ("slow", {"answer": slow}, "timeout"),
    ("redirected to loopback", {"answer": redirecting}, "status"),
    ("gone", {"answer": answering(status=404)}, "status"),
    ("at fault", {"answer": answering(status=500)}, "status"),
    ("no JSON", {"answer": answering(body=b"<html>")}, "malformed"),
    ("no object", {"answer": answering(body=b"[]")}, "malformed"),
    ("nested without end", {"answer": answering(body=b"[" * 100_000)}, "malformed"),
    ("compressed", {"answer": answering(body=b"\x1f\x8b\x08", headers={"content-encoding": "gzip"})}, "malformed"),
    ("another's", {"document": {"issuer": "https://evil.test"}}, "issuer"),
    ("without issuer", {"document": {"issuer": None}}, "issuer"),
    ("without keys", {"document": {"jwks_uri": None}}, "endpoint"),
    ("a token endpoint on a plain host", {"document": {"token_endpoint": "http://evil.test/"}}, "endpoint"),
    ("an endpoint with credentials", {"document": {"token_endpoint": "https://a:b@evil.test/"}}, "endpoint"),
    ("an endpoint of another scheme", {"document": {"authorization_endpoint": "javascript:alert(1)"}}, "endpoint"),
    ("an endpoint with a line break", {"document": {"authorization_endpoint": "https://a.test/\r\nx: y"}}, "endpoint"),
    ("an endpoint that is a number", {"document": {"token_endpoint": "https://2130706433/"}}, "endpoint"),
    ("an endpoint that is no text", {"document": {"token_endpoint": 1}}, "endpoint"),
]


async def test_an_invalid_discovery_document_is_refused(
    api: Api, provider: Provider, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
):
    for name, changes, why in DISCOVERY:
        # The other cases must not time out on a slow machine.
        monkeypatch.setattr(openid, "_SECONDS", 0.5 if why == "timeout" else 60.0)
        begin_again(api, provider)
        provider.document = changes.get("document", {})
        if "answer" in changes:
            provider.answers["/.well-known/openid-configuration"] = changes["answer"]
        started = time.monotonic()
        answer = await visitor.client.get("/auth/oidc/login/acme")
        assert time.monotonic() - started < 30, name  # without a limit, the slow one takes 50 s
        assert ended(answer) == ("/login", {"error": "UNAVAILABLE", "reason": "provider"}), name
        await refused(api, answer, "UNAVAILABLE", why, name)
        assert "/moved" not in provider.seen
        assert not await api.sql("SELECT 1 FROM oidc_logins"), name


INWARDS = [
    ("jwks_uri", "https://127.0.0.1:1/keys"),
    ("jwks_uri", "https://[::1]:1/keys"),
    ("jwks_uri", "https://169.254.169.254/latest/meta-data"),
    ("jwks_uri", "https://[::ffff:10.0.0.1]/keys"),
    ("token_endpoint", "https://10.0.0.1/token"),
    ("token_endpoint", "https://192.168.1.1/token"),
]


async def test_no_endpoint_may_be_in_the_internal_network(api: Api, provider: Provider, visitor: Visitor):
    """Only addresses in `oidc.allowed_networks` are contacted; the last case allows another loopback address."""
    known = api.app.settings
    for name, url in INWARDS:
        begin_again(api, provider)
        api.app.settings = known
        provider.document = {name: url}
        there = await visitor.begin(provider)
        if "127.0.0.1" in url:
            api.app.settings = settings_of(provider.settings(), networks=("127.0.0.2",))
        answer = await there.come_back(provider, provider.authorize(there.location))
        await refused(api, answer, "UNAVAILABLE", "address_refused", url)


TOKEN_ANSWERS: list[tuple[Any, str, str]] = [
    (answering(status=500), "UNAVAILABLE", "token_endpoint"),
    (answering(status=400, body=b'{"error": "invalid_client"}'), "UNAVAILABLE", "token_endpoint"),
    (answering(status=401, body=b'{"error": "invalid_client"}'), "UNAVAILABLE", "token_endpoint"),
    (answering(status=400, body=b'{"error": "invalid_grant"}'), "INVALID_CREDENTIALS", "code"),
    (answering(status=400, body=b"<html>"), "UNAVAILABLE", "malformed"),
    (answering(body=b"{}"), "INVALID_CREDENTIALS", "token_missing"),
    (answering(body=b'{"id_token": 1}'), "INVALID_CREDENTIALS", "token_missing"),
    (answering(body=b" " * 300_000), "UNAVAILABLE", "oversized"),
    (redirecting, "UNAVAILABLE", "token_endpoint"),
]


async def test_an_invalid_token_response_opens_no_session(api: Api, provider: Provider, visitor: Visitor):
    for number, (answer, code, why) in enumerate(TOKEN_ANSWERS):
        begin_again(api, provider)
        provider.answers["/token"] = answer
        await refused(api, await visitor.log_in(provider), code, why, str(number))
        assert "/moved" not in provider.seen


@pytest.mark.parametrize("options", [{"trust_email": True}])
async def test_userinfo_must_be_of_the_same_subject(api: Api, provider: Provider, visitor: Visitor):
    """Userinfo of another subject is ignored (OpenID Connect Core §5.3.4)."""
    provider.userinfo = {"sub": "somebody-else", "email": "sue@example.test", "email_verified": True}
    await refused(api, await visitor.log_in(provider), "INVALID_CREDENTIALS", "token_userinfo_subject")


# Key rotation and unavailable providers


async def test_a_new_key_is_fetched_when_a_token_names_it(provider: Provider, visitor: Visitor, api: Api):
    assert ended(await visitor.log_in(provider)) == ("/", {})
    provider.keys = [public(rsa_key("two"))]
    provider.signer, provider.header = rsa_key("two"), {"alg": "RS256", "kid": "two"}
    api.clock.advance(seconds=30)
    assert ended(await visitor.log_in(provider)) == ("/", {})
    assert provider.seen.count("/keys") == 2
    # The old key is no longer accepted.
    provider.signer, provider.header = None, {"alg": "RS256", "kid": "one"}
    assert ended(await visitor.log_in(provider))[1]["error"] == "INVALID_CREDENTIALS"


async def test_unknown_key_ids_do_not_refetch_the_keys_each_time(provider: Provider, visitor: Visitor, api: Api):
    provider.header = {"alg": "RS256", "kid": "made-up"}
    for _ in range(5):
        assert ended(await visitor.log_in(provider))[1]["error"] == "INVALID_CREDENTIALS"
    assert provider.seen.count("/keys") == 1
    api.clock.advance(seconds=30)
    await visitor.log_in(provider)
    assert provider.seen.count("/keys") == 2


async def test_published_metadata_is_cached_for_an_hour(provider: Provider, visitor: Visitor, api: Api):
    for _ in range(3):
        assert ended(await visitor.log_in(provider)) == ("/", {})
    api.clock.advance(minutes=60)
    assert ended(await visitor.log_in(provider)) == ("/", {})
    assert provider.seen.count("/.well-known/openid-configuration") == 2
    assert provider.seen.count("/keys") == 2


async def test_a_provider_that_is_down_is_reported_and_recovers(api: Api, provider: Provider, visitor: Visitor):
    port = provider.port
    await provider.stop()
    answer = await visitor.client.get("/auth/oidc/login/acme")
    await refused(api, answer, "UNAVAILABLE", "connect")
    await provider.start()
    assert provider.port == port
    # It is not contacted again for 5 seconds.
    assert ended(await visitor.client.get("/auth/oidc/login/acme"))[1]["error"] == "UNAVAILABLE"
    assert provider.seen == []
    api.clock.advance(seconds=5)
    assert ended(await visitor.log_in(provider)) == ("/", {})


async def test_cached_keys_are_used_while_the_provider_fails(api: Api, provider: Provider, visitor: Visitor):
    assert ended(await visitor.log_in(provider)) == ("/", {})
    provider.answers["/keys"] = provider.answers["/.well-known/openid-configuration"] = answering(status=503)
    api.clock.advance(hours=23)
    assert ended(await visitor.log_in(provider)) == ("/", {})
    api.clock.advance(hours=1, seconds=1)
    assert ended(await visitor.client.get("/auth/oidc/login/acme"))[1]["error"] == "UNAVAILABLE"


async def test_no_refusal_contains_a_secret(api: Api, provider: Provider, visitor: Visitor):
    provider.answers["/token"] = answering(status=500)
    await visitor.log_in(provider)
    entries = json.dumps(await api.sql("SELECT details::text FROM audit_entries"))
    assert "with% signs" not in entries
    assert "subject-1" not in entries
