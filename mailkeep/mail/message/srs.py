"""The Sender Rewriting Scheme (SRS): gives forwarded mail an envelope sender of ours that leads back to the original.

Mail forwarded with its original envelope sender fails SPF (RFC 7208, appendix D), because the sender's domain does not
list our servers. The rewritten sender is an address of this server that contains the original one:

    someone@far.test            SRS0=HHHHHH=TT=far.test=someone@mx.example.com
    SRS0=…@forwarder.test       SRS1=HHHHHH=forwarder.test==…@mx.example.com

`TT` is the day and `HHHHHH` an HMAC of the rest: forged addresses are not accepted, nor any after 21 days. SRS1 leads
back to the first rewriting server of a chain. The HMAC ignores the case of letters, which other servers may change.
https://www.libsrs2.net/srs/srs.pdf
"""

from __future__ import annotations

import re
from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime

from mailkeep.core.secret import Vault, decode_base64url
from mailkeep.settings import Settings

DAYS = 21
"""How long a rewritten address is valid: longer than any server retries (RFC 5321 §4.5.4.1: 4 to 5 days)."""

_MAX_LOCAL = 250  # bytes: RFC 5321 §4.5.3.1.1 says 64, which SRS addresses exceed
_DAY = 86_400
_CYCLE = 1024
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PLAIN = re.compile(r"[^\s\"(),:;<>@\[\]\\]+")
# ASCII: otherwise the Kelvin sign matches k.
_FORMS = re.ASCII | re.IGNORECASE
_SRS0 = re.compile(r"srs0[-+=]([a-z2-7]{6})=([a-z2-7]{2})=([^=]+)=(.+)", _FORMS)
_SRS1 = re.compile(r"srs1[-+=]([a-z2-7]{6})=([^=]+)=([-+=].+)", _FORMS)
# Addresses of other servers: their hash and day are opaque.
_FOREIGN_SRS0 = re.compile(r"srs0([-+=].+)", _FORMS)
_FOREIGN_SRS1 = re.compile(r"srs1[-+=][^=]+=([^=]+)=([-+=].+)", _FORMS)


@dataclass(frozen=True, slots=True)
class SrsRewriter:
    """Rewrites addresses for one server, with its name and the installation's master secret."""

    host: str
    vault: Vault

    def rewrite(self, address: str, at: datetime) -> str | None:
        """Rewrite a sender. Returns None if it is to stay: it is ours, empty, or has no SRS form."""
        local, _, domain = address.rpartition("@")
        if domain.lower() == self.host.lower() or not (_PLAIN.fullmatch(local) and _PLAIN.fullmatch(domain)):
            return None
        if chain := _FOREIGN_SRS1.fullmatch(local):
            local_part = self._srs1(chain[1], chain[2])
        elif first := _FOREIGN_SRS0.fullmatch(local):
            local_part = self._srs1(domain, first[1])
        else:
            day = _day(at)
            local_part = f"SRS0={self._hash(day, domain, local)}={day}={domain}={local}"
        return f"{local_part}@{self.host}" if "=" not in domain and len(local_part.encode()) <= _MAX_LOCAL else None

    def restore(self, address: str, at: datetime | None = None) -> str | None:
        """Return the original of a rewritten address; None if it is not ours or has expired (`at` None: never)."""
        local, _, domain = address.rpartition("@")
        if domain.lower() != self.host.lower():
            return None
        if ours := _SRS0.fullmatch(local):
            digest, day, far, name = ours.groups()
            fresh = at is None or (_number(_day(at)) - _number(day.lower())) % _CYCLE <= DAYS
            return f"{name}@{far}" if fresh and self._is_ours(digest, day, far, name) else None
        if chain := _SRS1.fullmatch(local):
            digest, far, rest = chain.groups()
            return f"SRS0{rest}@{far}" if self._is_ours(digest, far, rest) else None
        return None

    def _srs1(self, far: str, rest: str) -> str:
        return f"SRS1={self._hash(far, rest)}={far}={rest}"

    def _is_ours(self, digest: str, *parts: str) -> bool:
        return self._hash(*parts) == digest.lower()

    def _hash(self, *parts: str) -> str:
        signed = decode_base64url(self.vault.sign("srs", "=".join(parts).lower().encode()))
        assert signed is not None
        return b32encode(signed)[:6].decode().lower()


def rewriter(vault: Vault, settings: Settings) -> SrsRewriter:
    """Return the rewriter of an instance. Its addresses are at Postfix's host name."""
    return SrsRewriter(settings.server.name, vault)


def _day(at: datetime) -> str:
    """The day as two base-32 digits, which repeat after 1,024 days."""
    number = int(at.timestamp()) // _DAY % _CYCLE
    return _DIGITS[number // 32] + _DIGITS[number % 32]


def _number(day: str) -> int:
    return _DIGITS.index(day[0]) * 32 + _DIGITS.index(day[1])
