"""Compares the ledgers with the state after recovery, read from the database and the mailboxes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from mailkeep.db import postgres
from tests.crash.load import Load
from tests.support.ledger import Discrepancies, compare

# Also open: a delivery outcome that is written before the acceptance and its audit row.
_SETTLED = """
SELECT NOT EXISTS (SELECT FROM sandbox_queue)
   AND NOT EXISTS (SELECT FROM messages WHERE status IN ('submitting', 'unknown'))
   AND NOT EXISTS (
       SELECT FROM messages
       WHERE direction = 'outbound' AND source = 'api' AND accepted_at IS NOT NULL AND answered_at IS NULL)
"""


@dataclass
class Books:
    """The state of the instance on a data directory; caches the messages read."""

    data_dir: Path
    _subjects: dict[Path, str] = field(default_factory=dict[Path, str])

    def _ask(self, conn: psycopg.Connection, sql: LiteralString) -> list[Any]:
        return [row[0] if len(row) == 1 else row for row in conn.execute(sql).fetchall()]

    def _connect(self) -> psycopg.Connection:
        urls = postgres.running_urls(self.data_dir)
        assert urls is not None
        return psycopg.connect(urls.owner, autocommit=True, connect_timeout=30)

    def wait_until_settled(self, seconds: float = 90) -> None:
        """Wait until no send is open and every recipient has an outcome."""
        deadline = time.monotonic() + seconds
        with self._connect() as conn:
            while not self._ask(conn, _SETTLED)[0]:
                if time.monotonic() > deadline:
                    rows = self._ask(conn, "SELECT status, count(*) FROM messages GROUP BY status")
                    raise AssertionError(f"not settled after {seconds} s: {rows}")
                time.sleep(0.05)

    def check(self, load: Load) -> list[Discrepancies]:
        """All differences."""
        with self._connect() as conn:
            found = [*self._sends(conn, load), *self._inbound(conn, load), *self._aliases(conn, load)]
        return [balance for balance in found if not balance.empty]

    def _sends(self, conn: psycopg.Connection, load: Load) -> Iterable[Discrepancies]:
        taken = self._ask(conn, "SELECT unnest(rcpt_to), message_id FROM sandbox_messages")
        yield load.sends.compare_with(address.partition("@")[0] for address, _ in taken)
        sent = self._ask(
            conn,
            """
            SELECT id::text, message_id, request_id::text FROM messages
            WHERE direction = 'outbound' AND accepted_at IS NOT NULL
            """,
        )
        yield compare("history of what the MTA took", [one for _, one in taken], [one for _, one, _ in sent])
        for kind in ("mail.sent", "mail.delivered"):
            yield compare(kind, [one for one, _, _ in sent], self._events(conn, kind))
        yield from self._audit_of_sends(conn, load, {one for _, one, _ in sent}, {one for _, _, one in sent})

    def _audit_of_sends(
        self, conn: psycopg.Connection, load: Load, accepted: set[str], requests: set[str]
    ) -> Iterable[Discrepancies]:
        rows = self._ask(
            conn,
            """
            SELECT request_id::text, details->'message_ids' FROM audit_entries
            WHERE action = 'message.send' AND outcome = 'success'
            """,
        )
        # A batch's audit row also names messages that were refused.
        named = [one for _, message_ids in rows for one in message_ids if one in accepted]
        yield compare("audit rows of messages", accepted, named)
        yield compare("requests with audit rows of sends", requests, {request for request, _ in rows})
        answered = {request for request, what in load.requests.items() if what == "POST/send"}
        yield compare("audit rows of answered sends", answered, [one for one, _ in rows if one in answered])

    def _events(self, conn: psycopg.Connection, kind: str) -> list[str]:
        rows = conn.execute("SELECT message_id::text FROM events WHERE kind = %s", (kind,)).fetchall()
        return [row[0] for row in rows]

    def _inbound(self, conn: psycopg.Connection, load: Load) -> Iterable[Discrepancies]:
        letters = self._letters()
        yield load.inbound.compare_with(subject for _, subject in letters)
        filed = self._ask(
            conn,
            "SELECT id::text, queue_id, subject FROM messages WHERE direction = 'inbound' AND status = 'received'",
        )
        yield load.inbound.compare_with(subject for _, _, subject in filed)
        # A message without a row was never acknowledged: its sender sent it again.
        known = {queue_id for _, queue_id, _ in filed}
        answered_for = [one for one, subject in letters if one in known or subject not in load.inbound.doubtful]
        yield compare("letters of the history", known, answered_for)
        yield compare("mail.received", [one for one, _, _ in filed], self._events(conn, "mail.received"))

    def _letters(self) -> list[tuple[str, str]]:
        """Queue ID and subject of each message in a mailbox."""
        for path in (self.data_dir / "mail").glob("*/Maildir/new/*"):
            if path not in self._subjects:
                head, _, _ = path.read_bytes().partition(b"\r\n\r\n")
                [subject] = [line[9:] for line in head.split(b"\r\n") if line.startswith(b"Subject: ")]
                self._subjects[path] = subject.decode()
        return [(path.name.partition(".")[0], subject) for path, subject in self._subjects.items()]

    def _aliases(self, conn: psycopg.Connection, load: Load) -> Iterable[Discrepancies]:
        there = dict(self._ask(conn, "SELECT source_local_part, id::text FROM aliases"))
        yield load.created.compare_with(there.keys() | load.deleted.attempts.keys())
        yield load.deleted.compare_with(load.deleted.attempts.keys() - there.keys())
        made, gone = self._audited(conn, "alias.create"), self._audited(conn, "alias.delete")
        yield compare("audit rows of aliases made", {*there.values(), *gone}, made)
        yield compare("audit rows of aliases deleted", set(made) - set(there.values()), gone)
        answered = {request for request, what in load.requests.items() if "/aliases" in what}
        rows = self._ask(
            conn,
            """
            SELECT request_id::text FROM audit_entries
            WHERE action IN ('alias.create', 'alias.delete') AND outcome = 'success'
            """,
        )
        yield compare("audit rows of answered changes", answered, [one for one in rows if one in answered])

    def _audited(self, conn: psycopg.Connection, action: str) -> list[str]:
        """The targets of successful actions in the audit log."""
        rows = conn.execute(
            "SELECT resource_id FROM audit_entries WHERE action = %s AND outcome = 'success'", (action,)
        ).fetchall()
        return [row[0] for row in rows]
