"""An identity provider that a test controls (a real server on loopback), and a browser that logs in at it."""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from mailkeep.core.secret import encode_base64url
from mailkeep.net.openid import code_challenge
from mailkeep.settings import OidcProvider, Settings
from mailkeep.settings.external import OidcSettings
from mailkeep.settings.http import HttpSettings
from tests.plugins.api import NO_RATE_LIMITS
from tests.support.caller import Answer
from tests.support.client import Api, Client

CLIENT_ID = "mailkeep"
CLIENT_SECRET = "a secret: with% signs"


@cache
def rsa_key(kid: str = "one") -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid})


@cache
def ec_key(kid: str = "curve") -> ECKey:
    return ECKey.generate_key("P-256", {"kid": kid})


def public(key: RSAKey | ECKey) -> dict[str, Any]:
    return dict(key.as_dict(private=False))


@dataclass
class Provider:
    """A provider with its metadata and responses, which a test can change before a login."""

    id: str = "acme"
    port: int = 0
    document: dict[str, Any] = field(default_factory=dict)  # changes to the discovery document; None removes a field
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public(rsa_key())])
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    claims: dict[str, Any] = field(default_factory=dict)  # changes to the ID token's claims; None removes one
    signer: Any = None  # instead of the key "one"
    make_token: Callable[[dict[str, Any]], str] | None = None  # instead of signing the claims
    userinfo: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Callable[[web.Request], Any]] = field(default_factory=dict)  # by path, instead of its own
    seen: list[str] = field(default_factory=list)  # the requested paths
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    now: Callable[[], float] = lambda: 0.0
    context: ssl.SSLContext | None = None  # for TLS, at localhost
    credentials: tuple[str | None, str | None, str | None] = (
        None,
        None,
        None,
    )  # Authorization, client_id, client_secret
    _runner: web.AppRunner | None = None

    @property
    def issuer(self) -> str:
        return f"https://localhost:{self.port}" if self.context else f"http://127.0.0.1:{self.port}"

    def settings(self, **more: Any) -> OidcProvider:
        defaults: dict[str, Any] = {"name": "Acme", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
        return OidcProvider(id=self.id, issuer=self.issuer, **(defaults | more))

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self.context).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request.path)
        own = self.answers.get(request.path)
        if own is not None:
            response = own(request)
            return await response if asyncio.iscoroutine(response) else response
        match request.path:
            case "/.well-known/openid-configuration":
                return web.json_response(self._document())
            case "/keys":
                return web.json_response({"keys": self.keys})
            case "/token":
                return await self._token(request)
            case "/userinfo":
                assert request.headers["authorization"].startswith("Bearer ")
                return web.json_response({"sub": self._claims("")["sub"], **self.userinfo})
        return web.Response(status=404)

    def _document(self) -> dict[str, Any]:
        values = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
        } | self.document
        return {name: value for name, value in values.items() if value is not None}

    async def _token(self, request: web.Request) -> web.Response:
        """The token response (RFC 6749 §4.1.3); accepts a code once, with its redirect URI and verifier."""
        form = await request.post()
        granted = self.codes.pop(str(form["code"]), None)
        client = (str(form[name]) if name in form else None for name in ("client_id", "client_secret"))
        self.credentials = (request.headers.get("authorization"), *client)  # type: ignore[assignment]
        if granted is None or form["redirect_uri"] != granted["redirect_uri"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        if code_challenge(str(form["code_verifier"])) != granted["code_challenge"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response(
            {"access_token": "at", "token_type": "Bearer", "id_token": self.token(granted["nonce"])}
        )

    def token(self, nonce: str) -> str:
        claims = self._claims(nonce)
        if self.make_token is not None:
            return self.make_token(claims)
        return jwt.encode(self.header, claims, self.signer or rsa_key(), algorithms=[self.header["alg"]])

    def _claims(self, nonce: str) -> dict[str, Any]:
        at = int(self.now())
        values: dict[str, Any] = {
            "iss": self.issuer, "aud": CLIENT_ID, "sub": "subject-1", "nonce": nonce, "iat": at, "exp": at + 300,
        } | self.claims  # fmt: skip
        return {name: value for name, value in values.items() if value is not None}

    def authorize(self, location: str) -> dict[str, str]:
        """Consent to the request at this location; returns the parameters of the redirect back."""
        parameters = dict(parse_qsl(urlsplit(location).query))
        assert location.startswith(f"{self.issuer}/authorize?tenant=1&"), location
        assert parameters["client_id"] == CLIENT_ID
        assert parameters["response_type"] == "code"
        assert parameters["code_challenge_method"] == "S256"
        assert len(parameters["nonce"]) == 43
        code = secrets.token_urlsafe(16)
        self.codes[code] = parameters
        return {"state": parameters["state"], "code": code}


@dataclass(frozen=True)
class Visitor:
    """A browser whose redirects the test follows; `client` has the cookie that binds the login to it."""

    api: Api
    client: Client
    location: str = ""

    async def begin(self, provider: Provider, **query: Any) -> Visitor:
        """Start a login; returns the visitor at the location of the provider."""
        answer = await self.client.get(f"/auth/oidc/login/{provider.id}", **query)
        assert answer.status == 302, answer.body
        redirected = replace(self, location=answer.headers["location"])
        cookie = answer.headers.get("set-cookie")
        return replace(redirected, client=self.api.nobody.with_cookie(cookie)) if cookie else redirected

    async def come_back(self, provider: Provider, parameters: Mapping[str, str | bytes]) -> Answer:
        """Follow the redirect to the callback, which sends no Strict session cookie."""
        answer = await self.client.get(f"/auth/oidc/callback/{provider.id}", **parameters)
        assert answer.status == 302, answer.body
        return answer

    async def log_in(self, provider: Provider, **query: Any) -> Answer:
        """Log in; returns the response of the callback."""
        there = await self.begin(provider, **query)
        return await there.come_back(provider, provider.authorize(there.location))


def ended(answer: Answer) -> tuple[str, dict[str, str]]:
    """The final location of the browser: its path, and its query or fragment."""
    parts = urlsplit(answer.headers["location"])
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}


def settings_of(*providers: OidcProvider, networks: tuple[str, ...] = ("127.0.0.0/8",), **more: Any) -> Settings:
    oidc = OidcSettings(providers=providers, allowed_networks=networks, **more)
    return replace(NO_RATE_LIMITS, oidc=oidc, http=HttpSettings(public_url="https://mail.example.test"))


def by_hand(header: dict[str, Any], claims: dict[str, Any], sign: Callable[[bytes], bytes] = lambda _: b"") -> str:
    """A token that no library would create; by default without a signature."""
    signed = ".".join(encode_base64url(json.dumps(part).encode()) for part in (header, claims))
    return f"{signed}.{encode_base64url(sign(signed.encode()))}"


def question_of(location: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(location).query))
