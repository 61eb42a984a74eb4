"""An instance whose filter gives the score that a message names, with senders in a local DNS."""

from __future__ import annotations

import contextlib
import shutil
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import dkim
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from mailkeep.db import postgres
from tests.stack import harness
from tests.stack.harness import Stack, eventually
from tests.support.dns_server import DnsServer
from tests.support.scratch import new_directory

SCORES = (8, 17, 30, -20)
GOOD, MAILER, PLAIN, STRANGER = "203.0.113.10", "203.0.113.30", "203.0.113.20", "198.51.100.66"
"""The clients that may send for good.test, mailer.test and nodmarc.test, and one that may send for nobody."""
RULE = ("list", "kind", "value", "enforced")


@dataclass
class Filtering:
    """The instance, its domain `lab.test` with the mailboxes alice, bob and carol, and the senders' signing key."""

    stack: Stack
    dns: DnsServer
    key: RSAPrivateKey
    ids: dict[str, UUID] = field(default_factory=dict[str, UUID])

    @cached_property
    def pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())

    def add_sender(self, domain: str, client: str, dmarc: str | None) -> None:
        """Publish a sender: SPF, DKIM with the selector s1, and DMARC if it has a policy."""
        der = self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.dns.publish(domain, "TXT", f"v=spf1 ip4:{client} -all")
        self.dns.publish(f"s1._domainkey.{domain}", "TXT", f"v=DKIM1; k=rsa; p={b64encode(der).decode()}")
        if dmarc:
            self.dns.publish(f"_dmarc.{domain}", "TXT", f"v=DMARC1; p={dmarc}")

    def set_policy(self, **scopes: dict[str, Any]) -> None:
        """Replace all thresholds and lists. Scopes: `server`, `lab` (the domain), or a mailbox, each with `junk`,
        `reject` (0: off) and `entries` (`RULE`).
        """
        with self.sql.transaction():
            self.sql.execute("DELETE FROM filter_settings WHERE num_nonnulls(domain_id, mailbox_id) > 0")
            self.sql.execute("DELETE FROM filter_entries")
            self.sql.execute("UPDATE filter_settings SET junk_score = 6, reject_score = 15")
            for scope, values in scopes.items():
                self._set_scope(self.sql, scope, values)

    @cached_property
    def sql(self) -> psycopg.Connection[Any]:
        """A connection to the instance's database."""
        urls = postgres.running_urls(self.stack.data_dir)
        assert urls
        return psycopg.connect(urls.app, autocommit=True)

    def _set_scope(self, conn: psycopg.Connection[Any], scope: str, values: dict[str, Any]) -> None:
        is_mailbox = scope in ("alice", "bob", "carol")
        target = None if scope == "server" else self.ids[scope]
        ids = {"domain": None if is_mailbox else target, "mailbox": target if is_mailbox else None}
        settings = ids | {"junk": values.get("junk"), "reject": values.get("reject"), "at": app_time()}
        if scope == "server":
            conn.execute(
                "UPDATE filter_settings SET junk_score = coalesce(%(junk)s, junk_score), "
                "reject_score = coalesce(%(reject)s, reject_score) WHERE domain_id IS NULL AND mailbox_id IS NULL",
                settings,
            )
        else:
            conn.execute(
                "INSERT INTO filter_settings (domain_id, mailbox_id, junk_score, reject_score, updated_at) "
                "VALUES (%(domain)s, %(mailbox)s, %(junk)s, %(reject)s, %(at)s)",
                settings,
            )
        for rule in values.get("entries", ()):
            named = dict(zip(RULE, (*rule, False), strict=False))
            conn.execute(
                "INSERT INTO filter_entries (id, domain_id, mailbox_id, list, kind, value, enforced, created_by, "
                "created_at) VALUES (%(id)s, %(domain)s, %(mailbox)s, %(list)s, %(kind)s, %(value)s, %(enforced)s, "
                "'test', %(at)s)",
                ids | named | {"id": uuid4(), "at": app_time()},
            )

    def build(
        self, author: str, *, score: int | None = None, sign: str | None = None, fields: str = "", subject: str = ""
    ) -> bytes:
        """A message; `author`: the value of From, `sign`: the domain that signs it."""
        head = f"From: {author}\r\n" if author else ""
        head += (
            f"To: alice@lab.test\r\nSubject: {subject or uuid4()}\r\nDate: {time.strftime(_DATE, time.gmtime())}\r\n"
        )
        head += f"Message-ID: <{uuid4()}@x.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
        head += f"X-Test-Score: {score}\r\n" if score is not None else ""
        content = f"{head}{fields}\r\nHello, this is about the meeting on Thursday.\r\n".encode()
        if not sign:
            return content
        return (
            dkim.sign(content, b"s1", sign.encode(), self.pem, include_headers=[b"from", b"to", b"subject"]) + content
        )

    def send(self, client: str, mail_from: str, recipients: Sequence[str], content: bytes) -> dict[str, str]:
        """Send as another server; the replies by recipient, and `data` if one was accepted."""
        replies: dict[str, str] = {}
        with self.stack.afar(client) as smtp:
            smtp.mail(mail_from)
            for recipient in recipients:
                code, text = smtp.rcpt(recipient)
                replies[recipient] = f"{code} {text.decode()}"
            if any(reply.startswith("250") for reply in replies.values()):
                code, text = smtp.data(content)
                replies["data"] = f"{code} {text.decode()}"
        return replies

    def find(self, mailbox: str, subject: str) -> bytes:
        """A delivered message, in the inbox or in Junk, with the line `X-Folder: NAME` before it."""
        (found,) = eventually(lambda: list(self._find(mailbox, subject)), what=f"{subject} for {mailbox}")
        return found

    def _find(self, mailbox: str, subject: str) -> Iterator[bytes]:
        root = self.stack.data_dir / "mail" / str(self.ids[mailbox])
        for path in root.rglob("*"):
            if path.parent.name in ("new", "cur") and path.is_file():
                with contextlib.suppress(FileNotFoundError):
                    content = path.read_bytes()
                    if f"Subject: {subject}\n".encode() in content.replace(b"\r\n", b"\n"):
                        folder = "Junk" if ".Junk" in str(path) or "Junk" in path.parts else "INBOX"
                        yield f"X-Folder: {folder}\n".encode() + content.replace(b"\r\n", b"\n")


_DATE = "%a, %d %b %Y %H:%M:%S +0000"


def app_time() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S+00", time.gmtime())


@pytest.fixture(scope="module", autouse=True)
def without_failed_logins() -> None:
    """Not needed here: the instance of the other tests does not start for these."""


@pytest.fixture(scope="session")
def lab() -> Iterator[Filtering]:
    harness.require_full_profile()
    folder = new_directory("mailkeep-filter-", 0o755, programs=True)
    with DnsServer("127.0.0.77") as dns:
        try:
            write_scores(folder / "data")
            harness.start(folder, FILTER__DNS_SERVERS=f'["{dns.address}"]', EVENTS__RECEIVED_FULL="false")
            filtering = Filtering(Stack(folder), dns, generate_private_key(65537, 2048))
            domain = filtering.stack.make_domain("lab.test")
            filtering.ids["lab"] = UUID(domain)
            for name in ("alice", "bob", "carol"):
                filtering.ids[name] = UUID(filtering.stack.make_mailbox(domain, name)["id"])
            filtering.add_sender("good.test", GOOD, "reject")
            filtering.add_sender("mailer.test", MAILER, "none")
            filtering.add_sender("nodmarc.test", PLAIN, None)
            filtering.add_sender("nodmarc.org", PLAIN, None)
            filtering.add_sender("other.co.uk", PLAIN, None)
            dns.fail("broken.test", "servfail")
            dns.fail("*.broken.test", "servfail")
            yield filtering
            filtering.sql.close()
        finally:
            harness.stop(folder)
            shutil.rmtree(folder, ignore_errors=True)


def write_scores(data: Path) -> None:
    """Let the field X-Test-Score set the score, in lines of the administrator for the filter."""
    overlay = data / "overlays" / "rspamd" / "local.d"
    overlay.mkdir(parents=True)
    rules = (
        f'"TEST_{number}" {{ re = "X-Test-Score=/^{score}$/H"; score = {score}.0; }}'
        for number, score in enumerate(SCORES)
    )
    (overlay / "regexp.conf").write_text("\n".join(rules) + "\n")
