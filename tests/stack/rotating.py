"""A rotation of DKIM keys under mail load: sends from the API and from mail clients, publishes the records as an
administrator of DNS would, and verifies every message when it arrives with the records of that moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import dkim
import dns.resolver

from mailkeep.run.runtime.context import open_app
from tests.stack.harness import PASSWORD, Stack, eventually, letter

_PAUSE = 0.15  # seconds between two messages of a sender


def execute(stack: Stack, statement: LiteralString, **named: Any) -> None:
    """Run a statement in the instance's database."""

    async def run() -> None:
        async with open_app(stack.data_dir) as app, app.db.autocommit() as conn:
            await conn.execute(statement, named)

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()


@dataclass
class Rotating:
    """A domain whose keys are rotated while it sends."""

    stack: Stack
    name: str
    domain_id: str = ""
    sent: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    verified: dict[str, int] = field(default_factory=dict[str, int])  # by recipient, the number of signatures
    selectors: set[str] = field(default_factory=set[str])  # of the verified signatures
    wrong: list[str] = field(default_factory=list[str])

    def set_up(self) -> None:
        """Create the domain with a mailbox, and publish its records."""
        self.domain_id = self.stack.make_domain(self.name)
        self.stack.make_mailbox(self.domain_id, "alice")
        self.publish()

    def list_keys(self, query: str = "") -> list[dict[str, Any]]:
        return self.stack.do("GET", f"/domains/{self.domain_id}/dkim-keys?limit=200{query}")

    def publish(self) -> None:
        """Publish the records of all keys that are not retired, and no others."""
        records = [
            f'{key["selector"]}._domainkey TXT "{key["dns"]["value"][:200]}" "{key["dns"]["value"][200:]}"'
            for key in self.list_keys()
            if key["stage"] != "retired"
        ]
        self.stack.publish(self.name, "MX", *records)

    def grow_old(self) -> None:
        """Let two days pass for the active keys."""
        execute(
            self.stack,
            """
            UPDATE dkim_keys SET activated_at = activated_at - interval '2 days'
            WHERE domain_id = %(id)s AND stage = 'active'
            """,
            id=self.domain_id,
        )

    def look_now(self) -> None:
        """Let the worker look for the records of pending keys at once."""
        execute(
            self.stack,
            "UPDATE dkim_keys SET next_check_at = 'epoch' WHERE domain_id = %(id)s AND stage = 'pending'",
            id=self.domain_id,
        )

    def end_retiring(self) -> None:
        """Let the longest time in the queue pass for the retiring keys."""
        execute(
            self.stack,
            """
            UPDATE dkim_keys SET retiring_at = retiring_at - interval '2 days'
            WHERE domain_id = %(id)s AND stage = 'retiring'
            """,
            id=self.domain_id,
        )

    def rotate(self) -> None:
        """One rotation, from old keys to the removal of their records."""
        before = {key["id"] for key in self.list_keys("&stage=active")}
        self.grow_old()
        eventually(lambda: len(self.list_keys("&stage=pending")) == 2, 120, "the next keys")
        self.publish()
        self.look_now()
        eventually(lambda: not before & {key["id"] for key in self.list_keys("&stage=active")}, 120, "the switch")
        switched = len(self.sent)
        eventually(lambda: len(self.sent) > switched + 10, 120, "mail after the switch")
        # What was sent before is delivered; only then may the old records go.
        eventually(lambda: set(self.sent[: switched + 1]) <= self.verified.keys(), 120, "the mail from before")
        self.end_retiring()
        eventually(lambda: not self.list_keys("&stage=retiring"), 120, "the end of the old keys")
        self.publish()

    @contextlib.contextmanager
    def load(self) -> Generator[None]:
        """Send from two threads and verify what arrives, while the block lasts and until all has arrived."""
        stop, arrived = threading.Event(), threading.Event()
        before = len(self.sent)
        numbers = itertools.count()
        senders = [threading.Thread(target=each, args=(stop, numbers)) for each in (self._send_by_api, self._submit)]
        verifier = threading.Thread(target=self._verify, args=(arrived,))
        for thread in (*senders, verifier):
            thread.start()
        try:
            eventually(lambda: len(self.sent) >= before + 10, 60, "the first mail")
            yield
            stop.set()
            for thread in senders:
                thread.join(60)
            eventually(lambda: set(self.sent) <= self.verified.keys(), 120, "all mail")
        finally:
            stop.set()
            arrived.set()
            for thread in (*senders, verifier):
                thread.join(60)

    def _recipient(self, number: int) -> str:
        """Each third message stays in the queue until a later attempt."""
        kind = "defer" if number % 3 == 0 else "customer"
        return f"{kind}+{self.name.replace('.', '-')}-{number}@remote.test"

    def _send_by_api(self, stop: threading.Event, numbers: itertools.count[int]) -> None:
        while not stop.wait(_PAUSE):
            recipient = self._recipient(next(numbers))
            answer = self.stack.send(f"shop@{self.name}", recipient)
            (self.sent if answer.status == 200 else self.refused).append(recipient)

    def _submit(self, stop: threading.Event, numbers: itertools.count[int]) -> None:
        with self.stack.login(f"alice@{self.name}", PASSWORD) as client:
            while not stop.wait(_PAUSE):
                recipient = self._recipient(next(numbers))
                client.sendmail(f"alice@{self.name}", [recipient], letter(recipient, sender=f"alice@{self.name}"))
                self.sent.append(recipient)

    def _verify(self, stop: threading.Event) -> None:
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers = [self.stack.names or ""]
        resolver.cache = None

        def look_up(name: bytes, timeout: float = 5) -> bytes:
            rows: Any = resolver.resolve(name.decode(), "TXT", lifetime=20).rrset
            (row,) = rows
            return b"".join(row.strings)

        seen: set[Path] = set()
        while not stop.wait(0.05):
            for envelope in sorted(set((self.stack.folder / "caught").glob("*.json")) - seen):
                seen.add(envelope)
                (recipient, *_) = json.loads(envelope.read_text())["rcpt_to"]
                if f"+{self.name.replace('.', '-')}-" in recipient:
                    self._verify_message(recipient, envelope.with_suffix(".eml").read_bytes(), look_up)

    def _verify_message(self, recipient: str, content: bytes, look_up: Any) -> None:
        signatures = content.count(b"\r\nDKIM-Signature:") + content.startswith(b"DKIM-Signature:")
        try:
            families: set[bytes] = set()
            for index in range(signatures):
                verifier = dkim.DKIM(content)
                if not verifier.verify(index, look_up):
                    self.wrong.append(f"{recipient}: signature {index} is wrong")
                families.add(verifier.signature_fields[b"a"])
                self.selectors.add(verifier.signature_fields[b"s"].decode())
            if families != {b"rsa-sha256", b"ed25519-sha256"}:
                self.wrong.append(f"{recipient}: {signatures} signatures, by {families}")
        except Exception as error:  # noqa: BLE001 - a verifier that fails finds no valid signature
            self.wrong.append(f"{recipient}: {type(error).__name__}: {error}")
        self.verified[recipient] = signatures


def set_rotation(stack: Stack, days: int) -> None:
    """Set `dkim.rotate_days`, which applies to running processes."""
    stack.do("PATCH", "/config", {"changes": {"dkim.rotate_days": days}})
