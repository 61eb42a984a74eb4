"""The client; see the package's docstring."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from mailkeep.core.network import Network
from mailkeep.core.secret import encode_base64url
from mailkeep.net.acme import jws
from mailkeep.net.acme.answers import (
    AcmeError,
    Directory,
    Order,
    RenewalInfo,
    decode,
    explain_invalid,
    explain_refusal,
    retry_after,
)
from mailkeep.net.acme.jws import AccountKey
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest, OutboundResponse

_ATTEMPTS = 10  # of a request whose nonce is refused
_MAX_ANSWER = 256 << 10
_SECONDS = 30.0
_POLL_SECONDS = 120.0
_MIN_PAUSE, _MAX_PAUSE = 0.2, 10.0
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)  # RFC 8555 §8.3

Challenge = Literal["http-01", "dns-01"]


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority: the URL of its directory, and how it may be reached."""

    directory: str
    allowed_networks: tuple[Network, ...] = ()
    extra_ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """What proves control of a name: for HTTP-01 the content for the token, for DNS-01 the value of the TXT record."""

    name: str
    token: str
    content: str


@dataclass(frozen=True, slots=True)
class Window:
    """When the authority suggests to renew a certificate (RFC 9773 §4.2), and when to ask again, in seconds."""

    start: datetime
    end: datetime
    ask_again: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """A certificate to order. `replaces`: the ARI identifier of its predecessor."""

    names: Sequence[str]
    challenge: Challenge
    profile: str = ""
    replaces: str = ""


class Publisher:
    """Publishes the proofs of an order, and removes them afterwards."""

    async def publish(self, proof: Proof) -> None:
        """Publish a proof; it must be visible when this returns. Failure."""
        raise NotImplementedError

    async def withdraw(self, proof: Proof) -> None:
        """Remove a proof."""
        raise NotImplementedError


class AcmeClient:
    """A session with an authority, with the key and (once registered) the URL of an account."""

    def __init__(self, outbound: OutboundClient, authority: Authority, key: AccountKey, account: str = "") -> None:
        self._outbound, self._authority, self._key = outbound, authority, key
        self._account = account
        self._nonce: str | None = None
        self._directory: Directory | None = None

    async def _read_directory(self) -> Directory:
        """The authority's directory (§7.1.1)."""
        if self._directory is None:
            response = await self._send("GET", self._authority.directory)
            if response.status != 200:
                raise AcmeError(f"{self._authority.directory} is not an ACME directory (status {response.status}).")
            self._directory = decode(response, Directory)
        return self._directory

    async def register(self, email: str, binding: tuple[str, str] | None = None) -> str:
        """Create the account, or find it if the key has one; its URL. `binding`: key ID and key of an external account
        binding.
        """
        directory = await self._read_directory()
        if directory.meta.external and binding is None:
            raise AcmeError("The authority requires an external account binding: set acme.eab_key_id and acme.eab_key.")
        url = directory.new_account
        payload: dict[str, Any] = {"termsOfServiceAgreed": True, "contact": [f"mailto:{email}"] if email else []}
        if binding is not None:
            try:
                payload["externalAccountBinding"] = jws.bind_externally(self._key, url, *binding)
            except ValueError:
                raise AcmeError("acme.eab_key is not a key in base64url.") from None
        self._account = ""
        response = await self._post(url, payload)
        self._account = response.headers.get("location", "")
        if not self._account:
            raise AcmeError("The authority did not say where the account is.")
        return self._account

    async def has_account(self) -> str:
        """The URL of the account of the key; empty if there is none."""
        directory = await self._read_directory()
        self._account = ""
        try:
            response = await self._post(directory.new_account, {"onlyReturnExisting": True})
        except AcmeError as error:
            if error.kind == "accountDoesNotExist":
                return ""
            raise
        self._account = response.headers.get("location", "")
        return self._account

    async def change_key(self, new: AccountKey) -> None:
        """Replace the account's key (§7.3.5); this session uses the new one afterwards."""
        url = (await self._read_directory()).key_change
        if not url:
            raise AcmeError("The authority does not support a change of the account key.")
        inner = jws.sign(
            new, {"jwk": jws.to_jwk(new), "url": url}, {"account": self._account, "oldKey": jws.to_jwk(self._key)}
        )
        await self._post(url, inner)
        self._key = new

    async def obtain(self, request: OrderRequest, certificate_key: AccountKey, publisher: Publisher) -> str:
        """Order a certificate, prove control of its names, and download it: the chain in PEM."""
        directory = await self._read_directory()
        payload: dict[str, Any] = {"identifiers": [{"type": "dns", "value": name} for name in request.names]}
        if request.profile:
            _require_profile(directory, request.profile)
            payload["profile"] = request.profile
        if request.replaces and directory.renewal_info:
            payload["replaces"] = request.replaces
        try:
            response = await self._post(directory.new_order, payload)
        except AcmeError as error:
            # The predecessor may have been replaced already, or belong to another account (RFC 9773 §5).
            if "replaces" not in payload or error.kind not in ("alreadyReplaced", "malformed", "unauthorized"):
                raise
            del payload["replaces"]
            response = await self._post(directory.new_order, payload)
        place, order = response.headers.get("location", ""), decode(response, Order)
        if len(order.authorizations) > len(request.names):
            raise AcmeError("The authority asks for more authorizations than there are names.")
        for url in order.authorizations:
            await self._authorize(url, request, publisher)
        await self._wait(place, ("ready", "valid"))
        await self._post(order.finalize, {"csr": _make_csr(request.names, certificate_key)})
        order = await self._wait(place, ("valid",))
        return _read_chain(await self._post(order.certificate, None), request.names, certificate_key)

    async def revoke(self, chain: str, reason: int) -> None:
        """Revoke a certificate that this account has ordered (§7.6); also if it is revoked already."""
        leaf = x509.load_pem_x509_certificates(chain.encode())[0]
        payload = {"certificate": encode_base64url(leaf.public_bytes(Encoding.DER)), "reason": reason}
        try:
            await self._post((await self._read_directory()).revoke_cert, payload)
        except AcmeError as error:
            if error.kind != "alreadyRevoked":
                raise

    async def find_window(self, leaf: x509.Certificate) -> Window | None:
        """When to renew a certificate (ARI); None if the authority does not say."""
        base, identifier = (await self._read_directory()).renewal_info, ari_identifier(leaf)
        if not base or not identifier:
            return None
        response = await self._send("GET", f"{base.rstrip('/')}/{quote(identifier)}")
        if response.status != 200:
            return None
        found = decode(response, RenewalInfo)
        start, end = (_with_zone(each) for each in (found.suggested_window.start, found.suggested_window.end))
        if start >= end:
            return None
        return Window(start, end, retry_after(response))

    async def _authorize(self, url: str, request: OrderRequest, publisher: Publisher) -> None:
        authorization = decode(await self._post(url, None), Order)
        if authorization.status == "valid" or authorization.identifier is None:
            return
        name, kind = authorization.identifier.value.lower(), request.challenge
        if name not in request.names:
            raise AcmeError("The authority asks for the authorization of a name that was not ordered.")
        challenge = next((each for each in authorization.challenges if each.type == kind), None)
        if challenge is None:
            raise AcmeError(f"The authority does not offer {kind} for {name}.")
        if not _TOKEN.fullmatch(challenge.token):
            raise AcmeError(f"The authority's token for {name} is not valid.")
        content = jws.key_authorization(self._key, challenge.token)
        proof = Proof(name, challenge.token, jws.dns_value(content) if kind == "dns-01" else content)
        try:
            await publisher.publish(proof)
            await self._post(challenge.url, {})
            await self._wait(url, ("valid",))
        finally:
            await publisher.withdraw(proof)

    async def _wait(self, url: str, states: Sequence[str]) -> Order:
        """An object once it has one of the states; AcmeError if it is invalid, or that takes too long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _POLL_SECONDS
        while True:
            response = await self._post(url, None)
            found = decode(response, Order)
            if found.status in states:
                return found
            if found.status not in ("pending", "processing", "ready"):
                raise explain_invalid(found)
            pause = min(max(retry_after(response) or 1.0, _MIN_PAUSE), _MAX_PAUSE)
            if loop.time() + pause > until:
                raise AcmeError("The authority did not finish in time.")
            await asyncio.sleep(pause)

    async def _post(self, url: str, payload: object) -> OutboundResponse:
        for _ in range(_ATTEMPTS):
            protected: dict[str, Any] = {"nonce": await self._take_nonce(), "url": url}
            protected |= {"kid": self._account} if self._account else {"jwk": jws.to_jwk(self._key)}
            response = await self._send("POST", url, msgspec.json.encode(jws.sign(self._key, protected, payload)))
            self._nonce = response.headers.get("replay-nonce")
            if response.status < 400:
                return response
            error = explain_refusal(response)
            if error.kind != "badNonce":
                raise error
        raise AcmeError("The authority refuses every nonce (badNonce).", "badNonce")

    async def _take_nonce(self) -> str:
        nonce, self._nonce = self._nonce, None
        if nonce is None:
            response = await self._send("HEAD", (await self._read_directory()).new_nonce)
            nonce = response.headers.get("replay-nonce")
            if nonce is None:
                raise AcmeError("The authority did not give a nonce.")
        return nonce

    async def _send(self, method: str, url: str, body: bytes = b"") -> OutboundResponse:
        request = OutboundRequest(
            method=method,
            url=url,
            headers={"Content-Type": "application/jose+json"} if body else {},
            body=body,
            allowed_networks=self._authority.allowed_networks,
            extra_ca_file=self._authority.extra_ca_file,
            timeout=_SECONDS,
            max_answer=_MAX_ANSWER,
        )
        try:
            return await self._outbound.send(request)
        except OutboundError as error:
            raise AcmeError(f"The authority can't be reached: {error.detail}") from error


def ari_identifier(leaf: x509.Certificate) -> str:
    """The identifier of a certificate for ARI (RFC 9773 §4.1); empty if it has no key identifier of its issuer."""
    try:
        issuer = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    except x509.ExtensionNotFound:
        return ""
    if issuer is None:
        return ""
    number = leaf.serial_number
    serial = number.to_bytes(number.bit_length() // 8 + 1, "big")  # DER: a leading zero if the high bit is set
    return f"{encode_base64url(issuer)}.{encode_base64url(serial)}"


def _make_csr(names: Sequence[str], key: AccountKey) -> str:
    alternative = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    request = builder.add_extension(alternative, critical=False).sign(key, SHA256())
    return encode_base64url(request.public_bytes(Encoding.DER))


def _read_chain(response: OutboundResponse, names: Sequence[str], key: AccountKey) -> str:
    """The chain in PEM, without anything between its certificates. AcmeError unless it is for this key and exactly
    these names, which the daemons' configuration will contain.
    """
    if response.truncated:
        raise AcmeError("The authority's answer is too large.")
    try:
        chain = x509.load_pem_x509_certificates(response.body)
        matches = chain[0].public_key() == key.public_key()
        alternative = chain[0].extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        found = {name.lower() for name in alternative.get_values_for_type(x509.DNSName)}
    except (ValueError, x509.ExtensionNotFound):
        raise AcmeError("What the authority sent is not a certificate in PEM.") from None
    if not matches:
        raise AcmeError("The certificate is not for the requested key.")
    if found != set(names):
        raise AcmeError("The certificate is not for the requested names.")
    return "".join(each.public_bytes(Encoding.PEM).decode("ascii") for each in chain)


def _require_profile(directory: Directory, profile: str) -> None:
    if profile not in directory.meta.profiles:
        names = ", ".join(sorted(directory.meta.profiles)) or "none"
        raise AcmeError(f"The authority has no profile {profile} (acme.profile); it has: {names}.", "invalidProfile")


def _with_zone(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
