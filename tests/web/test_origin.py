"""The origin of a request: trusted proxies, and refused sites."""

from __future__ import annotations

import pytest

from tests.support.caller import Caller
from tests.web.pipeline_setup import ADA_KEY, API, PipelineSetup

PROXIES = ("10.0.0.0/8", "fd00::/8", "127.0.0.1")


@pytest.mark.parametrize(
    "peer, forwarded, address",
    [
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "198.51.100.7:443", "10.0.0.1"),
        ("::ffff:10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"),
        ("fd00::1", "2001:DB8:0::1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "198.51.100.7", "192.0.2.1"),
    ],
)
async def test_the_address_is_the_last_hop_that_is_not_a_trusted_proxy(peer: str, forwarded: str, address: str):
    setup = PipelineSetup()
    setup.app.change("http", trusted_proxies=PROXIES)
    answer = await Caller(setup.pipeline, peer)("GET", f"{API}/open", {"x-forwarded-for": forwarded})
    assert answer.data["ip"] == address


async def test_without_trusted_proxies_forwarded_headers_are_ignored():
    answer = await PipelineSetup().call(
        "GET", f"{API}/open", {"x-forwarded-for": "198.51.100.7", "x-forwarded-proto": "https"}
    )
    assert (answer.data["ip"], answer.data["secure"]) == ("192.0.2.1", False)


@pytest.mark.parametrize(
    "peer, scheme, public_url, proto, secure",
    [
        ("192.0.2.1", "http", "http://localhost:8080", "https", False),
        ("10.0.0.1", "http", "http://localhost:8080", "https", True),
        ("10.0.0.1", "http", "http://localhost:8080", "http", False),
        ("192.0.2.1", "https", "http://localhost:8080", "", True),
        ("192.0.2.1", "http", "https://mail.example.test", "", True),
    ],
)
async def test_a_call_is_secure_by_tls_public_url_or_a_trusted_proxy(
    peer: str, scheme: str, public_url: str, proto: str, secure: bool
):
    setup = PipelineSetup()
    setup.app.change("http", trusted_proxies=PROXIES, public_url=public_url)
    answer = await Caller(setup.pipeline, peer, scheme)("GET", f"{API}/open", {"x-forwarded-proto": proto})
    assert answer.data["secure"] is secure


FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://evil.test"},
    {"origin": "https://mail.example.test.evil.test"},
    {"origin": "https://mail.example.test:8443"},
    {"origin": "null"},
    {"origin": "null", "host": ""},
    {"origin": "https://["},
    {"origin": "\xff"},
    {"origin": "https://evil.test", "sec-fetch-site": "same-origin"},
]
OWN = [
    {},
    {"sec-fetch-site": "same-origin", "origin": "https://mail.example.test"},
    {"sec-fetch-site": "none"},
    {"origin": "http://localhost:8080"},
    {"origin": "HTTPS://Mail.Example.test"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_an_unsafe_call_from_another_site_is_refused(headers: dict[str, str]):
    answer = await PipelineSetup().call("POST", f"{API}/login", headers)
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert answer.json["error"]["details"] == {"reason": "cross_site"}


@pytest.mark.parametrize("headers", OWN, ids=str)
async def test_an_unsafe_call_from_the_same_origin_is_allowed(headers: dict[str, str]):
    assert (await PipelineSetup().call("POST", f"{API}/login", headers)).status == 200


@pytest.mark.parametrize("headers", FOREIGN[:3], ids=str)
async def test_safe_calls_and_api_keys_are_allowed_from_any_origin(headers: dict[str, str]):
    setup = PipelineSetup()
    assert (await setup.call("GET", f"{API}/open", headers)).status == 200
    assert (await setup.call("POST", f"{API}/echo", headers | ADA_KEY)).status == 200


PREFLIGHT = {"origin": "https://app.example", "access-control-request-method": "POST"}


async def test_without_configured_origins_there_is_no_cors():
    setup = PipelineSetup()
    answer = await setup.call("OPTIONS", f"{API}/things", PREFLIGHT)
    assert answer.status == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_configured_origins_are_exact():
    setup = PipelineSetup()
    setup.app.change("cors", origins=("https://app.example",))
    answer = await setup.call("GET", f"{API}/open", {"origin": "https://app.example"})
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert answer.headers["vary"] == "Origin"
    assert "X-Request-Id" in answer.headers["access-control-expose-headers"]
    assert "Idempotent-Replayed" in answer.headers["access-control-expose-headers"]
    assert "Content-Disposition" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers
    for origin in ("https://app.example.evil.test", "http://app.example", "https://app.example:8443", "null"):
        other = await setup.call("GET", f"{API}/open", {"origin": origin})
        assert "access-control-allow-origin" not in other.headers
        assert other.headers["vary"] == "Origin"


async def test_a_preflight_is_answered_for_configured_origins_only():
    setup = PipelineSetup()
    setup.app.change("cors", origins=("https://app.example",))
    answer = await setup.call("OPTIONS", f"{API}/things", PREFLIGHT)
    assert answer.status == 204
    for name in ("Authorization", "Last-Event-ID"):
        assert name in answer.headers["access-control-allow-headers"]
    assert (await setup.call("OPTIONS", f"{API}/things", PREFLIGHT | {"origin": "https://evil.test"})).status == 405
    assert (await setup.call("OPTIONS", f"{API}/things", {"origin": "https://app.example"})).status == 405
