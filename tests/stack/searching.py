"""Full-text search of a running instance: switched by plan and apply, and searches that must find what is there."""

from __future__ import annotations

import contextlib
import imaplib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from mailkeep.run.runtime import child
from tests.stack.applying import paths_of
from tests.stack.harness import Stack, eventually, letter


def switch(stack: Stack, value: str | None) -> None:
    """Set `search.full_text` (None: unset) and apply it."""
    stack.do("PATCH", "/config", {"changes": {"search.full_text": value}})
    plan = stack.do("GET", "/orchestrator/plan")
    if not plan["actions"]:
        return
    assert [(each["service"], each["action"]) for each in plan["actions"]] == [("dovecot", "reload")], plan["actions"]
    started = stack.do("POST", "/orchestrator/apply", {"plan_id": plan["id"], "watch_seconds": 5})

    def ended() -> dict[str, object] | None:
        operation = stack.do("GET", f"/orchestrator/operations/{started['operation_id']}")
        return operation if operation["state"] != "running" else None

    assert eventually(ended, 120, "the apply")["state"] == "succeeded"


def search(client: imaplib.IMAP4, *words: str) -> list[bytes]:
    """The numbers of messages whose body has these words, in the selected folder."""
    status, found = client.search(None, *(part for word in words for part in ("BODY", word)))
    assert status == "OK", found
    return found[0].split()


def append(client: imaplib.IMAP4, address: str, texts: Sequence[str]) -> None:
    """Add a message for each text to INBOX."""
    for text in texts:
        assert client.append("INBOX", "", "", letter(address, "Filed", body=text).encode())[0] == "OK"
    client.noop()


def index_of(stack: Stack, mailbox_id: str) -> Path:
    return stack.data_dir / "mail" / mailbox_id / "Maildir" / "lucene-indexes"


def workers(stack: Stack) -> list[int]:
    """The processes of Dovecot's indexer-worker."""
    master = int((paths_of(stack.data_dir).run / "pids" / "dovecot.pid").read_text().split()[0])
    found: list[int] = []
    for pid in child.list_session(master):
        with contextlib.suppress(OSError):
            if b"indexer-worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def kill_workers(stack: Stack) -> int:
    """Kill them; their number."""
    pids = workers(stack)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)
