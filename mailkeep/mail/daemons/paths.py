"""The paths of a full instance: all below its data directory and its short run folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

SERVED_CERTIFICATE = "tls/served.pem"
"""The served certificate with its chain and its key, below the data directory; in both profiles."""


class _DataPath:
    """A path below the data directory."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, paths: InstancePaths, _: object) -> Path:
        return paths.data / self.name


class _RunPath(_DataPath):
    """A path below the run folder."""

    def __get__(self, paths: InstancePaths, _: object) -> Path:
        return paths.run / self.name


@dataclass(frozen=True, slots=True)
class InstancePaths:
    """`data` is the data directory, `run` the folder of sockets, which is short (a socket's path has at most 107
    bytes).
    """

    data: Path
    run: Path

    log = _DataPath("log")
    """The folder of all logs."""
    mail_log = _DataPath("log/mail.log")
    """Postfix's log."""
    generations = _DataPath("generations")
    """The generations of the daemons' configuration; the folders of configuration below are links into one of them."""
    overlays = _DataPath("overlays")
    """An administrator's own lines for the daemons' configuration; root's files."""
    postfix_conf = _DataPath("postfix/conf")
    """Postfix's configuration folder, the `-c` option of its commands."""
    postfix_queue = _DataPath("postfix/queue")
    """Postfix's queue, and the sockets below it."""
    postfix_data = _DataPath("postfix/data")
    """Postfix's data directory, owned by its account."""
    dovecot_conf = _DataPath("dovecot/conf")
    """The folder of dovecot.conf."""
    unbound_conf = _DataPath("unbound/conf")
    """The folder of unbound.conf; without that file the private resolver is off."""
    trust_anchor = _DataPath("unbound/root.key")
    """A trust anchor for DNSSEC of the administrator's own, instead of that of the Internet (package dns-root-data)."""
    signatures = _DataPath("clamd/signatures")
    """The virus signatures: those that freshclam downloads, and an administrator's own."""
    clamd_tmp = _DataPath("clamd/tmp")
    """Where clamd unpacks archives."""
    webmail_tmp = _DataPath("webmail/tmp")
    """Uploads of the webmail."""
    webmail_root = _DataPath("webmail/root")
    """An empty folder, on which the webmail's root folder is mounted (`core/private_root`)."""
    php_socket = _RunPath("php.sock")
    """The socket where nginx passes requests to PHP."""
    clamd_socket = _RunPath("clamd/clamd.sock")
    """The socket of the virus scanner, for the filter."""
    chroot_sockets = _DataPath("postfix/queue/mailkeep")
    """The folder of sockets that Postfix' deliveries connect to from their chroot, the queue."""
    chroot_resolv_conf = _DataPath("postfix/queue/etc/resolv.conf")
    """The resolver of Postfix' deliveries in their chroot."""
    chroot_link = _RunPath("chroot")
    """A short name for `chroot_sockets`."""
    tls_policy_socket = _RunPath("chroot/tls-policy.sock")
    """The socketmap with the TLS policies of deliveries."""
    rspamd_conf = _DataPath("rspamd/conf")
    """Rspamd's LOCAL_CONFDIR."""
    rspamd_data = _DataPath("rspamd/data")
    """Rspamd's data directory."""
    redis_conf = _DataPath("redis/conf")
    """The folder of redis.conf."""
    redis_data = _DataPath("redis/data")
    """Redis' data: the statistics from which Rspamd classifies spam."""
    tls = _DataPath("tls")
    """The served certificate and the self-signed one, each with its key."""
    sni_map = _DataPath("tls/sni.map")
    """Postfix's certificates by host name."""
    sni_conf = _DataPath("tls/sni.conf")
    """Dovecot's certificates by host name."""
    postfix_sockets = _RunPath("mta")
    """The folder of the sockets that Postfix connects to. Only Postfix and root have access."""
    lmtp_socket = _RunPath("mta/lmtp.sock")
    """The LMTP agent's socket, where Postfix delivers."""
    control_socket = _RunPath("control.sock")
    """The supervisor's socket for the process `node`. Only root has access."""
    lmtp_journal = _DataPath("lmtp/handed-over")
    """The journal of messages that the LMTP agent has delivered to Dovecot and not yet recorded."""
    templates_socket = _RunPath("templates.sock")
    """The socket of the process `node` where the API gets child processes that render templates."""
    metrics = _RunPath("metrics")
    """The folder where the processes of the API count their requests, if there are several."""
    policy_socket = _RunPath("mta/policy.sock")
    """The policy agent's socket, for Postfix."""
    milter_socket = _RunPath("mta/milter.sock")
    """The socket of the process `milter`, where Postfix passes the messages that clients submit."""
    relay_socket = _RunPath("mta/relay.sock")
    """The socket of the process `relay`, where Postfix delivers mail for relays."""
    program_sockets = _RunPath("local")
    """The folder of the socket for local programs. Everybody has access."""
    sendmail_socket = _RunPath("local/sendmail.sock")
    """The socket where local programs submit mail (`mailkeep sendmail`)."""
    senders_socket = _RunPath("mta/senders.sock")
    """The policy agent's socketmap: rewritten senders, and the original senders behind them."""
    auth_socket = _RunPath("mta/auth.sock")
    """Dovecot's SASL socket for Postfix."""
    dovecot_lmtp = _RunPath("dovecot-lmtp")
    """Dovecot's LMTP socket."""
    dovecot_lmtp_verified = _RunPath("dovecot-answering")
    """Dovecot's LMTP socket for mail whose sender is authenticated: only there may Sieve send replies."""
    dovecot_sockets = _RunPath("sessions")
    """The folder of the socket that Dovecot's sessions connect to. Only the mailboxes' account and root have access."""
    usage_socket = _RunPath("sessions/usage.sock")
    """The socket where Dovecot reports the usage of mailboxes."""
    learn_socket = _RunPath("sessions/learn")
    """The socket where Dovecot's sessions pass messages that the filter shall learn."""
    dovecot_run = _RunPath("dovecot")
    """Dovecot's own sockets."""
    filter_sockets = _RunPath("filter")
    """The folder of Rspamd's sockets."""
    scan_socket = _RunPath("filter/scan.sock")
    """Rspamd's milter socket for incoming mail."""
    sign_socket = _RunPath("filter/sign.sock")
    """Rspamd's milter socket for outbound mail."""
    controller_socket = _RunPath("filter/controller.sock")
    """The socket of Rspamd's controller, for learning and statistics."""
    keys_socket = _RunPath("filter/keys.sock")
    """The socket where Rspamd requests DKIM keys."""
    drain_socket = _RunPath("filter/drain.sock")
    """The socket where Rspamd's old workers wait during a reload (`run/runtime/rspamd_reload`)."""
    redis_socket = _RunPath("redis/redis.sock")
    """Redis' socket; only Rspamd uses it."""
    api_smtp = _RunPath("api-smtp")
    """Postfix's SMTP socket for the API: a short name for a socket below the queue directory."""
    reinjection_smtp = _RunPath("reinjection-smtp")
    """Postfix's SMTP socket for `reinjection`: a short name for a socket below the queue directory."""
    system_smtp = _RunPath("system-smtp")
    """Postfix's SMTP socket for mail of Mailkeep itself: a short name for a socket below the queue directory."""
    webmail_smtp = _RunPath("webmail-smtp")
    """Postfix's SMTP socket for the webmail: a short name for a socket below the queue directory."""
    returned_smtp = _RunPath("returned-smtp")
    """Postfix's SMTP socket for copies that `lmtp` returns: a short name for a socket below the queue directory."""
    sieve_spool = _DataPath("sieve-spool")
    """The spool of messages that Sieve sends (`sieve_spool`)."""
    api_socket = _RunPath("api.sock")
    """The API's socket for nginx, and for our process `webmail`."""
    nginx_pid = _RunPath("nginx.pid")
    """The file with the ID of nginx's master process."""
    nginx_tmp = _DataPath("nginx/tmp")
    """nginx's temporary files."""
    nginx_sites = _DataPath("nginx/sites.conf")
    """nginx's servers for the names of hosted domains."""
    mail_root = _DataPath("mail")
    """The folder of all mailboxes, each named by its ID."""
    probe_home = _DataPath("dovecot/probe")
    """The home folder of the probe's mailbox."""

    @property
    def own_address(self) -> str:
        """A loopback address that only this instance uses: of the private resolver (a name server in resolv.conf has no
        port other than 53), and of Dovecot's listeners for the webmail.
        """
        digest = hashlib.sha256(str(self.data).encode()).digest()
        return f"127.{64 + digest[0] % 128}.{digest[1]}.{1 + digest[2] % 254}"

    def conf(self, service: str) -> Path:
        """A daemon's configuration folder, by its name."""
        return self.data / service / "conf"
