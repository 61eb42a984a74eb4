"""Clients of a running instance that send, deliver and change, and record the responses in ledgers.

Who sends an Idempotency-Key tries again until it knows; who does not, leaves it at one try. Senders of inbound mail
try again, as mail servers do.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.crash.wire import SECONDS, CallResult, Cut, NeverAsked, call, deliver
from tests.support.ledger import Ledger

SENDS_A_SECOND = 50
INBOUND_A_SECOND = 10
ALIASES_A_SECOND = 6
ALICE = "alice@example.test"
_LARGE = "A line of a message that takes several writes to go out.\n" * 6000
_PATIENCE = 60.0
_MOST_AT_ONCE = 60  # only reached on an overloaded machine


@dataclass
class Place:
    """The current addresses of the instance; `up` is cleared while it is down."""

    http: str = ""
    smtp: str = ""
    key: str = ""
    domain_id: str = ""
    up: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, method: str, path: str, body: Any = None, idempotency: str = "") -> CallResult:
        headers = {"Authorization": f"Bearer {self.key}"}
        if idempotency:
            headers["Idempotency-Key"] = idempotency
        return await call(self.http, method, path, body, headers)


@dataclass
class Load:
    """`requests`: the action by request ID of changes that succeeded at the first attempt."""

    place: Place
    sends: Ledger = field(default_factory=lambda: Ledger("sends"))
    inbound: Ledger = field(default_factory=lambda: Ledger("inbound mail"))
    created: Ledger = field(default_factory=lambda: Ledger("aliases made"))
    deleted: Ledger = field(default_factory=lambda: Ledger("aliases deleted"))
    requests: dict[str, str] = field(default_factory=dict[str, str])
    oddities: list[str] = field(default_factory=list[str])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _name: str = field(default_factory=lambda: secrets.token_hex(3))
    _kept: dict[str, str] = field(default_factory=dict[str, str])

    def _token(self, what: str) -> str:
        return f"{what}-{self._name}-{next(self._numbers)}"

    async def run(self, ended: Callable[[], bool], seconds: float) -> None:
        """Start calls at a constant rate, while not too many are open, until `ended` or a time limit."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        paces = ((SENDS_A_SECOND, self._send), (INBOUND_A_SECOND, self._deliver), (ALIASES_A_SECOND, self._alias))
        done = [0] * len(paces)
        while not ended() and loop.time() - began < seconds:
            for index, (pace, work) in enumerate(paces):
                while done[index] < (loop.time() - began) * pace:
                    done[index] += 1
                    if len(self._tasks) < _MOST_AT_ONCE:
                        self._begin(work(done[index]))
            await asyncio.sleep(0.005)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until every client has its results or has given up."""
        async with asyncio.timeout(_PATIENCE + 2 * SECONDS + 15):
            while self._tasks:
                await asyncio.gather(*self._tasks)

    async def stop(self) -> None:
        """End the clients, which may wait for an instance that does not come back."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, number: int) -> None:
        count = 4 if number % 20 < 2 else 1
        tokens = [self._token("send") for _ in range(count)]
        bodies = [self._message(token, large=number % 12 == 0) for token in tokens]
        path, body = ("/send/batch", {"messages": bodies}) if count > 1 else ("/send", bodies[0])
        await self._ask(self.sends, tokens, ("POST", path, body), keyed=number % 2 == 0)

    def _message(self, token: str, *, large: bool) -> dict[str, Any]:
        return {
            "from": {"email": f"s{random.randrange(200)}@example.test"},
            "to": [{"email": f"{token}@elsewhere.test"}],
            "subject": token,
            "text_body": _LARGE if large else "Hello.\n",
        }

    async def _alias(self, number: int) -> None:
        if number % 3 == 0 and self._kept:
            token, alias_id = self._kept.popitem()
            await self._ask(self.deleted, [token], ("DELETE", f"/aliases/{alias_id}", None), keyed=False)
            return
        token = self._token("alias")
        body = {
            "domain_id": self.place.domain_id,
            "source_local_part": token,
            "destination": "out@elsewhere.test",
        }
        result_of_call = await self._ask(self.created, [token], ("POST", "/aliases", body), keyed=number % 2 == 0)
        if result_of_call and result_of_call.status == 201:
            self._kept[token] = result_of_call.body["data"]["id"]

    async def _ask(
        self, ledger: Ledger, tokens: list[str], asked: tuple[str, str, Any], *, keyed: bool
    ) -> CallResult | None:
        """Call; with an idempotency key repeat until the result is known. Returns the last response, if any."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        key = secrets.token_urlsafe(12) if keyed else ""
        while True:
            for token in tokens:
                ledger.invoke(token, keyed=keyed)
            result_of_call, again = await self._try(ledger, tokens, asked, key)
            if not (keyed and again):
                return result_of_call
            if loop.time() > deadline:
                self.oddities.append(f"{tokens[0]}: no answer within {_PATIENCE:.0f} s, at last {result_of_call}")
                return result_of_call
            await asyncio.sleep(0.1)
            await self.place.up.wait()

    async def _try(
        self, ledger: Ledger, tokens: list[str], asked: tuple[str, str, Any], key: str
    ) -> tuple[CallResult | None, bool]:
        """One attempt, and whether to repeat it."""
        try:
            result_of_call = await self.place(*asked, key)
        except NeverAsked:
            for token in tokens:
                ledger.fail(token)
            return None, True
        except Cut:
            for token in tokens:
                ledger.info(token)
            return None, True
        if result_of_call.status < 300 and "idempotent-replayed" not in result_of_call.headers:
            self.requests[result_of_call.headers["x-request-id"]] = asked[0] + asked[1]
        notes = [self._note(token, result_of_call, result) for token, result in _split(tokens, result_of_call)]
        for token, note in zip(tokens, notes, strict=True):
            getattr(ledger, note)(token)
        return result_of_call, result_of_call.status >= 400 and "info" in notes

    def _note(self, token: str, result_of_call: CallResult, result: Mapping[str, Any] | None) -> str:
        if result is not None:
            if "code" not in result:
                return "ok"
            code, details = result["code"], result.get("details") or {}
        elif result_of_call.status < 300:
            return "ok"
        else:
            code, details = result_of_call.code, result_of_call.details
        if code in ("UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS") or details.get("submitted", "no") != "no":
            return "info"
        if code not in ("SEND_FAILED", "SEND_UNAVAILABLE"):
            self.oddities.append(f"{token}: {result_of_call.status} {code} {result_of_call.body}")
        return "fail"

    async def _deliver(self, number: int) -> None:
        token = self._token("mail")
        content = f"Subject: {token}\r\n\r\n".encode() + b"A line of a letter.\r\n" * (3000 if number % 5 == 0 else 2)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while loop.time() < deadline:
            self.inbound.invoke(token)
            try:
                code, step = await deliver(self.place.smtp, ALICE, content)
            except NeverAsked:
                self.inbound.fail(token)
            except Cut:
                self.inbound.info(token)
            else:
                if code == 250:
                    self.inbound.ok(token)
                    return
                if 400 <= code < 500:
                    # After the data the message may be stored, if the response was lost.
                    (self.inbound.info if step == "data" else self.inbound.fail)(token)
                else:
                    self.inbound.fail(token)
                    self.oddities.append(f"{token}: {code} at {step}")
                    return
            await asyncio.sleep(0.1)
            await self.place.up.wait()


def _split(tokens: list[str], result_of_call: CallResult) -> list[tuple[str, Mapping[str, Any] | None]]:
    """Each token with its result, for a batch too."""
    data = result_of_call.body.get("data")
    if result_of_call.status < 300 and data and "results" in data:
        return list(zip(tokens, data["results"], strict=True))
    return [(token, None) for token in tokens]
