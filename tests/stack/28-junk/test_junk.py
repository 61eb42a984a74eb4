"""Junk is listed, and released to the inbox, with the real Dovecot: for open sessions, usage, quota and the filter."""

from __future__ import annotations

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack.harness import Stack, eventually
from tests.support.instance import PROGRAM

# Without the fields that every mail client writes; the filter learns from at least eleven words.
SPAM = (
    "From: Shop <shop@remote.test>\r\nX-Number: {}\r\n\r\n"
    "Golden watches, slimming pills and instant loans: limited offer for clever buyers only. Order tonight, receive "
    "double quantity, pay nothing before Christmas, cancel whenever winning becomes boring.\r\n"
)


@pytest.fixture
def mailbox(stack: Stack) -> dict[str, Any]:
    """A mailbox with a message in Junk: its address and `message`."""
    box = stack.make_mailbox(stack.get_domain("junk-release.test"), f"box{time.time_ns()}")
    return box | {"message": send_spam(stack, box)}


def send_spam(stack: Stack, box: dict[str, Any]) -> dict[str, Any]:
    """Deliver spam; what the list shows of it."""
    before = {each["id"] for each in stack.do("GET", f"/mailboxes/{box['id']}/junk")}
    with stack.smtp() as client:
        client.sendmail("someone@remote.test", [box["address"]], SPAM.format(time.time_ns()))

    def find() -> list[dict[str, Any]]:
        rows = stack.do("GET", f"/mailboxes/{box['id']}/junk")
        return [each for each in rows if each["id"] not in before and each["can_release"]]

    [row] = eventually(find, what="the message in Junk")
    return row


def release(stack: Stack, box: dict[str, Any], message: dict[str, Any], **body: object) -> Any:
    return stack.ask("POST", f"/mailboxes/{box['id']}/junk/{message['id']}/release", body)


def conflict(answer: Any) -> str:
    assert answer.status == 409, answer.body
    return answer.body["error"]["details"]["reason"]


def learned_ham(stack: Stack) -> int:
    redis = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).redis_socket
    argv = ["redis-cli", "-s", str(redis), "HGET", "RS", "learns_ham"]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip() or 0)


def is_releasable(stack: Stack, box: dict[str, Any], message: dict[str, Any]) -> bool:
    [row] = [each for each in stack.do("GET", f"/mailboxes/{box['id']}/junk") if each["id"] == message["id"]]
    return row["can_release"]


def test_a_concurrent_release_moves_one_copy_that_open_sessions_see(stack: Stack, mailbox: dict[str, Any]):
    address, message = mailbox["address"], mailbox["message"]
    assert (message["from"], message["result"], message["reply"]) == ("shop@remote.test", "junk", None)
    [before] = stack.mail_of(address, "Junk")
    ham = learned_ham(stack)
    with stack.imap(address) as junk, stack.imap(address) as inbox:
        junk.select("Junk")
        junk.store("1", "+FLAGS", r"(\Flagged $Later)")
        inbox.select("INBOX")
        inbox.send(b"i1 IDLE\r\n")
        assert inbox.readline().startswith(b"+")
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: release(stack, mailbox, message), range(4)))
        assert [answer.data for answer in answers] == [
            {"id": message["id"], "allow_entry_id": None, "warnings": []}
        ] * 4
        seen = [inbox.readline() for _ in range(1)]
        while b"EXISTS" not in seen[-1]:
            seen.append(inbox.readline())
        assert seen[-1].startswith(b"* 1 EXISTS")
        inbox.send(b"DONE\r\n")
        while not inbox.readline().startswith(b"i1 OK"):
            pass
        flags = inbox.fetch("1", "(FLAGS)")[1][0]
        assert isinstance(flags, bytes)
        assert b"\\Flagged" in flags
        assert b"$Later" in flags
        assert junk.noop()[0] == "OK"
        assert junk.search(None, "ALL")[1] == [b""]
    assert stack.mail_of(address) == [before]
    assert stack.mail_of(address, "Junk") == []
    assert not is_releasable(stack, mailbox, message)
    assert eventually(lambda: learned_ham(stack) == ham + 1, what="what the filter learnt")
    assert release(stack, mailbox, message).status == 200
    assert (len(stack.mail_of(address)), learned_ham(stack)) == (1, ham + 1)
    entries = stack.do("GET", f"/audit?action=junk.release&resource_id={mailbox['id']}")
    assert [each["outcome"] for each in entries] == ["success"]


def test_a_release_needs_no_room_and_changes_no_usage(stack: Stack, mailbox: dict[str, Any]):
    path = f"/mailboxes/{mailbox['id']}"
    size = len(stack.mail_of(mailbox["address"], "Junk")[0])

    def read() -> tuple[int, int] | None:
        box = stack.do("GET", path)
        return (box["message_count"], box["used_bytes"]) if box["used_bytes"] >= size else None

    used = eventually(read, what="the usage")
    stack.do("PATCH", path, {"quota_bytes": used[1] + 10})
    assert release(stack, mailbox, mailbox["message"]).status == 200
    assert len(stack.mail_of(mailbox["address"])) == 1
    counted = stack.do("POST", f"{path}/recalculate")
    assert (counted["message_count"], counted["used_bytes"]) == (1, used[1])
    folders = {each["name"]: each["messages"] for each in stack.do("GET", f"{path}/folders")}
    assert (folders["INBOX"], folders["Junk"]) == (1, 0)


def test_what_the_owner_did_counts(stack: Stack, mailbox: dict[str, Any]):
    address, moved = mailbox["address"], mailbox["message"]
    with stack.imap(address) as client:
        client.create('"Bills/My 2026"')
        client.select("Junk")
        client._simple_command("MOVE", "1", '"Bills/My 2026"')
    assert not is_releasable(stack, mailbox, moved)
    answer = release(stack, mailbox, moved, allow=True)
    assert (conflict(answer), answer.body["error"]["details"]["folder"]) == ("moved", "Bills/My 2026")
    deleted = send_spam(stack, mailbox)
    with stack.imap(address) as client:
        client.select("Junk")
        client.store("1", "+FLAGS", r"(\Deleted)")
        client.expunge()
    assert not is_releasable(stack, mailbox, deleted)
    assert conflict(release(stack, mailbox, deleted)) == "deleted"
    # A renamed folder is another folder; new spam is delivered to Junk, and can be released.
    old = send_spam(stack, mailbox)
    with stack.imap(address) as client:
        assert client.rename("Junk", '"Old junk"')[0] == "OK"
    assert conflict(release(stack, mailbox, old)) == "moved"
    new = send_spam(stack, mailbox)
    assert release(stack, mailbox, new).status == 200
    assert len(stack.mail_of(address)) == 1
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"active": False})
    assert not is_releasable(stack, mailbox, new)
    assert conflict(release(stack, mailbox, new)) == "inactive"


def test_the_command_releases_and_allows_the_author(stack: Stack, mailbox: dict[str, Any]):
    def run(*arguments: str) -> Any:
        argv = [*PROGRAM, "junk", *arguments, "--data-dir", str(stack.data_dir), "--json"]
        return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout)

    [listed] = run("list", mailbox["address"])["messages"]
    assert (listed["id"], listed["can_release"]) == (mailbox["message"]["id"], True)
    released = run("release", mailbox["address"], listed["id"], "--allow")
    [entry] = stack.do("GET", f"/mailboxes/{mailbox['id']}/filtering/entries")
    assert (entry["id"], entry["list"], entry["value"]) == (released["allow_entry_id"], "allow", "shop@remote.test")
    assert len(released["warnings"]) == 1  # the author is not proved
    assert len(stack.mail_of(mailbox["address"])) == 1
