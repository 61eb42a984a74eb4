"""Full-text search is switched on and off while sessions are open, and correct when the indexer is killed or fails.
`make prove-search` does the same with 20,000 messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack.harness import Stack, eventually
from tests.stack.searching import append, index_of, kill_workers, search, switch, workers

ADDRESS = "alice@searched.test"
MESSAGES = 40


@pytest.fixture(scope="module")
def mailbox(stack_folder: Path) -> Iterator[dict[str, Any]]:
    """A mailbox with messages; afterwards search is off again."""
    stack = Stack(stack_folder)
    domain = stack.get_domain("searched.test")
    for old in stack.do("GET", f"/mailboxes?domain_id={domain}"):
        stack.ask("DELETE", f"/mailboxes/{old['id']}")
    made = stack.make_mailbox(domain, "alice")
    with stack.imap(ADDRESS) as client:
        append(client, ADDRESS, [f"needle{number} haystack" for number in range(MESSAGES)])
    yield made
    switch(stack, None)


def look_for_all(stack: Stack, expected: int) -> None:
    """A new session finds all messages, and each by its own word."""
    with stack.imap(ADDRESS) as client:
        client.select("INBOX")
        assert len(search(client, "haystack")) == expected
        assert len(search(client, "needle7")) == 1
        assert search(client, "needle7", "needle8") == []


def test_search_on_and_off(stack: Stack, mailbox: dict[str, Any]) -> None:
    index = index_of(stack, mailbox["id"])
    with stack.imap(ADDRESS) as early:
        early.select("INBOX")
        quota = early.getquotaroot("INBOX")
        switch(stack, "words")
        assert len(search(early, "haystack")) == MESSAGES  # the session goes on, as before
        look_for_all(stack, MESSAGES)
        assert (index / "segments.gen").exists()
        with stack.imap(ADDRESS) as middle:
            middle.select("INBOX")
            append(middle, ADDRESS, ["another haystack"])
            assert len(search(middle, "haystack")) == MESSAGES + 1
            assert search(middle, "aystack") == []  # whole words
            switch(stack, "off")
            eventually(lambda: not index.exists(), 90, "the removal of the index")
            append(middle, ADDRESS, ["a third haystack"])
            assert len(search(middle, "haystack")) == MESSAGES + 2
        assert len(search(early, "aystack")) >= MESSAGES
    look_for_all(stack, MESSAGES + 2)
    switch(stack, "words")
    look_for_all(stack, MESSAGES + 2)  # although the index is new, and Dovecot had noted that all is in it
    with stack.imap(ADDRESS) as late:
        append(late, ADDRESS, ["a fourth haystack"])
        late.select("INBOX")
        late.store("1:3", "+FLAGS", r"\Deleted")
        late.store(f"{MESSAGES + 1}:*", "+FLAGS", r"\Deleted")
        late.expunge()
        assert len(search(late, "haystack")) == MESSAGES - 3
        append(late, ADDRESS, [f"needle{number} haystack" for number in range(3)])
        assert late.getquotaroot("INBOX") == quota
    look_for_all(stack, MESSAGES)


def test_a_killed_indexer_leaves_searches_correct(stack: Stack, mailbox: dict[str, Any]) -> None:
    switch(stack, "words")
    look_for_all(stack, MESSAGES)
    index = index_of(stack, mailbox["id"])
    with stack.imap(ADDRESS) as client:
        client.select("INBOX")
        append(client, ADDRESS, ["more haystack"])
        search(client, "haystack")  # a worker has started
        (worker,) = workers(stack)
        # What it leaves behind if it is killed while it writes.
        assert kill_workers(stack) == 1
        lock = index / "write.lock"
        lock.touch()
        owner = index.stat()
        os.chown(lock, owner.st_uid, owner.st_gid)
        eventually(lambda: worker not in workers(stack), what="the end of the worker")
        append(client, ADDRESS, ["yet more haystack"])
        assert len(search(client, "haystack")) == MESSAGES + 2
        assert not lock.exists()
        assert len(search(client, "haystack")) == MESSAGES + 2
    look_for_all(stack, MESSAGES + 2)


def test_an_index_that_dovecot_deleted_is_built_again(stack: Stack, mailbox: dict[str, Any]) -> None:
    switch(stack, "words")
    with stack.imap(ADDRESS) as client:
        client.select("INBOX")
        before = len(search(client, "haystack"))
        append(client, ADDRESS, ["one more haystack"])
        assert len(search(client, "haystack")) == before + 1
        # A worker that can't write deletes the index.
        index = index_of(stack, mailbox["id"])
        lock = index / "write.lock"
        lock.touch()
        append(client, ADDRESS, ["the last haystack"])
        assert len(search(client, "haystack")) == before + 2
        eventually(
            lambda: "is built again" in (stack.folder / "data" / "log" / "node.log").read_text(), what="the repair"
        )
        append(client, ADDRESS, ["after the failure: haystack"])
        assert len(search(client, "haystack")) == before + 3
        assert len(search(client, "needle7")) == 1
