"""The paths of a full instance: all below its data directory and its short run folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class InstancePaths:
    """`data` is the data directory, `run` the folder of sockets, which is short (a socket's path has at most 107
    bytes).
    """

    data: Path
    run: Path

    @property
    def log(self) -> Path:
        """All logs; Postfix's is `mail.log`."""
        return self.data / "log"

    @property
    def mail_log(self) -> Path:
        """Postfix's log."""
        return self.log / "mail.log"

    @property
    def postfix_conf(self) -> Path:
        """Postfix's configuration folder, the `-c` option of its commands."""
        return self.data / "postfix" / "conf"

    @property
    def postfix_queue(self) -> Path:
        """Postfix's queue, and the sockets below it."""
        return self.data / "postfix" / "queue"

    @property
    def postfix_data(self) -> Path:
        """Postfix's data directory, owned by its account."""
        return self.data / "postfix" / "data"

    @property
    def dovecot_conf(self) -> Path:
        """The folder of dovecot.conf."""
        return self.data / "dovecot" / "conf"

    @property
    def rspamd_conf(self) -> Path:
        """Rspamd's LOCAL_CONFDIR."""
        return self.data / "rspamd" / "conf"

    @property
    def rspamd_data(self) -> Path:
        """Rspamd's data directory."""
        return self.data / "rspamd" / "data"

    @property
    def redis_conf(self) -> Path:
        """The folder of redis.conf."""
        return self.data / "redis" / "conf"

    @property
    def redis_data(self) -> Path:
        """Redis' data: the statistics that Rspamd has learnt."""
        return self.data / "redis" / "data"

    @property
    def tls(self) -> Path:
        """The self-signed certificate."""
        return self.data / "tls"

    @property
    def postfix_sockets(self) -> Path:
        """The folder of the sockets that Postfix connects to. Only Postfix and root have access."""
        return self.run / "mta"

    @property
    def lmtp_socket(self) -> Path:
        """The LMTP agent's socket, where Postfix delivers."""
        return self.postfix_sockets / "lmtp.sock"

    @property
    def lmtp_journal(self) -> Path:
        """The journal of messages that the LMTP agent has delivered to Dovecot and not yet recorded."""
        return self.data / "lmtp" / "handed-over"

    @property
    def policy_socket(self) -> Path:
        """The policy agent's socket, for Postfix."""
        return self.postfix_sockets / "policy.sock"

    @property
    def relay_socket(self) -> Path:
        """The socket of the process `relay`, where Postfix delivers mail for relays."""
        return self.postfix_sockets / "relay.sock"

    @property
    def program_sockets(self) -> Path:
        """The folder of the socket for local programs. Everybody has access."""
        return self.run / "local"

    @property
    def sendmail_socket(self) -> Path:
        """The socket where local programs submit mail (`mailkeep sendmail`)."""
        return self.program_sockets / "sendmail.sock"

    @property
    def senders_socket(self) -> Path:
        """The policy agent's socketmap: rewritten senders, and the original senders behind them."""
        return self.postfix_sockets / "senders.sock"

    @property
    def auth_socket(self) -> Path:
        """Dovecot's SASL socket for Postfix."""
        return self.postfix_sockets / "auth.sock"

    @property
    def dovecot_lmtp(self) -> Path:
        """Dovecot's LMTP socket."""
        return self.run / "dovecot-lmtp"

    @property
    def dovecot_lmtp_verified(self) -> Path:
        """Dovecot's LMTP socket for mail whose sender is authenticated: only there may Sieve send replies."""
        return self.run / "dovecot-answering"

    @property
    def dovecot_sockets(self) -> Path:
        """The folder of the socket that Dovecot's sessions connect to. Only the mailboxes' account and root have
        access.
        """
        return self.run / "sessions"

    @property
    def usage_socket(self) -> Path:
        """The socket where Dovecot reports the usage of mailboxes."""
        return self.dovecot_sockets / "usage.sock"

    @property
    def dovecot_run(self) -> Path:
        """Dovecot's own sockets."""
        return self.run / "dovecot"

    @property
    def filter_sockets(self) -> Path:
        """The folder of Rspamd's sockets."""
        return self.run / "filter"

    @property
    def scan_socket(self) -> Path:
        """The milter for incoming mail."""
        return self.filter_sockets / "scan.sock"

    @property
    def sign_socket(self) -> Path:
        """The milter for outbound mail."""
        return self.filter_sockets / "sign.sock"

    @property
    def controller_socket(self) -> Path:
        """Rspamd's controller: learning and statistics."""
        return self.filter_sockets / "controller.sock"

    @property
    def keys_socket(self) -> Path:
        """The socket where Rspamd requests DKIM keys."""
        return self.filter_sockets / "keys.sock"

    @property
    def redis_socket(self) -> Path:
        """Redis, for Rspamd alone."""
        return self.run / "redis" / "redis.sock"

    @property
    def api_smtp(self) -> Path:
        """Postfix's SMTP socket for the API: a short name for a socket below the queue directory."""
        return self.run / "api-smtp"

    @property
    def reinjection_smtp(self) -> Path:
        """Postfix's SMTP socket for `reinjection`: a short name for a socket below the queue directory."""
        return self.run / "reinjection-smtp"

    @property
    def sieve_spool(self) -> Path:
        """The spool of messages that Sieve sends (`sieve_spool`)."""
        return self.data / "sieve-spool"

    @property
    def mail_root(self) -> Path:
        """The mailboxes, each under its id."""
        return self.data / "mail"
