"""The tree itself: each section a frozen dataclass, each field with default, meaning and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.core.identity_provider import OidcProvider
from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import (
    ADDRESSES,
    DELAYS,
    DNS_SERVERS,
    DSN,
    ENDPOINT,
    ENDPOINTS,
    HOST,
    NETWORKS,
    ORIGINS,
    PATH,
    PORTS,
    PROVIDERS,
    ROLES,
    URL,
)
from mailkeep.settings.outgoing import OutboundSettings, SendmailSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The API over HTTP."""

    listen: str = _setting("127.0.0.1:8080", "Where the API listens.", ENDPOINT)
    public_url: str = _setting("http://localhost:8080", "The API's address as people and programs reach it.", URL)
    trusted_proxies: tuple[str, ...] = _setting(
        (), "Networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed; no others are.", NETWORKS
    )
    internal: str = _setting(
        "127.0.0.1:8081",
        "Where metrics are served, not to the public; port 0: a free one, which is also used if this default is taken.",
        ENDPOINT,
    )
    metrics_token: str = _setting(
        "",
        "The token that `/metrics` requires (`Authorization: Bearer`); empty: only loopback may read the metrics.",
        secret=True,
    )
    header_timeout_seconds: float = _setting(10, "How long a client may take for a request's head.", low=1, high=300)
    body_timeout_seconds: float = _setting(30, "How long a client may stay silent within a body.", low=1, high=600)
    read_timeout_seconds: float = _setting(
        30, "How long a client may take next to nothing of its answer.", low=1, high=600
    )
    slowest_bytes_per_second: int = _setting(
        32_768, "The pace that a body must keep, on the whole, after its first minute.", low=1, high=10**9
    )
    max_connections: int = _setting(
        4096, "Most connections at a time; more are answered 503, and closed.", low=16, high=1_000_000
    )
    max_connections_per_address: int = _setting(
        1024, "The same for one client address (IPv6: one /64), `trusted_proxies` excepted.", low=1, high=1_000_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """PostgreSQL 15 or newer."""

    url: str = _setting("", "The database; empty: a private server in the data directory.", DSN, secret=True)
    owner_url: str = _setting(
        "", "The same as the role that owns the tables, to migrate; empty: `url`.", DSN, secret=True
    )
    audit_url: str = _setting(
        "",
        "The same as the role `mailkeep_audit`, which seals and prunes the audit log; empty: `owner_url`.",
        DSN,
        secret=True,
    )
    pool_size: int = _setting(10, "Most connections that one process keeps open.", low=2, high=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpSettings:
    """The built-in listener for incoming mail."""

    listen: str = _setting("127.0.0.1:2525", "Where mail for the managed domains is taken.", ENDPOINT)
    max_sessions: int = _setting(200, "Most connections at a time; more are answered 421.", low=1, high=10_000)
    max_connections_per_address: int = _setting(
        20,
        "Most connections at a time from one address (IPv6: one /64 network); more get 421 4.7.0. 0: no limit.",
        low=0,
        high=10_000,
    )
    timeout_seconds: float = _setting(
        300, "How long a client may stay silent (RFC 5321 §4.5.3.2.7 asks for 300).", low=1, high=3600
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MtaSettings:
    """The way out for mail that is sent."""

    mode: Literal["sandbox", "postfix", "smtp", "none"] = _setting(
        "sandbox",
        "`sandbox` keeps mail and shows it, `postfix` sends it (the full profile's default, and only there), `smtp` "
        "hands it to `host`, `none` refuses to send.",
    )
    host: str = _setting("", "The mail server that takes outbound mail in mode `smtp`.", HOST)
    port: int = _setting(587, "Its port.", low=1, high=65535)
    tls: Literal["none", "starttls", "tls"] = _setting(
        "starttls", "Encryption on the way there; `tls`: from the start."
    )
    username: str = _setting("", "The account there; empty: no authentication.")
    password: str = _setting("", "The account's password.", secret=True)
    sandbox_port: int = _setting(0, "The sandbox's own port on loopback; 0: a free one.", low=0, high=65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSettings:
    """What one caller may ask for."""

    message_size_mb: int = _setting(
        50,
        "Largest message, headers and encoded attachments together, in units of 2^20 bytes.",
        low=1,
        high=100,
    )
    body_budget_mb: int = _setting(
        512,
        "Memory for all request bodies above 64 KiB at a time, in units of 2^20 bytes; more wait, or get 503.",
        low=1,
        high=1 << 20,
    )
    login_per_second: float = _setting(5, "Logins per second and client address; 0: no limit.", low=0, high=10_000)
    requests_per_second: float = _setting(
        500,
        "Requests per second and client address, twice that in a burst; 0: no limit.",
        low=0,
        high=100_000,
    )

    alias_destinations: int = _setting(10, "Most destinations of an alias.", low=1, high=1000)
    external_expansion: int = _setting(
        100,
        "Most external recipients that the aliases and forwards of managed domains may add to a message.",
        low=1,
        high=1000,
    )
    event_streams: int = _setting(
        200, "Most event streams (`GET /events/stream`) of one process; more get 503.", low=1, high=100_000
    )
    event_streams_per_caller: int = _setting(
        10, "The same for one API key, or one account's sessions; more get 429.", low=1, high=100_000
    )

    @property
    def message_size_bytes(self) -> int:
        """`message_size_mb` in bytes, as messages are measured."""
        return self.message_size_mb << 20

    @property
    def largest_message_bytes(self) -> int:
        """What the MTA accepts: `message_size_bytes`, and the line breaks and fields that the API does not count."""
        return self.message_size_bytes * 103 // 100 + (64 << 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsSettings:
    """Sessions of people who logged in."""

    ttl_hours: float = _setting(24, "How long a login lasts; fractions allowed.", low=0.0001, high=8760)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings:
    """What is asked of administrators, whatever their rights."""

    require_second_factor: tuple[str, ...] = _setting(
        (), "Roles that need a second factor: until they have enrolled one, they can do nothing else.", ROLES
    )
    allowed_networks: tuple[str, ...] = _setting(
        (), "Networks from which administrators, and API keys, may call; empty: from everywhere.", NETWORKS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AbuseSettings:
    """Recipients per rolling hour at which sending stops."""

    sender_per_hour: int = _setting(1000, "For one sender address, which is then suspended.", low=1, high=10**9)
    domain_per_hour: int = _setting(10_000, "For one domain; what goes beyond is refused.", low=1, high=10**9)
    forward_per_hour: int = _setting(
        10_000,
        "External recipients to which the aliases, forwards and Sieve redirects of one domain forward mail; what goes "
        "beyond is deferred.",
        low=1,
        high=10**9,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long things are kept."""

    content_days: int = _setting(7, "Days for which the content of messages is kept.", low=1, high=3650)
    history_days: int = _setting(
        90, "Days for which at least the history of messages is kept; it goes by whole months.", low=1, high=3650
    )
    event_days: int = _setting(30, "The same for events.", low=1, high=3650)
    audit_days: int = _setting(400, "The same for the audit log.", low=31, high=36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSettings:
    """What is told of mail."""

    received_full: bool = _setting(
        False, "Whether every received message is told whole (`mail.received.full`), its content kept for 3 days."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhooksSettings:
    """Events, posted to subscribers."""

    allowed_networks: tuple[str, ...] = _setting(
        (), "Networks that webhooks may reach although they are private, loopback or otherwise special.", NETWORKS
    )
    allowed_ports: tuple[int, ...] = _setting((), "Ports below 1024 that webhooks may use in addition to 443.", PORTS)
    extra_ca_file: str = _setting(
        "", "Certificates (PEM) of authorities that webhooks trust beside the system's.", PATH
    )
    retry_seconds: tuple[int, ...] = _setting(
        (30, 120, 900, 3600, 7200), "How long after each failed try of a delivery the next one comes.", DELAYS
    )
    disable_after_hours: float = _setting(
        120,
        "A webhook whose every try has failed for so long is made inactive when it gives a delivery up.",
        low=0.001,
        high=8760,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """Single sign-on by OpenID Connect; docs/howto/oidc.md has examples."""

    providers: tuple[OidcProvider, ...] = _setting(
        (), "The providers that administrators may log in with.", PROVIDERS, secret=True
    )
    allowed_networks: tuple[str, ...] = _setting(
        (),
        "Networks in which providers may be although they are private, loopback or otherwise special; an http:// "
        "issuer only on loopback that stands here.",
        NETWORKS,
    )
    extra_ca_file: str = _setting(
        "", "Certificates (PEM) of authorities that are trusted for providers beside the system's.", PATH
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsSettings:
    """Looking names up."""

    servers: tuple[str, ...] = _setting(
        (),
        "The servers that are asked for every name, after /etc/hosts and for 3 seconds in all; empty: the system's.",
        DNS_SERVERS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CorsSettings:
    """Browsers' access from other origins; without origins no such header is sent."""

    origins: tuple[str, ...] = _setting((), "Exact origins that may call the API from a browser.", ORIGINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The log: JSON lines on standard error; in the full profile in files of `log/`, which are rotated."""

    level: Literal["debug", "info", "warning", "error"] = _setting("info", "The least severity that is logged.")
    rotate_mb: int = _setting(
        50,
        "The size from which a log file is rotated, in units of 2^20 bytes; each is rotated once a day as well.",
        low=1,
        high=10_000,
    )
    keep_days: int = _setting(14, "How many days rotated logs are kept, compressed.", low=1, high=3650)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """This machine."""

    hostname: str = _setting("", "The name in SMTP greetings and headers; empty: the system's own.", HOST)
    addresses: tuple[str, ...] = _setting(
        (), "Full profile: the addresses on which mail is served, and from which it leaves; empty: all.", ADDRESSES
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """Full profile: the certificate for SMTP, submission, IMAP, POP3 and ManageSieve."""

    certificate_file: str = _setting(
        "", "The certificate with its chain, in PEM; empty: one of our own, which nobody else trusts.", PATH
    )
    key_file: str = _setting("", "Its private key, in PEM.", PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortsSettings:
    """Full profile: where mail is served, on each of `server.addresses`; 0 leaves a service out."""

    smtp: int = _setting(25, "Mail from other servers.", low=0, high=65535)
    submission: int = _setting(587, "Mail of our users, by STARTTLS.", low=0, high=65535)
    submissions: int = _setting(465, "Mail of our users, TLS from the start.", low=0, high=65535)
    imap: int = _setting(143, "IMAP, by STARTTLS.", low=0, high=65535)
    imaps: int = _setting(993, "IMAP, TLS from the start.", low=0, high=65535)
    pop3: int = _setting(110, "POP3, by STARTTLS.", low=0, high=65535)
    pop3s: int = _setting(995, "POP3, TLS from the start.", low=0, high=65535)
    sieve: int = _setting(4190, "ManageSieve, by STARTTLS.", low=0, high=65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSettings:
    """Full profile: how incoming mail is judged."""

    network_checks: bool = _setting(
        True, "Whether the network is asked about senders: SPF, DKIM, DMARC, block lists, fuzzy hashes."
    )
    dns_servers: tuple[str, ...] = _setting(
        (), "Name servers that the filter asks, each as ip:port; empty: `dns.servers`, else the system's.", ENDPOINTS
    )
    spam_score: float = _setting(6, "The score from which mail is delivered to Junk.", low=0.1, high=1000)
    reject_score: float = _setting(
        0, "The score from which mail is refused by SMTP; 0: never, it goes to Junk.", low=0, high=1000
    )
    greylisting: bool = _setting(False, "Whether suspicious mail is first put off for five minutes.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole tree."""

    http: HttpSettings = HttpSettings()
    database: DatabaseSettings = DatabaseSettings()
    smtp: SmtpSettings = SmtpSettings()
    mta: MtaSettings = MtaSettings()
    limits: LimitsSettings = LimitsSettings()
    sessions: SessionsSettings = SessionsSettings()
    auth: AuthSettings = AuthSettings()
    abuse: AbuseSettings = AbuseSettings()
    retention: RetentionSettings = RetentionSettings()
    events: EventsSettings = EventsSettings()
    oidc: OidcSettings = OidcSettings()
    webhooks: WebhooksSettings = WebhooksSettings()
    dns: DnsSettings = DnsSettings()
    cors: CorsSettings = CorsSettings()
    log: LogSettings = LogSettings()
    server: ServerSettings = ServerSettings()
    tls: TlsSettings = TlsSettings()
    ports: PortsSettings = PortsSettings()
    filter: FilterSettings = FilterSettings()
    outbound: OutboundSettings = OutboundSettings()  # noqa: RUF009 - frozen
    sendmail: SendmailSettings = SendmailSettings()  # noqa: RUF009 - frozen
