"""The sections for this machine: its name, addresses, certificate, ports, filter and log."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.settings.declaration import ALL, setting as _setting
from mailkeep.settings.dns_lists import DnsList
from mailkeep.settings.formats import (
    ADDRESSES,
    DNS_LISTS,
    DOVECOT_LINES,
    ENDPOINT,
    ENDPOINTS,
    HOST,
    HOST_OR_NONE,
    MAIN_CF_LINES,
    PATH,
    RSPAMD_FILES,
    Table,
)


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

    hostname: str = _setting(
        "",
        "The server's public name, such as mx.example.com: in DNS records, SMTP greetings and headers. Empty: "
        "greetings have the system's host name, and DNS records are not checked.",
        HOST,
        read_at_start=("lmtp", "relay", "policy", "reinjection", "sendmail", "api"),
    )
    addresses: tuple[str, ...] = _setting(
        (),
        "Full profile: the addresses for mail services and outgoing connections; empty: all.",
        ADDRESSES,
    )
    ntp_server: str = _setting(
        "",
        "A server that the clock is compared with by NTP each minute, for the health. Empty: it is compared with the "
        "database's clock, and the kernel says whether a time service sets it.",
        ENDPOINT,
    )

    @property
    def name(self) -> str:
        """`hostname`, or the system's host name if it is not set."""
        return self.hostname or machine_name()

    @property
    def mail_domain(self) -> str:
        """The name as the domain of an address: in lower case; `localhost` if it can't be one (an IP address)."""
        try:
            return normalize_domain(self.name.removesuffix("."))
        except AddressError:
            return "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """The certificate for SMTP, submission, IMAP, POP3 and ManageSieve, or for the listener of the embedded profile."""

    certificate_file: str = _setting(
        "",
        "The certificate with its chain, in PEM; empty: one from ACME, else a self-signed one.",
        PATH,
        read_at_start=ALL,
    )
    key_file: str = _setting("", "The private key of `certificate_file`, in PEM.", PATH, read_at_start=ALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortsSettings:
    """Full profile: ports of mail services on each of `server.addresses`; 0 disables a service."""

    smtp: int = _setting(25, "SMTP from other servers.", low=0, high=65535)
    submission: int = _setting(587, "Submission with STARTTLS.", low=0, high=65535)
    submissions: int = _setting(465, "Submission with implicit TLS.", low=0, high=65535)
    imap: int = _setting(143, "IMAP with STARTTLS.", low=0, high=65535)
    imaps: int = _setting(993, "IMAP with implicit TLS.", low=0, high=65535)
    pop3: int = _setting(110, "POP3 with STARTTLS.", low=0, high=65535)
    pop3s: int = _setting(995, "POP3 with implicit TLS.", low=0, high=65535)
    sieve: int = _setting(4190, "ManageSieve with STARTTLS.", low=0, high=65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSettings:
    """Full profile: filtering of incoming mail."""

    network_checks: bool = _setting(
        True, "Whether the filter uses the network: SPF, DKIM, DMARC, ARC, and the lists in `dnsbl`."
    )
    dns_servers: tuple[str, ...] = _setting(
        (),
        "The filter's DNS servers, each as ip:port; empty: `dns.servers`, else the system's.",
        ENDPOINTS,
    )
    spam_score: float = _setting(
        6,
        "The spam score from which mail is delivered to Junk; 0: never. This and the next three apply to mailboxes "
        "that have no value of their own or of their domain.",
        low=0,
        high=1000,
    )
    reject_score: float = _setting(
        0,
        "The spam score from which mail is rejected at SMTP; 0: never.",
        low=0,
        high=1000,
    )
    digest: Literal["off", "daily", "weekly"] = _setting(
        "off", "How often a mailbox gets mail with a list of what went to Junk or was rejected."
    )
    learn: bool = _setting(True, "Whether the filter learns from messages that are moved into Junk or out of it.")
    dnsbl: tuple[DnsList, ...] = _setting(
        (),
        "DNS lists (RFC 5782) in which the addresses of sending servers are looked up; an answer adds a score only if "
        "its code is named and the list passes its own test. Costs a DNS query for each list and message, and 2 "
        "seconds a message if one is silent (docs/howto/scanning.md).",
        DNS_LISTS,
    )
    antivirus: bool = _setting(
        False,
        "Whether incoming mail is scanned for viruses by a private clamd (`mailkeep install --antivirus`); a message "
        "with a virus is refused. Measured: 16 MB of memory without downloaded signatures, 268 MB with 2 million, 526 "
        "MB while those are loaded; 1 second for 10 MB of mail. With ClamAV's signatures expect more than 1 GB, and "
        "twice that while they are loaded (docs/howto/scanning.md).",
    )
    antivirus_on_failure: Literal["accept", "defer"] = _setting(
        "accept",
        "What happens to mail that can't be scanned, after 6 seconds: it is accepted unscanned, or the sender must try "
        "again (451).",
    )
    antivirus_encrypted: Literal["accept", "junk", "refuse"] = _setting(
        "accept", "What happens to mail with an encrypted archive, which can't be scanned."
    )
    antivirus_mirror: str = _setting(
        "database.clamav.net",
        "The server from which signatures are downloaded every two hours; empty: never, the folder "
        "`clamd/signatures` in the data directory has your own.",
        HOST_OR_NONE,
    )
    antivirus_signature_days: int = _setting(
        7, "The age in days from which downloaded signatures raise an alert.", low=1, high=365
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Full profile: search in mailboxes by IMAP."""

    full_text: Literal["off", "words"] = _setting(
        "off",
        "An index for search by IMAP: `words` finds whole words in text and headers, but not in attachments, nor in "
        "languages without spaces. Measured with 20,000 messages (94 MB; 2026-11-26, 2 busy cores, load 7): 10 to "
        "200 ms for a search instead of 4 to 7 s; the index has 37 MB; the first search builds it, in 20 to 40 s.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebmailSettings:
    """Full profile: Roundcube, for owners of mailboxes (docs/howto/webmail.md)."""

    enabled: bool = _setting(
        False,
        "Whether the webmail runs (`mailkeep install --webmail`). Needs `edge.enabled` and `webmail.host`.",
    )
    host: str = _setting(
        "",
        "The host name of the webmail, such as webmail.example.com; another one than that of `http.public_url`, so "
        "that a fault in the webmail never reaches the dashboard's session.",
        HOST,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaysSettings:
    """Full profile: an administrator's own lines for the daemons' configuration; docs/howto/overlays.md lists what is
    possible.
    """

    postfix: str = _setting("", "Lines for Postfix's main.cf, each `parameter = value`.", MAIN_CF_LINES)
    dovecot: str = _setting(
        "",
        "Lines for dovecot.conf: settings, also in blocks `protocol` and `service`.",
        DOVECOT_LINES,
    )
    rspamd: Mapping[str, str] = _setting(
        Table(),
        'Lines for files of Rspamd\'s `local.d`, by file, as in `{"greylist.conf": "timeout = 300;"}`.',
        RSPAMD_FILES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The log: JSON lines on standard error; in the full profile rotated files in `log/`."""

    level: Literal["debug", "info", "warning", "error"] = _setting("info", "The minimum severity that is logged.")
    rotate_mb: int = _setting(
        50,
        "The size at which a log file is rotated, in units of 2^20 bytes; each is also rotated once a day.",
        low=1,
        high=10_000,
    )
    keep_days: int = _setting(14, "Days for which rotated, compressed logs are kept.", low=1, high=3650)
