"""The sections for this machine: its name, addresses and certificate."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from functools import cache

from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import ADDRESSES, HOST, PATH


@cache
def machine_name() -> str:
    """The system's host name, fully qualified if possible; `localhost` if it is not valid in SMTP.

    The first call may query DNS, and block.
    """
    name = socket.getfqdn()
    try:
        HOST.check(name)
    except ValueError:
        return "localhost"
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """This machine."""

    hostname: str = _setting("", "The name in SMTP greetings and headers; empty: the system's host name.", HOST)
    addresses: tuple[str, ...] = _setting(
        (), "Full profile: the addresses for mail services and outgoing connections; empty: all.", ADDRESSES
    )

    @property
    def name(self) -> str:
        """`hostname`, or the system's host name if it is not set."""
        return self.hostname or machine_name()


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """Full profile: the certificate for SMTP, submission, IMAP, POP3 and ManageSieve."""

    certificate_file: str = _setting("", "The certificate with its chain, in PEM; empty: a self-signed one.", PATH)
    key_file: str = _setting("", "The private key of `certificate_file`, in PEM.", PATH)
