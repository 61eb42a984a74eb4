"""The Sender Rewriting Scheme (SRS): forwarded mail gets an envelope sender at this server that leads back to the
original one.

Mail forwarded with its original envelope sender fails SPF (RFC 7208, appendix D), because the sender's domain does not
list this server. The rewritten sender is an address of this server that contains the original one:

    someone@far.test            SRS0=HHHHHH=TT=far.test=someone@mx.example.com
    SRS0=…@forwarder.test       SRS1=HHHHHH=forwarder.test==…@mx.example.com

`TT` is the day and `HHHHHH` an HMAC of what follows it. Forged addresses are not accepted, nor SRS0 addresses older
than 21 days. SRS1 leads back to the first rewriting server of a chain. The HMAC ignores the case of letters, which
other servers may change. https://www.libsrs2.net/srs/srs.pdf
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
_CYCLE = 1024  # days that two base-32 digits can tell apart
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PLAIN = re.compile(r"[^\s\"(),:;<>@\[\]\\]+")
# ASCII: otherwise the Kelvin sign matches k.
_FORMS = re.ASCII | re.IGNORECASE
_SRS0 = re.compile(r"srs0[-+=]([a-z2-7]{6})=([a-z2-7]{2})=([^=]+)=(.+)", _FORMS)
_SRS1 = re.compile(r"srs1[-+=]([a-z2-7]{6})=([^=]+)=([-+=].+)", _FORMS)
# Addresses that other servers rewrote: only they can read the hash and the day.
_FOREIGN_SRS0 = re.compile(r"srs0([-+=].+)", _FORMS)
_FOREIGN_SRS1 = re.compile(r"srs1[-+=][^=]+=([^=]+)=([-+=].+)", _FORMS)


@dataclass(frozen=True, slots=True)
class SrsRewriter:
    """Rewrites and restores senders. `host`: the server's host name; `vault` signs with a key of the master secret."""

    host: str
    vault: Vault

    def rewrite(self, address: str, at: datetime) -> str | None:
        """Rewrite a sender. None if it must not change: it is at this server, empty, or can't be written in SRS."""
        local, _, domain = address.rpartition("@")
        if domain.lower() == self.host.lower() or not (_PLAIN.fullmatch(local) and _PLAIN.fullmatch(domain)):
            return None
        if srs1 := _FOREIGN_SRS1.fullmatch(local):
            local_part = self._srs1(srs1[1], srs1[2])
        elif srs0 := _FOREIGN_SRS0.fullmatch(local):
            local_part = self._srs1(domain, srs0[1])
        else:
            day = _day(at)
            local_part = f"SRS0={self._hash(day, domain, local)}={day}={domain}={local}"
        return f"{local_part}@{self.host}" if "=" not in domain and len(local_part.encode()) <= _MAX_LOCAL else None

    def restore(self, address: str, at: datetime | None = None) -> str | None:
        """Return the original of an address that this server rewrote; None for other addresses, and for one that has
        expired at `at` (None: addresses do not expire).
        """
        local, _, domain = address.rpartition("@")
        if domain.lower() != self.host.lower():
            return None
        if srs0 := _SRS0.fullmatch(local):
            digest, day, original_domain, original_local = srs0.groups()
            is_valid = at is None or (_parse_day(_day(at)) - _parse_day(day.lower())) % _CYCLE <= DAYS
            is_valid = is_valid and self._is_authentic(digest, day, original_domain, original_local)
            return f"{original_local}@{original_domain}" if is_valid else None
        if srs1 := _SRS1.fullmatch(local):
            digest, first_domain, opaque = srs1.groups()
            return f"SRS0{opaque}@{first_domain}" if self._is_authentic(digest, first_domain, opaque) else None
        return None

    def _srs1(self, first_domain: str, opaque: str) -> str:
        """The SRS1 local part for `SRS0` and `opaque` at the first rewriting server."""
        return f"SRS1={self._hash(first_domain, opaque)}={first_domain}={opaque}"

    def _is_authentic(self, digest: str, *parts: str) -> bool:
        return self._hash(*parts) == digest.lower()

    def _hash(self, *parts: str) -> str:
        signature = decode_base64url(self.vault.sign("srs", "=".join(parts).lower().encode()))
        assert signature is not None
        return b32encode(signature)[:6].decode().lower()


def rewriter(vault: Vault, settings: Settings) -> SrsRewriter:
    """Return the rewriter of this server. Its addresses are at Postfix's host name."""
    return SrsRewriter(settings.server.name, vault)


def _day(at: datetime) -> str:
    """The day as two base-32 digits, which repeat after 1,024 days."""
    number = int(at.timestamp()) // _DAY % _CYCLE
    return _DIGITS[number // 32] + _DIGITS[number % 32]


def _parse_day(day: str) -> int:
    return _DIGITS.index(day[0]) * 32 + _DIGITS.index(day[1])
