"""The Sender Rewriting Scheme: an envelope sender that is ours, by which bounces still find the one who wrote.

What is passed on to the outside under its own sender fails SPF there (RFC 7208, appendix D): the sender's domain names
its own servers, not us. Rewritten, it comes from an address of this server, which holds the old one:

    someone@far.test            SRS0=HHHHHH=TT=far.test=someone@mx.example.com
    SRS0=…@forwarder.test       SRS1=HHHHHH=forwarder.test==…@mx.example.com

`TT` is the day, `HHHHHH` an HMAC over the rest: whoever else makes up such an address gets nothing passed back, and
after 21 days nobody does. SRS1 leads back to the first who rewrote, however long the chain. The case of letters is
kept, and counts for nothing in the HMAC, since servers on the way may change it. https://www.libsrs2.net/srs/srs.pdf
"""

from __future__ import annotations

import re
import socket
from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from mailkeep.core.secret import Vault, decode_base64url
from mailkeep.settings import Settings

DAYS = 21
"""How long a rewritten address leads back: longer than any server tries (RFC 5321 §4.5.4.1: 4 to 5 days)."""

_MAX_LOCAL = 250  # bytes: longer than RFC 5321 §4.5.3.1.1 has it, as such addresses are
_DAY = 86_400
_CYCLE = 1024
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PLAIN = re.compile(r"[^\s\"(),:;<>@\[\]\\]+")
# ASCII: else the Kelvin sign is a K, and no digit.
_FORMS = re.ASCII | re.IGNORECASE
_SRS0 = re.compile(r"srs0[-+=]([a-z2-7]{6})=([a-z2-7]{2})=([^=]+)=(.+)", _FORMS)
_SRS1 = re.compile(r"srs1[-+=]([a-z2-7]{6})=([^=]+)=([-+=].+)", _FORMS)
# Of others: their hashes and days are their own matter.
_FOREIGN_SRS0 = re.compile(r"srs0([-+=].+)", _FORMS)
_FOREIGN_SRS1 = re.compile(r"srs1[-+=][^=]+=([^=]+)=([-+=].+)", _FORMS)


@dataclass(frozen=True, slots=True)
class SrsRewriter:
    """Rewrites for one server, by its name and the installation's master secret."""

    host: str
    vault: Vault

    def rewrite(self, address: str, at: datetime) -> str | None:
        """What a sender becomes at a time; None for one that stays as it is: ours, none, or not to be represented."""
        local, _, domain = address.rpartition("@")
        if domain.lower() == self.host.lower() or not (_PLAIN.fullmatch(local) and _PLAIN.fullmatch(domain)):
            return None
        if chain := _FOREIGN_SRS1.fullmatch(local):
            made = self._srs1(chain[1], chain[2])
        elif first := _FOREIGN_SRS0.fullmatch(local):
            made = self._srs1(domain, first[1])
        else:
            day = _day(at)
            made = f"SRS0={self._hash(day, domain, local)}={day}={domain}={local}"
        return f"{made}@{self.host}" if "=" not in domain and len(made.encode()) <= _MAX_LOCAL else None

    def restore(self, address: str, at: datetime | None = None) -> str | None:
        """Whom a rewritten address leads back to; None for one that we did not make, or (at a time) too long ago."""
        local, _, domain = address.rpartition("@")
        if domain.lower() != self.host.lower():
            return None
        if ours := _SRS0.fullmatch(local):
            given, day, far, name = ours.groups()
            fresh = at is None or (_number(_day(at)) - _number(day.lower())) % _CYCLE <= DAYS
            return f"{name}@{far}" if fresh and self._is_ours(given, day, far, name) else None
        if chain := _SRS1.fullmatch(local):
            given, far, rest = chain.groups()
            return f"SRS0{rest}@{far}" if self._is_ours(given, far, rest) else None
        return None

    def _srs1(self, far: str, rest: str) -> str:
        return f"SRS1={self._hash(far, rest)}={far}={rest}"

    def _is_ours(self, given: str, *parts: str) -> bool:
        return self._hash(*parts) == given.lower()

    def _hash(self, *parts: str) -> str:
        signed = decode_base64url(self.vault.sign("srs", "=".join(parts).lower().encode()))
        assert signed is not None
        return b32encode(signed)[:6].decode().lower()


def rewriter(vault: Vault, settings: Settings) -> SrsRewriter:
    """The rewriter of an instance: its addresses are at the name by which Postfix knows itself."""
    return SrsRewriter(settings.server.hostname or _name_of_machine(), vault)


@cache
def _name_of_machine() -> str:
    return socket.getfqdn()  # may ask the network


def _day(at: datetime) -> str:
    """The day in two digits of 32, which come round again after 1,024 days."""
    number = int(at.timestamp()) // _DAY % _CYCLE
    return _DIGITS[number // 32] + _DIGITS[number % 32]


def _number(day: str) -> int:
    return _DIGITS.index(day[0]) * 32 + _DIGITS.index(day[1])
