"""A ledger of sends, arrivals, moves, deletions, aliases and settings while backups of a full instance are made; each
restored copy is compared with it.

What was acknowledged before a backup began is in its copy, once; what was not asked for before it had ended is not.
Times are those of this machine's clock, which the manifest's `began_at` has too.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import secrets
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, LiteralString

from mailkeep.backup import layout
from mailkeep.backup.scratch_server import serve_copy
from mailkeep.core.clock import utc_now
from mailkeep.db.pool import DatabasePool
from mailkeep.features.operations.backups.model import Backup
from mailkeep.run.runtime.context import attach
from tests.stack.harness import Stack
from tests.support.backups import back_up_now, restore

_INBOX, _WORK = "INBOX", "Work"
_QUEUES = frozenset({"maildrop", "incoming", "active", "deferred", "hold"})
_LOG_LATENCY = timedelta(seconds=2)
# The sends that had left the queue at a time.
_FINISHED = """
SELECT m.subject FROM events e JOIN messages m ON m.id = e.message_id
WHERE e.kind IN ('mail.bounced', 'mail.failed') AND e.created_at < %s
"""


@dataclass(frozen=True, slots=True)
class EndedBackup:
    """A backup, and when it had ended."""

    backup: Backup
    at: datetime


@dataclass
class Requests:
    """What was asked for and acknowledged, with the times, by token."""

    asked: dict[str, datetime] = field(default_factory=dict[str, datetime])
    acknowledged: dict[str, datetime] = field(default_factory=dict[str, datetime])

    @contextmanager
    def note(self, token: str) -> Iterator[None]:
        """Note a request, and its success at the end of the block."""
        self.asked[token] = utc_now()
        yield
        self.acknowledged[token] = utc_now()

    def before(self, at: datetime) -> set[str]:
        """What was acknowledged before that time."""
        return {token for token, when in list(self.acknowledged.items()) if when < at}

    def asked_before(self, at: datetime) -> set[str]:
        """What was asked for before that time."""
        return {token for token, when in list(self.asked.items()) if when < at}


class BackupLedger:
    """Clients of an instance, each a thread, and what they did. `receiver`: the mailbox that gets mail."""

    def __init__(self, stack: Stack, domain: str) -> None:
        self._stack = stack
        self._domain_id = stack.get_domain(domain)
        self.receiver, self._sender = f"ann@{domain}", f"shop@{domain}"
        self.mailbox_id = stack.make_mailbox(self._domain_id, "ann")["id"]
        with stack.imap(self.receiver) as client:
            client.create(_WORK)
        self._name = f"t{secrets.token_hex(3)}"
        self._token = re.compile(rf"{self._name}-\d+")
        self._numbers = itertools.count()
        self.sent, self.arrived, self.deleted = Requests(), Requests(), Requests()
        self.made, self.removed, self.set = Requests(), Requests(), Requests()
        self.moves = 0
        self.errors: list[str] = []
        self._aliases: dict[str, str] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Work until the end of the block."""
        stop = threading.Event()
        paces = ((self._send, 0.1), (self._arrive, 0.1), (self._change_alias, 0.2), (self._set, 2), (self._sort, 0.02))
        threads = [threading.Thread(target=self._repeat, args=(work, pace, stop)) for work, pace in paces]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join(90)
        assert not self.errors, self.errors
        assert not any(thread.is_alive() for thread in threads)

    def _repeat(self, work: Callable[[], None], pace: float, stop: threading.Event) -> None:
        while not stop.wait(pace):
            try:
                work()
            except Exception as error:  # noqa: BLE001 - the test reports it
                self.errors.append(f"{work.__name__}: {error!r}")
                return

    def _next(self) -> str:
        return f"{self._name}-{next(self._numbers)}"

    def _send(self) -> None:
        token = self._next()
        with self.sent.note(token):  # always deferred, so that it moves between the folders of the queue
            assert self._stack.send(self._sender, f"fail+{token}@remote.test", subject=token).status == 200

    def _arrive(self) -> None:
        token = self._next()
        with self.arrived.note(token):
            self._stack.deliver(self.receiver, token)

    def _change_alias(self) -> None:
        if len(self._aliases) > 3:
            token = next(iter(self._aliases))
            with self.removed.note(token):
                self._stack.do("DELETE", f"/aliases/{self._aliases.pop(token)}")
            return
        token = self._next()
        body = {"domain_id": self._domain_id, "source_local_part": token, "destination": self.receiver}
        with self.made.note(token):
            alias = self._stack.do("POST", "/aliases", body)
        self._aliases[token] = alias["id"]

    def _set(self) -> None:
        number = 400 + len(self.set.asked)
        with self.set.note(str(number)):
            self._stack.do("PATCH", "/config", {"changes": {"smtp.max_sessions": number}, "comment": self._name})

    def _sort(self) -> None:
        """Move the oldest message of each folder to the other one, then delete one of them."""
        with self._stack.imap(self.receiver) as client:
            for source, target in ((_INBOX, _WORK), (_WORK, _INBOX), (_INBOX, None)):
                client.select(source)
                found: Any = client.uid("FETCH", "1:*", "(BODY.PEEK[HEADER.FIELDS (SUBJECT)])")[1]
                messages = [each for each in found if isinstance(each, tuple)]
                if not messages:
                    continue
                uid = re.search(rb"UID (\d+)", messages[0][0])
                token = self._token.search(messages[0][1].decode())
                assert uid and token  # noqa: PT018 - both are always there
                if target:
                    assert client.uid("MOVE", uid[1].decode(), target)[0] == "OK"
                    self.moves += 1
                    continue
                with self.deleted.note(token[0]):
                    client.uid("STORE", uid[1].decode(), "+FLAGS", r"(\Deleted)")
                    assert client.expunge()[0] == "OK"

    def back_up(self) -> EndedBackup:
        """Make a backup."""
        return EndedBackup(back_up_now(self._stack.data_dir), utc_now())

    def check(self, ended: EndedBackup, place: Path) -> dict[str, int]:
        """Restore a backup below `place`, and compare it with the ledger; returns how many were compared."""
        target = place / "restored"
        folder = restore(self._stack.data_dir, ended.backup.snapshot, target)
        try:
            return asyncio.run(self._compare(folder, ended, place))
        finally:
            shutil.rmtree(target)

    async def _compare(self, folder: Path, ended: EndedBackup, place: Path) -> dict[str, int]:
        ended_at = ended.at
        began_at = layout.read_manifest(folder).began_at
        mail = self.read_mail(folder / layout.MAIL / self.mailbox_id / "Maildir")
        queued = self._read_queue(folder / layout.QUEUE)
        sent, arrived = self.sent.before(began_at), self.arrived.before(began_at)
        maybe_deleted, maybe_removed = self.deleted.asked_before(ended_at), self.removed.asked_before(ended_at)
        async with serve_copy(folder / layout.DATABASE, place) as db:
            rows_out = self._count(await _ask(db, "SELECT subject FROM messages WHERE direction = 'outbound'"))
            rows_in = self._count(
                await _ask(db, "SELECT subject FROM messages WHERE direction = 'inbound' AND status = 'received'")
            )
            aliases = self._count(await _ask(db, "SELECT source_local_part FROM aliases"))
            settings = set(await _ask(db, "SELECT changes -> 'smtp.max_sessions' ->> 'after' FROM settings_revisions"))
        async with attach(self._stack.data_dir, "tests") as app:
            done = set(await _ask(app.db, _FINISHED, ended_at + _LOG_LATENCY))
        wrong = {
            "sends without a row": sent - rows_out.keys(),
            "sends that are neither queued nor finished": sent - queued.keys() - done,
            "arrivals that are nowhere": arrived - mail.keys() - queued.keys() - maybe_deleted,
            "rows without a file": rows_in.keys() - mail.keys() - maybe_deleted,
            "deleted mail that is there": self.deleted.before(began_at) & mail.keys(),
            "aliases that are missing": self.made.before(began_at) - aliases.keys() - maybe_removed,
            "removed aliases that are there": self.removed.before(began_at) & aliases.keys(),
            "later than the backup": (mail.keys() | queued.keys() | rows_out.keys() | aliases.keys())
            - self._asked_before(ended_at),
            "settings that are missing": self.set.before(began_at) - settings,
        }
        for what, counts in (("mail", mail), ("queue", queued), ("rows", rows_out), ("rows in", rows_in)):
            wrong[f"twice in {what}"] = {token for token, count in counts.items() if count > 1}
        assert not any(wrong.values()), {what: sorted(found)[:5] for what, found in wrong.items() if found}
        return {
            "sends": len(sent),
            "arrivals": len(arrived),
            "deletions": len(self.deleted.before(began_at)),
            "aliases": len(self.made.before(began_at)) + len(self.removed.before(began_at)),
            "settings": len(self.set.before(began_at)),
            "messages in the mailbox": mail.total(),
            "messages in the queue": queued.total(),
            "rows of messages": rows_out.total() + rows_in.total(),
        }

    def _asked_before(self, at: datetime) -> set[str]:
        return set().union(*(each.asked_before(at) for each in (self.sent, self.arrived, self.made)))

    def _count(self, texts: Iterable[str]) -> Counter[str]:
        """The tokens among these texts."""
        return Counter(text for text in texts if self._token.fullmatch(text))

    def read_mail(self, maildir: Path) -> Counter[str]:
        """The tokens of the messages in a mailbox, in all its folders."""
        parts = ("new/*", "cur/*", ".*/new/*", ".*/cur/*")
        return Counter(filter(None, (self._read_subject(path) for part in parts for path in maildir.glob(part))))

    def _read_queue(self, folder: Path) -> Counter[str]:
        """The tokens of the messages in the queue. A bounce has another recipient."""
        ours = rb"R.(?:fail\+[a-z0-9-]+@remote\.test|" + re.escape(self.receiver.encode()) + rb")"
        paths = [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] in _QUEUES]
        return Counter(
            filter(None, (self._read_subject(path) for path in paths if re.search(ours, path.read_bytes(), re.DOTALL)))
        )

    def _read_subject(self, path: Path) -> str | None:
        found = re.search(rb"Subject: (" + self._token.pattern.encode() + rb")", path.read_bytes())
        return found[1].decode() if found else None


async def _ask(db: DatabasePool, statement: LiteralString, *arguments: object) -> list[str]:
    async with db.autocommit() as conn:
        cursor = await conn.execute(statement, arguments)
        return [str(next(iter(row.values()))) for row in await cursor.fetchall()]
