"""The pool of connections, used up or down to one: nobody waits for ever, and nobody needs a second while holding one.

With a pool of a single connection, whoever asks for another inside a block waits in vain and gets 503.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from mailkeep.db.pool import DatabasePool
from mailkeep.run.runtime import tasks
from mailkeep.web.endpoint import Endpoint
from tests.mailflow.receiving.smtp_dialogue import codes, dialogue
from tests.plugins.post import Post
from tests.support.client import EXAMPLE, Api
from tests.test_examples import EXAMPLES, placeholders, run

pytestmark = pytest.mark.usefixtures("unhurried")

_ENDS_SESSIONS = (
    "/auth/login",
    "/auth/logout",
    "/auth/logout-all",
    "/auth/passkeys/login/verify",
    "/auth/password",
    "/auth/totp",
)

# Only a task that waits for a second connection while holding the first would wait this long.
_NEVER = 30.0


@asynccontextmanager
async def pool_of(api: Api, size: int, timeout: float = 5.0) -> AsyncIterator[DatabasePool]:
    """The application with another pool."""
    whole = api.app.db
    api.app.db = DatabasePool(str(whole._pool.conninfo), min_size=size, max_size=size, timeout=timeout)
    await api.app.db.open()
    try:
        yield api.app.db
    finally:
        await api.app.db.close()
        api.app.db = whole


def _late(endpoint: Endpoint) -> tuple[bool, bool]:
    """Routes that end the caller's session come last, before them those that delete objects of others."""
    return endpoint.path in _ENDS_SESSIONS, endpoint.method == "DELETE"


@pytest.mark.timeout(300)
async def test_every_call_needs_only_one_connection(post: Post):
    """A call may be refused because another one deleted its object, but not for lack of a connection."""
    names = await placeholders(post)
    async with pool_of(post.api, 1, timeout=_NEVER):
        answers = {
            f"{endpoint.method} {endpoint.path}": (await run(post, endpoint, example, names)).status
            for endpoint, example in sorted(EXAMPLES, key=lambda each: _late(each[0]))
        }
    assert not {call: status for call, status in answers.items() if status >= 500}
    done = [status for status in answers.values() if status < 300]
    assert len(done) > 0.85 * len(answers), answers


async def test_mail_and_background_jobs_need_only_one_connection(post: Post):
    alice = await post.api.mailbox()
    await post.api.alias(f"team@{EXAMPLE}", [f"alice@{EXAMPLE}", "friend@elsewhere.test"])
    async with pool_of(post.api, 1, timeout=_NEVER):
        assert (await post.deliver(f"team@{EXAMPLE}")).code == 250
        assert (await post.deliver(f"nobody@{EXAMPLE}")).refused
        assert (await post.send(to=[{"email": f"team@{EXAMPLE}"}])).status == 200
        await post.run_queue()
        await post.run_forwards()
        await tasks.housekeeping(post.api.app)
    assert len(post.mail_of(alice)) == 2


async def test_concurrent_callers_share_one_connection(post: Post):
    """Sends go through the sandbox's port, which needs a connection too, while their senders wait for its answer."""
    async with pool_of(post.api, 1, timeout=_NEVER):
        answers = await asyncio.gather(*[post.send(subject=f"number {each}") for each in range(30)])
    assert {answer.status for answer in answers} == {200}


async def test_without_free_connections_calls_get_503_in_five_seconds(post: Post):
    async with pool_of(post.api, 3) as db, AsyncExitStack() as held:
        for _ in range(3):
            await held.enter_async_context(db.autocommit())
        began = time.monotonic()
        mail = asyncio.create_task(dialogue(post, "MAIL FROM:<a@b.test>", f"RCPT TO:<alice@{EXAMPLE}>"))
        answers = await asyncio.gather(*[post.api.sue.get("/domains") for _ in range(40)])
        took = time.monotonic() - began
        result = await mail
        assert {(answer.status, answer.code) for answer in answers} == {(503, "UNAVAILABLE")}
        assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)
        assert codes(result) == [250, 451]
        assert took < 30  # 5 on a machine that does nothing else; one after the other they take 200
        await held.aclose()
        db._pool.timeout = _NEVER  # each has its turn
        assert (await post.api.sue.get("/domains")).status == 200  # ends the short wait of a database that hangs
        again = await asyncio.gather(*[post.api.sue.get("/domains") for _ in range(40)])
        assert {answer.status for answer in again} == {200}
