"""The tree of settings: a frozen dataclass per section; each field has default, documentation and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.settings.abuse import AbuseSettings
from mailkeep.settings.alerts import AlertsSettings
from mailkeep.settings.backup import BackupSettings
from mailkeep.settings.declaration import ALL, setting as _setting
from mailkeep.settings.dns import DkimSettings, DnsSettings
from mailkeep.settings.edge import EdgeSettings
from mailkeep.settings.external import AcmeSettings, OidcSettings
from mailkeep.settings.formats import (
    DELAYS,
    DSN,
    ENDPOINT,
    HOST,
    NETWORKS,
    ORIGINS,
    PATH,
    PORTS,
    ROLES,
)
from mailkeep.settings.http import HttpSettings
from mailkeep.settings.outgoing import OutboundSettings, SendmailSettings
from mailkeep.settings.server import (
    FilterSettings,
    LogSettings,
    OverlaysSettings,
    PortsSettings,
    SearchSettings,
    ServerSettings,
    TlsSettings,
    WebmailSettings,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """PostgreSQL 15 or newer."""

    url: str = _setting(
        "", "The database; empty: a private server in the data directory.", DSN, secret=True, read_at_start=ALL
    )
    owner_url: str = _setting(
        "", "The database, with the role that owns its tables; empty: `url`.", DSN, secret=True, read_at_start=ALL
    )
    audit_url: str = _setting(
        "",
        "The URL of the database with the role `mailkeep_audit`, which seals and prunes the audit log; empty: "
        "`owner_url`.",
        DSN,
        secret=True,
        read_at_start=ALL,
    )
    pool_size: int = _setting(
        10,
        "Maximum number of connections per process; the API has `http.processes` of them.",
        low=2,
        high=500,
        read_at_start=ALL,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpSettings:
    """Incoming mail; all but the rate is for the built-in listener."""

    listen: str = _setting(
        "127.0.0.1:2525", "Address and port where mail for the managed domains is received.", ENDPOINT, embedded=True
    )
    max_sessions: int = _setting(
        200, "Maximum number of connections; further ones get 421.", low=1, high=10_000, embedded=True
    )
    max_connections_per_address: int = _setting(
        20,
        "Maximum number of connections from one address (IPv6: /64 network); further ones get 421 4.7.0. 0: no limit.",
        low=0,
        high=10_000,
        embedded=True,
    )
    timeout_seconds: float = _setting(
        300, "How long a client may be idle (RFC 5321 §4.5.3.2.7 requires 300).", low=1, high=3600, embedded=True
    )
    client_message_rate: int = _setting(
        0,
        "Maximum number of messages per minute from one client address on the port for other servers; further ones "
        "get 450 at MAIL. 0: no limit. Clients on this machine have none.",
        low=0,
        high=100_000,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MtaSettings:
    """Delivery of sent mail."""

    mode: Literal["sandbox", "postfix", "smtp", "none"] = _setting(
        "sandbox",
        "`sandbox` stores and shows mail, `postfix` sends it (full profile only, its default), `smtp` submits it to "
        "`host`, `none` refuses to send.",
        embedded=True,
    )
    host: str = _setting("", "The mail server that accepts outbound mail in mode `smtp`.", HOST, embedded=True)
    port: int = _setting(587, "The port of `host`.", low=1, high=65535, embedded=True)
    tls: Literal["none", "starttls", "tls"] = _setting(
        "starttls", "Encryption to `host`; `tls`: implicit TLS.", embedded=True
    )
    username: str = _setting("", "The user name at `host`; empty: no authentication.", embedded=True)
    password: str = _setting("", "The password at `host`.", secret=True, embedded=True)
    sandbox_port: int = _setting(0, "The sandbox's port on loopback; 0: a free port.", low=0, high=65535, embedded=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSettings:
    """Limits of requests and messages."""

    message_size_mb: int = _setting(
        50,
        "Maximum size of a message with headers and encoded attachments, in units of 2^20 bytes.",
        low=1,
        high=100,
        read_at_start=("lmtp", "relay"),
    )
    body_budget_mb: int = _setting(
        512,
        "Memory for all current request bodies above 64 KiB, in units of 2^20 bytes; further requests wait or get 503.",
        low=1,
        high=1 << 20,
        read_at_start=("api",),
    )
    login_per_second: float = _setting(5, "Logins per second and client address; 0: no limit.", low=0, high=10_000)
    requests_per_second: float = _setting(
        500,
        "Requests per second and client address, twice that in a burst; 0: no limit.",
        low=0,
        high=100_000,
    )

    alias_destinations: int = _setting(10, "Maximum number of destinations of an alias.", low=1, high=1000)
    external_expansion: int = _setting(
        100,
        "Maximum number of external recipients that aliases and forwards of managed domains may add to a message.",
        low=1,
        high=1000,
    )
    event_streams: int = _setting(
        200,
        "Maximum number of event streams (`GET /events/stream`); further ones get 503.",
        low=1,
        high=100_000,
    )
    event_streams_per_caller: int = _setting(
        10,
        "Maximum number of event streams per API key, or per account for sessions; further ones get 429.",
        low=1,
        high=100_000,
    )

    @property
    def message_size_bytes(self) -> int:
        """`message_size_mb` in bytes, as messages are measured."""
        return self.message_size_mb << 20

    @property
    def largest_message_bytes(self) -> int:
        """What the MTA accepts: `message_size_bytes` plus line breaks and fields that the API does not count."""
        return self.message_size_bytes * 103 // 100 + (64 << 10)

    @property
    def largest_queued_message_bytes(self) -> int:
        """What processes accept from Postfix: `largest_message_bytes` plus the fields that Postfix and Rspamd add."""
        return self.largest_message_bytes + (1 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsSettings:
    """Sign-in sessions."""

    ttl_hours: float = _setting(24, "How long a session lasts; fractions are allowed.", low=0.0001, high=8760)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings:
    """Requirements for administrators and mailboxes."""

    require_second_factor: tuple[str, ...] = _setting(
        (), "Roles that need a second factor: they can do nothing else until they have set one up.", ROLES
    )
    allowed_networks: tuple[str, ...] = _setting(
        (), "Networks from which administrators and API keys may send requests; empty: all.", NETWORKS
    )
    require_app_passwords: bool = _setting(
        False,
        "IMAP, POP3, SMTP and ManageSieve accept only app passwords, not a mailbox's own password. Domains and "
        "mailboxes can override this.",
    )
    confirm_admin_changes: bool = _setting(
        False,
        "Whether creating administrators, and deleting others or changing their role, email, password or domains, "
        "needs a sign-in within the last 10 minutes (or the password again), and is refused with API keys.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long data is kept."""

    content_days: int = _setting(7, "Days for which message content is kept.", low=1, high=3650)
    history_days: int = _setting(
        90, "Minimum number of days for which message history is kept; it is deleted by whole months.", low=1, high=3650
    )
    event_days: int = _setting(
        30, "Minimum number of days for which events are kept; they are deleted by whole months.", low=1, high=3650
    )
    audit_days: int = _setting(
        400,
        "Minimum number of days for which the audit log is kept; it is deleted by whole months.",
        low=31,
        high=36_500,
    )
    report_days: int = _setting(
        100, "Days for which DMARC, TLS and abuse reports of other servers are kept.", low=1, high=3650
    )
    login_days: int = _setting(
        30, "Days for which sign-ins to a mailbox are kept, which its owner can see.", low=1, high=3650
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSettings:
    """Events about mail."""

    received_full: bool = _setting(
        False,
        "Whether every received message is published in full (`mail.received.full`); its content is kept for 3 days.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhooksSettings:
    """Delivery of events to subscribers."""

    allowed_networks: tuple[str, ...] = _setting(
        (), "Private, loopback or other special-purpose networks that webhooks may reach.", NETWORKS
    )
    allowed_ports: tuple[int, ...] = _setting((), "Ports below 1024 that webhooks may use in addition to 443.", PORTS)
    extra_ca_file: str = _setting(
        "", "CA certificates (PEM) that webhooks trust in addition to the system's.", PATH, read_at_start=ALL
    )
    retry_seconds: tuple[int, ...] = _setting(
        (30, 120, 900, 3600, 7200), "The delays before each retry of a delivery.", DELAYS
    )
    disable_after_hours: float = _setting(
        120,
        "A webhook is disabled if all its attempts have failed for this long when Mailkeep gives up a delivery.",
        low=0.001,
        high=8760,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CorsSettings:
    """CORS for browsers; without origins no CORS header is sent."""

    origins: tuple[str, ...] = _setting((), "Exact origins that may call the API from a browser.", ORIGINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings."""

    http: HttpSettings = HttpSettings()  # noqa: RUF009 - frozen
    database: DatabaseSettings = DatabaseSettings()
    smtp: SmtpSettings = SmtpSettings()
    mta: MtaSettings = MtaSettings()
    limits: LimitsSettings = LimitsSettings()
    sessions: SessionsSettings = SessionsSettings()
    auth: AuthSettings = AuthSettings()
    abuse: AbuseSettings = AbuseSettings()  # noqa: RUF009 - frozen
    alerts: AlertsSettings = AlertsSettings()  # noqa: RUF009 - frozen
    retention: RetentionSettings = RetentionSettings()
    events: EventsSettings = EventsSettings()
    oidc: OidcSettings = OidcSettings()  # noqa: RUF009 - frozen
    webhooks: WebhooksSettings = WebhooksSettings()
    dns: DnsSettings = DnsSettings()  # noqa: RUF009 - frozen
    dkim: DkimSettings = DkimSettings()  # noqa: RUF009 - frozen
    cors: CorsSettings = CorsSettings()
    log: LogSettings = LogSettings()  # noqa: RUF009 - frozen
    server: ServerSettings = ServerSettings()  # noqa: RUF009 - frozen
    tls: TlsSettings = TlsSettings()  # noqa: RUF009 - frozen
    acme: AcmeSettings = AcmeSettings()  # noqa: RUF009 - frozen
    ports: PortsSettings = PortsSettings()  # noqa: RUF009 - frozen
    edge: EdgeSettings = EdgeSettings()  # noqa: RUF009 - frozen
    filter: FilterSettings = FilterSettings()  # noqa: RUF009 - frozen
    search: SearchSettings = SearchSettings()  # noqa: RUF009 - frozen
    webmail: WebmailSettings = WebmailSettings()  # noqa: RUF009 - frozen
    outbound: OutboundSettings = OutboundSettings()  # noqa: RUF009 - frozen
    sendmail: SendmailSettings = SendmailSettings()  # noqa: RUF009 - frozen
    backup: BackupSettings = BackupSettings()  # noqa: RUF009 - frozen
    overlays: OverlaysSettings = OverlaysSettings()  # noqa: RUF009 - frozen

    @property
    def name_in_routing(self) -> str:
        """The server's name, whose postmaster is routed; in the embedded profile only if `server.hostname` is set."""
        return self.server.name if self.is_full_profile else self.server.hostname

    @property
    def is_full_profile(self) -> bool:
        """Whether Postfix, Dovecot and Rspamd belong to the instance: only then is mode `postfix` possible."""
        return self.mta.mode == "postfix"
