"""Where the parts of a full instance keep their things: all in its data directory and its short run folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class InstancePaths:
    """`data` is the data directory, `run` the short folder of sockets (a socket's path has 107 bytes)."""

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
        """Postfix's configuration: what `-c` of its commands is given."""
        return self.data / "postfix" / "conf"

    @property
    def postfix_queue(self) -> Path:
        """Postfix's queue, and the sockets below it."""
        return self.data / "postfix" / "queue"

    @property
    def postfix_data(self) -> Path:
        """What Postfix keeps over restarts; its own account's."""
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
        """What Rspamd keeps over restarts."""
        return self.data / "rspamd" / "data"

    @property
    def redis_conf(self) -> Path:
        """The folder of redis.conf."""
        return self.data / "redis" / "conf"

    @property
    def redis_data(self) -> Path:
        """What the filter has learnt."""
        return self.data / "redis" / "data"

    @property
    def tls(self) -> Path:
        """The certificate of our own."""
        return self.data / "tls"

    @property
    def postfix_sockets(self) -> Path:
        """The folder of sockets that Postfix connects to: it and root may enter."""
        return self.run / "mta"

    @property
    def lmtp_socket(self) -> Path:
        """Where the lmtp agent takes mail from Postfix."""
        return self.postfix_sockets / "lmtp.sock"

    @property
    def lmtp_journal(self) -> Path:
        """What the lmtp agent has handed to Dovecot and nobody has filed yet."""
        return self.data / "lmtp" / "handed-over"

    @property
    def policy_socket(self) -> Path:
        """Where the policy agent is asked by Postfix."""
        return self.postfix_sockets / "policy.sock"

    @property
    def relay_socket(self) -> Path:
        """Where the process `relay` takes mail for relays from Postfix."""
        return self.postfix_sockets / "relay.sock"

    @property
    def program_sockets(self) -> Path:
        """The folder of the socket for local programs: everybody may enter."""
        return self.run / "local"

    @property
    def sendmail_socket(self) -> Path:
        """Where local programs hand in mail (`mailkeep sendmail`)."""
        return self.program_sockets / "sendmail.sock"

    @property
    def senders_socket(self) -> Path:
        """Where the policy agent is asked for rewritten senders, and whom they lead back to."""
        return self.postfix_sockets / "senders.sock"

    @property
    def auth_socket(self) -> Path:
        """Where Dovecot checks passwords for Postfix."""
        return self.postfix_sockets / "auth.sock"

    @property
    def dovecot_lmtp(self) -> Path:
        """Where Dovecot takes mail."""
        return self.run / "dovecot-lmtp"

    @property
    def dovecot_lmtp_verified(self) -> Path:
        """Dovecot's listener for mail whose sender has proved who it is: Sieve answers it."""
        return self.run / "dovecot-answering"

    @property
    def dovecot_sockets(self) -> Path:
        """The folder of the socket that Dovecot's sessions connect to: the mailboxes' account and root may enter."""
        return self.run / "sessions"

    @property
    def usage_socket(self) -> Path:
        """Where Dovecot tells what a mailbox holds."""
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
        """Where Rspamd learns, and is asked for figures."""
        return self.filter_sockets / "controller.sock"

    @property
    def keys_socket(self) -> Path:
        """Where Rspamd asks for DKIM keys."""
        return self.filter_sockets / "keys.sock"

    @property
    def redis_socket(self) -> Path:
        """Redis, for Rspamd alone."""
        return self.run / "redis" / "redis.sock"

    @property
    def api_smtp(self) -> Path:
        """Where the API hands mail to Postfix: a short name for a socket below the queue."""
        return self.run / "api-smtp"

    @property
    def reinjection_smtp(self) -> Path:
        """Where `reinjection` submits to Postfix: a short name for a socket below the queue."""
        return self.run / "reinjection-smtp"

    @property
    def sieve_spool(self) -> Path:
        """Where Dovecot's sendmail program writes what Sieve sends (`sieve_spool`)."""
        return self.data / "sieve-spool"

    @property
    def mail_root(self) -> Path:
        """The mailboxes, each under its id."""
        return self.data / "mail"
