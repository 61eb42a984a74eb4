"""`docs/flow.md` tells which statements each life costs: counted on the wire, and compared."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core.clock import iso
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.reports import jobs as reports
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.features.mailflow.webhooks.jobs import DeliveryWorker
from mailkeep.mail.milter import protocol
from mailkeep.run.processes.keys import KeysListener
from mailkeep.settings.server import ServerSettings
from tests.mailflow.key_submission.program import Log, Program
from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE
from tests.support.reports import Dmarc, mailed
from tests.support.statements import Statement, trace_statements

_FLOW = Path(__file__).parent.parent / "docs" / "flow.md"
_ROW = re.compile(r"^\| `([\w.]+)` \| (–|\d+) \|", re.MULTILINE)


def documented() -> dict[str, list[Statement]]:
    """The tables of the document, by their headings."""
    sections = re.split(r"^## (.+)$", _FLOW.read_text("utf-8"), flags=re.MULTILINE)
    return {
        title: [Statement(name, 0 if number == "–" else int(number)) for name, number in _ROW.findall(text)]
        for title, text in zip(sections[1::2], sections[2::2], strict=True)
    }


async def test_each_flow_uses_the_documented_statements(
    post: Post, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    api, log = post.api, Log(post.api, tmp_path / "log" / "mail.log")
    alice = await api.mailbox(f"alice@{EXAMPLE}")
    for source in ("info", "press", "sales"):
        await api.alias(f"{source}@{EXAMPLE}", [f"alice@{EXAMPLE}"])
    found: dict[str, list[Statement]] = {}

    async def lives(title: str, call: Callable[[], Awaitable[Any]], *, sandbox: str | None = None) -> None:
        with trace_statements(monkeypatch) as statements:
            answer = await call()
        assert getattr(answer, "status", 200) < 300, answer.body
        if title:
            found[title] = statements.own
        if sandbox:
            found[sandbox] = statements.sandbox

    async def keyed() -> Any:
        return await api.unscoped("POST", "/send", letter(), headers={"idempotency-key": "once"})

    key = api.unscoped
    await key.get("/auth/me")  # the use of a key is recorded once per minute
    await lives("A send", lambda: key.post("/send", letter()), sandbox="What the sandbox does with a message")
    await lives("", post.run_queue, sandbox="A delivery by the sandbox")
    await lives("A send with an Idempotency-Key", keyed)
    template = {"template_id": str(await api.template(EXAMPLE, published=True)), "variables": {"name": "Ann"}}
    by_template = letter(subject=None, text_body=None, **template)
    await lives("A send by a template", lambda: key.post("/send", by_template))
    program = Program(api, (await api.key(api.adam))[1])
    await log.accept("4jW9T1xz0by0", record=False)

    async def submit() -> None:
        assert (await program.submit(key="once")).reply == protocol.ACCEPT
        await log.accept(program.queue_id, record=False)

    await program.submit()  # the use of a key is recorded once per minute
    await lives("A message by SMTP with an API key", submit)
    batch = {"messages": [letter(subject=f"Number {number}") for number in range(100)]}
    await lives("A batch of 100", lambda: key.post("/send/batch", batch))
    later = iso(api.clock() + timedelta(hours=1))
    await lives("A scheduled send", lambda: key.post("/send", letter(scheduled_at=later)))
    api.clock.advance(hours=1)
    await key.get("/auth/me")
    await lives("Scheduled messages that are due", ScheduledWorker(api.app).drain)
    await lives("An inbound mail", lambda: post.deliver(f"alice@{EXAMPLE}"))
    listener = KeysListener(api.app, HitCounter(api.app))
    facts = dict.fromkeys(("queue_id", "score", "auth", "author", "mail_from", "client"), "")
    question = f"/verdict/{json.dumps(facts | {'recipients': f'alice@{EXAMPLE}'})}"
    await lives("The filter's question at the end of DATA", lambda: listener.answer(question))
    api.app.settings = replace(api.app.settings, server=ServerSettings(hostname="mx.test"))
    async with api.app.db.autocommit() as conn:
        await routing.apply_settings(conn, api.app.settings, api.clock())

    async def report() -> None:
        await post.deliver("dmarc@mx.test", content=mailed(Dmarc().xml()))
        await reports.read_due(api.app)

    await lives("A report by mail", report)
    page = (await key.get("/aliases", limit=1)).json["meta"]["pagination"]
    await lives("A list", lambda: key.get("/aliases", limit=1, cursor=page["next_cursor"]))
    await lives("A read", lambda: api.dora.get(f"/mailboxes/{alice}"))
    await api.webhook(EXAMPLE)
    await api.sql("DELETE FROM webhook_deliveries")
    await key.post("/send", letter())
    await lives("A delivery to a webhook", DeliveryWorker(api.app).drain)
    expected = documented()
    assert list(expected) == [title for title in expected if title in found]
    for title, statements in found.items():
        assert statements == expected[title], title
