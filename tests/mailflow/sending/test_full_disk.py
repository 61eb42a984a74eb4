"""A full disk during a send: 503 with the result of the message; sending continues when there is space."""

from __future__ import annotations

import errno
import os
from datetime import timedelta
from typing import Any

import pytest
from psycopg import errors

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.sandbox import service as sandbox, store
from mailkeep.features.mailflow.sending import store as sending
from mailkeep.mail.message import content_file
from tests.mailflow.receiving.test_faults import fail_once
from tests.plugins.post import Post
from tests.support.client import EXAMPLE, START

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def settled(post: Post) -> list[str]:
    return sorted(row["status"] for row in await post.messages(direction="outbound"))


async def test_a_full_sandbox_sends_nothing(post: Post, monkeypatch: pytest.MonkeyPatch):
    fail_once(monkeypatch, content_file, "write", fault=FULL)
    answer = await post.send()
    assert (answer.status, answer.code) == (503, "UNAVAILABLE")
    assert int(answer.headers["retry-after"]) > 0
    details = answer.json["error"]["details"]
    assert (details["submitted"], details["smtp_code"], details["enhanced_code"]) == ("no", 452, "4.3.1")
    assert await settled(post) == ["failed"]
    assert await post.caught() == []
    assert (await post.send()).status == 200
    assert len(await post.caught()) == 1


async def test_with_a_key_the_same_call_is_made_again_once_there_is_room(post: Post, monkeypatch: pytest.MonkeyPatch):
    fail_once(monkeypatch, content_file, "write", fault=FULL)
    headers = {"idempotency-key": "once"}
    body = {"from": {"email": f"shop@{EXAMPLE}"}, "to": [{"email": "a@b.test"}], "subject": "s", "text_body": "t"}
    statuses = [(await post.api.sue("POST", "/send", body, headers=headers)).status for _ in range(3)]
    assert statuses == [503, 200, 200]
    assert len(await post.caught()) == 1


async def test_where_the_database_has_no_room_before_the_send_nothing_is_sent(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    calls = fail_once(monkeypatch, sending, "begin", fault=errors.DiskFull("no room for relation"))
    answer = await post.send()
    assert calls() == 1
    assert (answer.status, answer.code) == (503, "UNAVAILABLE")
    assert await post.caught() == []
    assert (await post.send()).status == 200


async def test_a_full_database_after_the_send_gets_the_result_later(post: Post, monkeypatch: pytest.MonkeyPatch):
    calls = fail_once(monkeypatch, sending, "mark_accepted", fault=errors.DiskFull("no room for relation"))
    assert (await post.send()).status == 200
    assert calls() == 2
    assert await settled(post) == ["queued"]
    assert [kind for kind, _ in await post.events()] == ["mail.sent"]


async def test_content_that_a_full_database_has_no_row_for_is_pruned_later(post: Post, monkeypatch: pytest.MonkeyPatch):
    real = store.insert

    async def full(conn: Conn, caught: Any) -> None:
        raise errors.DiskFull("no room for relation")

    monkeypatch.setattr(store, "insert", full)
    assert (await post.send()).status >= 500
    monkeypatch.setattr(store, "insert", real)
    assert (await post.send()).status == 200
    found = sorted((post.api.app.data_dir / "sandbox").glob("*/*.eml"))
    assert len(found) == 2
    for path in found:
        os.utime(path, (0, 0))
    await sandbox.prune(post.api.app, START - timedelta(days=1))
    (kept,) = (post.api.app.data_dir / "sandbox").glob("*/*.eml")
    assert kept.stem == (await post.caught())[0]["id"]


async def test_without_room_for_what_is_shown_the_send_goes_on(post: Post, monkeypatch: pytest.MonkeyPatch):
    def full(*_: Any) -> None:
        raise FULL

    monkeypatch.setattr(os, "link", full)
    assert (await post.send()).status == 200
    (row,) = await post.messages()
    assert (await post.api.sue.get(f"/messages/{row['id']}/raw")).json["error"]["details"]["reason"] == "not_kept"
