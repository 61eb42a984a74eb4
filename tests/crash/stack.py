"""The full profile under a stream of mail out and in, while its parts are killed: what is lost, what is doubled, and
how long each takes to come back.

Every message has a token in its subject. Out: accepted by the API, published as sent, at the second mail server
(`Far`), published as delivered. In: accepted by Postfix, published as received, one copy in the mailbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from mailkeep.db.instance import run_folder
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from tests.crash.wire import Cut, NeverAsked, call, deliver
from tests.stack import harness
from tests.support.ledger import Discrepancies, Ledger, compare
from tests.support.ports import free_port

ALICE, DOMAIN = "alice@stack.test", "stack.test"
ADMIN, PASSWORD = "root@stack.test", "correct-horse-battery"
FAR = "127.0.7.3"
OURS = ("api", "worker", "lmtp", "logs", "milter", "policy", "node", "keys", "usage")
DAEMONS = ("postfix", "dovecot", "rspamd", "redis")
STAGES = ("api", "smtp", "mail.sent", "mail.delivered", "mail.received")
"""The stages of mail sent after a kill: accepted by the API and by Postfix, and published."""
_SUBJECT = re.compile(rb"^Subject: (\S+)\r?$", re.MULTILINE)
_STARTED_WITHIN = 180.0
_SETTLED_WITHIN = 120.0
_RECONCILED_AFTER = 60.0
_LOOK = 0.1
_CONFIG = """
[http]
listen = "127.0.0.1:{http}"
internal = "127.0.0.1:0"
[server]
hostname = "mx.stack.test"
addresses = ["127.0.0.1"]
[ports]
smtp = {smtp}
submission = {submission}
submissions = 0
imap = {imap}
imaps = 0
pop3 = 0
pop3s = 0
sieve = {sieve}
[filter]
network_checks = false
[outbound]
relay = "{far}:{far_port}"
relay_networks = ["{far}/32"]
relay_tls = "none"
tls = "none"
first_retry_seconds = 1
longest_retry_seconds = 2
[limits]
requests_per_second = 0
[abuse]
sender_per_hour = 10000000
domain_per_hour = 10000000
"""


@dataclass
class Far:
    """The external MTA: accepts all mail, except some local parts by prefix, and counts it."""

    taken: list[str] = field(default_factory=list[str])
    tried: Counter[str] = field(default_factory=Counter[str])

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        self.tried[address] += 1
        if address.startswith("refused"):
            return SmtpReply(550, "5.1.1", "No such user here")
        if address.startswith("never") or (address.startswith("later") and self.tried[address] == 1):
            return SmtpReply(451, "4.3.0", "Try later")
        return SmtpReply(250, "2.1.5", "Ok")

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply:
        envelope = session.envelope
        assert envelope is not None
        if any(address.startswith("content") for address in envelope.rcpt_to):
            return SmtpReply(554, "5.7.1", "Content refused")
        self.taken.append(subject_of(message.head(65536)))
        return SmtpReply(250, "2.0.0", "Ok: queued as far")

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        pass


@dataclass
class Kept:
    """The external MTA of the instance, whose accepted mail is in a folder."""

    folder: Path

    @property
    def taken(self) -> list[str]:
        """The subjects."""
        return [subject_of(path.read_bytes()) for path in self.folder.glob("*.eml")]


def subject_of(content: bytes) -> str:
    found = _SUBJECT.search(content)
    return found[1].decode() if found else ""


@dataclass
class Stack:
    """A running full instance, its database, and the external MTA."""

    data: Path
    process: subprocess.Popen[bytes] | None
    http: str
    smtp: str
    far: Far | Kept
    db: psycopg.AsyncConnection[Any]
    key: str = ""
    mailbox_id: str = ""

    async def __call__(self, method: str, path: str, body: Any = None) -> Any:
        result = await call(self.http, method, path, body, {"Authorization": f"Bearer {self.key}"})
        assert result.status < 300, result
        return result.body["data"]

    async def rows(self, query: str, **named: Any) -> list[Any]:
        """A query, repeated while the database is unavailable."""
        for _ in range(600):
            try:
                if self.db.closed:
                    self.db = await _connect(self.data)
                cursor = await self.db.execute(query, named)  # type: ignore[arg-type]
                return await cursor.fetchall()
            except psycopg.OperationalError:
                await self.db.close()
                await asyncio.sleep(0.2)
        raise TimeoutError("the database stays away")

    def pid(self, name: str) -> int:
        """The process of a service."""
        return int((run_folder(self.data) / "pids" / f"{name}.pid").read_text().split()[0])

    async def database_pid(self) -> int:
        """The PostgreSQL server: the parent of our connection's process."""
        ((backend,),) = await self.rows("SELECT pg_backend_pid()")
        return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])

    async def database_answers(self, seconds: float) -> None:
        """Wait until the database accepts connections again."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                async with await _connect(self.data):
                    return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, f"the database is away for {seconds} s"
                await asyncio.sleep(0.02)

    async def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        os.kill(await self.database_pid() if name == "postgresql" else self.pid(name), number)

    def copies(self, folder: str = ".") -> list[str]:
        """The subjects in a folder of Alice's mailbox."""
        found: list[str] = []
        for name in ("new", "cur"):
            for path in (self.data / "mail" / self.mailbox_id / "Maildir" / folder / name).glob("*"):
                with contextlib.suppress(FileNotFoundError):
                    found.append(subject_of(path.read_bytes()))
        return found

    def rotate(self) -> None:
        """Rotate Postfix's log."""
        subprocess.run(
            ["postfix", "-c", str(self.data / "postfix" / "conf"), "logrotate"], check=True, timeout=30,
            capture_output=True,
        )  # fmt: skip

    def flush(self) -> None:
        """Flush Postfix's queue."""
        conf = str(self.data / "postfix" / "conf")
        subprocess.run(["postqueue", "-c", conf, "-f"], check=False, timeout=30, capture_output=True)

    def queued(self) -> int:
        """The number of messages in Postfix's queue."""
        conf = str(self.data / "postfix" / "conf")
        done = subprocess.run(["postqueue", "-c", conf, "-j"], check=False, timeout=30, capture_output=True)
        return done.stdout.count(b"\n")


async def _connect(data: Path) -> psycopg.AsyncConnection[Any]:
    url = f"host={run_folder(data) / 'pg'} user=mailkeep_app dbname=mailkeep connect_timeout=15"
    return await psycopg.AsyncConnection.connect(url, autocommit=True)


_PROGRAM = (sys.executable, "-m", "mailkeep.run.cli.main")


async def launch(data: Path, program: Sequence[str] = _PROGRAM) -> subprocess.Popen[bytes]:
    """Start the instance in this folder with this program, and wait until it has started."""
    log = data.parent / "up.log"
    environ = {name: text for name, text in os.environ.items() if not name.startswith("MAILKEEP_")}
    environ |= {"MAILKEEP_ADMIN_EMAIL": ADMIN, "MAILKEEP_ADMIN_PASSWORD": PASSWORD}
    command = [*program, "up", "--profile", "full", "--data-dir", str(data)]
    (data / "run.json").unlink(missing_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environ)
    await until(lambda: (data / "run.json").exists() or process.poll() is not None, _STARTED_WITHIN)
    assert process.poll() is None, log.read_text()[-3000:]
    return process


@contextlib.asynccontextmanager
async def running(program: Sequence[str] = _PROGRAM, stored: Mapping[str, Any] | None = None) -> AsyncIterator[Stack]:
    """A new full instance with a domain and a mailbox. `stored` settings are stored, instead of being in the file."""
    ports = {name: free_port() for name in ("http", "smtp", "submission", "imap", "sieve")}
    far = Far()
    sink = await serve(FAR, 0, far, SmtpLimits(sessions_per_source=0), hostname="mx.far.test")
    data = Path(tempfile.mkdtemp(prefix="mailkeep-stack-")) / "data"
    data.parent.chmod(0o711)
    data.mkdir(mode=0o711)
    text = _CONFIG.format(far=FAR, far_port=sink.port, **ports)
    for key, value in (stored or {}).items():
        text = text.replace(f"\n{key.rpartition('.')[2]} = {value}\n", "\n")
    (data / "mailkeep.toml").write_text(text)
    process: subprocess.Popen[bytes] | None = None
    stack: Stack | None = None
    try:
        for key, value in (stored or {}).items():
            command = [*_PROGRAM, "config", "set", f"{key}={value}", "--data-dir", str(data)]
            await asyncio.to_thread(subprocess.run, command, check=True, timeout=120, stdout=subprocess.DEVNULL)
        process = await launch(data, program)
        http = f"http://127.0.0.1:{ports['http']}"
        smtp = f"127.0.0.1:{ports['smtp']}"
        stack = Stack(data, process, http, smtp, far, await _connect(data))
        await _furnish(stack, ADMIN, PASSWORD)
        yield stack
        await stack.db.close()
    finally:
        process = stack.process if stack else process
        if process:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()
        await sink.close(1)
        subprocess.run(["rm", "-rf", str(data.parent)], check=False, timeout=60)


@contextlib.asynccontextmanager
async def shared(instance: harness.Stack) -> AsyncIterator[Stack]:
    """The instance, with a new domain and mailbox."""
    smtp = f"{harness.ADDRESS}:{instance.ports['smtp']}"
    db = await _connect(instance.data_dir)
    stack = Stack(instance.data_dir, None, instance.api, smtp, Kept(instance.folder / "caught"), db)
    await _furnish(stack, harness.ADMIN, harness.PASSWORD)
    yield stack
    await stack.db.close()


async def _furnish(stack: Stack, admin: str, password: str) -> None:
    login = await call(stack.http, "POST", "/auth/login", {"email": admin, "password": password})
    cookie = {"Cookie": login.headers["set-cookie"].split(";")[0]}
    made = await call(stack.http, "POST", "/api-keys", {"name": "stream", "rate_limit": 0}, cookie)
    assert made.status == 201, made
    stack.key = made.body["data"]["key"]
    domain = await stack("POST", "/domains", {"name": DOMAIN})
    body = {"domain_id": domain["id"], "local_part": "alice", "name": "Alice", "password": PASSWORD}
    stack.mailbox_id = (await stack("POST", "/mailboxes", body))["id"]


async def until(done: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        await asyncio.sleep(_LOOK)


@dataclass
class Stream:
    """Outbound and inbound mail at a constant rate, one attempt each, with the time of each stage by token."""

    stack: Stack
    a_second: float = 5.0
    out: Ledger = field(default_factory=lambda: Ledger("mail out"))
    inbound: Ledger = field(default_factory=lambda: Ledger("mail in"))
    begun: dict[str, float] = field(default_factory=dict[str, float])
    reached: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    permanent: list[str] = field(default_factory=list[str])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _name: str = field(default_factory=lambda: secrets.token_hex(3))

    @contextlib.asynccontextmanager
    async def flowing(self) -> AsyncIterator[None]:
        """Runs during the block; then waits for open messages."""
        tasks = [asyncio.create_task(self._flow()), asyncio.create_task(self._watch())]
        try:
            yield
        finally:
            tasks[0].cancel()
            await asyncio.wait([tasks[0]])
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=60)
            tasks[1].cancel()
            await asyncio.wait([tasks[1]])

    async def _flow(self) -> None:
        while True:
            for work in (self._send, self._bring):
                token = f"{self._name}-{next(self._numbers)}"
                self.begun[token] = time.monotonic()
                task = asyncio.create_task(work(token))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(1 / self.a_second)

    def reach(self, stage: str, token: str) -> None:
        self.reached.setdefault(stage, {}).setdefault(token, time.monotonic())

    async def _send(self, token: str) -> None:
        body = {"from": {"email": ALICE}, "to": [{"email": f"a-{token}@far.test"}], "subject": token, "text_body": "x"}
        self.out.invoke(token)
        try:
            result = await call(self.stack.http, "POST", "/send", body, {"Authorization": f"Bearer {self.stack.key}"})
        except NeverAsked:
            return self.out.fail(token)
        except Cut:
            return self.out.info(token)
        if result.status == 200:
            self.reach("api", token)
            return self.out.ok(token)
        certain = result.code in ("SEND_FAILED", "SEND_UNAVAILABLE") and result.details.get("submitted") in (None, "no")
        return self.out.fail(token) if certain else self.out.info(token)

    async def _bring(self, token: str) -> None:
        content = f"From: bob@far.test\r\nMessage-ID: <{token}@far.test>\r\nSubject: {token}\r\n\r\nHi.\r\n".encode()
        self.inbound.invoke(token)
        try:
            code, step = await deliver(self.stack.smtp, ALICE, content)
        except NeverAsked:
            return self.inbound.fail(token)
        except Cut:
            return self.inbound.info(token)
        if code == 250:
            self.reach("smtp", token)
            return self.inbound.ok(token)
        if code >= 500:
            self.permanent.append(f"{token}: {code} at {step}")
        return self.inbound.fail(token)

    async def _watch(self) -> None:
        """When each event was seen, by polling."""
        seen = 0
        while True:
            rows = await self.stack.rows(
                "SELECT kind, data->>'subject' FROM events WHERE data->>'subject' LIKE %(name)s "
                "ORDER BY id OFFSET %(o)s",
                name=f"{self._name}-%",
                o=max(0, seen - 200),
            )
            seen = max(0, seen - 200) + len(rows)
            for kind, token in [*rows, *await self._relayed()]:
                self.reach(kind, token)
            await asyncio.sleep(_LOOK)

    async def _relayed(self) -> list[Any]:
        """What a relay accepted, which has no event: the relay may still fail to deliver it."""
        return await self.stack.rows(
            "SELECT 'mail.delivered', subject FROM messages "
            "WHERE direction = 'outbound' AND status = 'relayed' AND subject LIKE %(name)s",
            name=f"{self._name}-%",
        )

    async def recovery(self, killed_at: float, seconds: float) -> dict[str, float]:
        """Seconds by stage from a kill until mail sent after it reached the stage."""
        deadline = time.monotonic() + seconds

        def back() -> dict[str, float]:
            found: dict[str, float] = {}
            for stage in STAGES:
                after = [at for token, at in self.reached.get(stage, {}).items() if self.begun[token] > killed_at]
                if after:
                    found[stage] = min(after) - killed_at
            return found

        while len(took := back()) < len(STAGES):
            assert time.monotonic() < deadline, f"within {seconds} s only {took}: {self.stack.data}"
            await asyncio.sleep(_LOOK)
        return took

    async def catch_up(self) -> float:
        """Wait until all mail that was accepted before this call has an outcome event. Returns the time of the call."""
        called_at = time.monotonic()
        out, inbound = set(self.out.succeeded), set(self.inbound.succeeded)
        while True:
            events = await self._events()
            open_mail = out - events["mail.delivered"].keys() - events["system.alert"].keys()
            open_mail |= inbound - events["mail.received"].keys()
            if not open_mail:
                return called_at
            assert time.monotonic() < called_at + _SETTLED_WITHIN, f"without an outcome: {open_mail}"
            # Deliveries interrupted by a reload are retried only after minutes.
            await asyncio.to_thread(self.stack.flush)
            await asyncio.sleep(1)

    async def settle(self, reconciled_after: float = _RECONCILED_AFTER) -> None:
        """Wait until every accepted message has an outcome event, and the queue is empty. What is in neither queue nor
        log is looked for after `reconciled_after` seconds.
        """

        async def settled() -> bool:
            events = await self._events()
            return (
                self.out.succeeded | self._in_doubt() <= events["mail.delivered"].keys() | events["system.alert"].keys()
                and self.inbound.succeeded <= events["mail.received"].keys()
                and await asyncio.to_thread(self.stack.queued) == 0
            )

        deadline = time.monotonic() + _SETTLED_WITHIN
        reconciled_at = time.monotonic() + reconciled_after
        while not await settled():
            if time.monotonic() > reconciled_at and await asyncio.to_thread(self.stack.queued) == 0:
                await harness.reconcile(self.stack.data)
                reconciled_at = deadline + 1
            if time.monotonic() > deadline:
                return  # the comparison shows what is missing
            # Deliveries interrupted by a reload are retried only after minutes.
            await asyncio.to_thread(self.stack.flush)
            await asyncio.sleep(1)

    def _in_doubt(self) -> set[str]:
        """Mail at the external MTA whose sender got an unknown result."""
        return self.out.doubtful & set(self.stack.far.taken)

    async def _events(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {name: Counter() for name in (*STAGES[2:], "system.alert")}
        # A deferral is not final: Postfix retries.
        rows = await self.stack.rows(
            "SELECT kind, data->>'subject' FROM events WHERE data->>'subject' LIKE %(name)s "
            "AND data->>'bounce_type' IS DISTINCT FROM 'temporary'",
            name=f"{self._name}-%",
        )
        for kind, token in [*rows, *await self._relayed()]:
            found.setdefault(kind, Counter())[token] += 1
        return found

    async def unknown(self) -> set[str]:
        """The messages whose outcome was published as unknown, by an alert."""
        return set((await self._events())["system.alert"])

    async def balances(self, *, far_may_double: bool) -> list[Discrepancies]:
        """What does not add up. An MTA that was killed may deliver to the outside once more: it says so itself.

        And the line of a delivery may die with postlogd; the outcome is unknown then, which is published (`unknown`).
        Where all lines of a message died, whoever sent it was cut off too, and has got an unknown result.
        """
        events = await self._events()
        at_far = [token for token in self.stack.far.taken if token.startswith(self._name)]
        followed = set(at_far) - (self._in_doubt() - events["mail.sent"].keys())
        copies = [token for token in self.stack.copies() if token.startswith(self._name)]
        return [
            self.out.compare_with(set(at_far) if far_may_double else at_far),
            self.inbound.compare_with(copies),
            compare("mail.sent of what is at the other server", followed, events["mail.sent"].elements()),
            compare(
                "mail.delivered of it, or an alert that it is unknown",
                followed,
                [*events["mail.delivered"].elements(), *events["system.alert"].elements()],
            ),
            compare("mail.received of each copy", set(copies), events["mail.received"].elements()),
            Discrepancies("permanent refusals", unexpected=self.permanent),
            Discrepancies(
                "bounces",
                unexpected=[t for kind in ("mail.bounced", "mail.failed") for t in events.get(kind, Counter())],
            ),
        ]
