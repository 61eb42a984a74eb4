"""Restores with a real Dovecot: a purged mailbox keeps folders, flags, UIDs and its filter; a live one is only added
to.
"""

from __future__ import annotations

import imaplib
import re
import threading
from typing import Any
from uuid import UUID

import pytest

from mailkeep.backup.restic import INSTALL_COMMAND, find_program
from mailkeep.features.operations.backups.model import BackupOperation
from tests.stack.harness import PASSWORD, Stack, eventually, letter
from tests.support.backups import back_up_now, perform_now

if find_program() is None:
    pytest.skip(f"restic is not installed: {INSTALL_COMMAND}", allow_module_level=True)

FILE_NEWS = 'require "fileinto"; if header :contains "subject" "News" { fileinto "Projects"; }'


def restore(stack: Stack, backup_id: UUID, mailbox_id: str, **more: object) -> dict[str, Any]:
    argument = {"scope": "mailbox", "mailbox_id": mailbox_id, **more}
    operation: BackupOperation = perform_now(stack.data_dir, "restore", backup_id, argument)
    assert operation.state == "succeeded", operation.error
    assert operation.result
    return dict(operation.result)


def listing(client: imaplib.IMAP4, folder: str) -> tuple[bytes, list[bytes]]:
    """UIDVALIDITY of a folder, and UID, flags, date and size of its messages."""
    assert client.select(f'"{folder}"', readonly=True)[0] == "OK"
    validity = client.response("UIDVALIDITY")[1][0]
    rows: list[Any] = client.uid("FETCH", "1:*", "(UID FLAGS INTERNALDATE RFC822.SIZE)")[1]
    return validity, [re.sub(rb" ?\\Recent", b"", row) for row in rows if row]


def state(stack: Stack, address: str) -> dict[str, Any]:
    with stack.imap(address) as client:
        folders = sorted(client.list()[1])
        found: dict[str, Any] = {"folders": folders, "subscribed": sorted(client.lsub()[1])}
        for name in ("INBOX", "Projects", "Projects/2026"):
            found[name] = listing(client, name)
        return found


def test_a_purged_mailbox_returns(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("returned.test"), "rita")
    address, path = mailbox["address"], f"/mailboxes/{mailbox['id']}"
    stack.deliver(address, "One")
    stack.deliver(address, "Two")
    eventually(lambda: len(stack.mail_of(address)) == 2, what="the mail")
    with stack.imap(address) as client:
        for name in ("Projects", "Projects/2026"):
            client.create(name)
            client.subscribe(name)
        client.select("INBOX")
        client.store("1", "+FLAGS", r"(\Seen \Flagged urgent)")
        client.copy("1:2", "Projects/2026")
        client.store("2", "+FLAGS", r"(\Deleted)")
        client.expunge()
        client.append("Projects", r"(\Answered later)", '"01-Jan-2020 10:00:00 +0000"', letter(address, "Old").encode())
    stack.do("PUT", f"{path}/sieve/main", {"script": FILE_NEWS})
    stack.do("POST", f"{path}/sieve/main/activate")
    before = state(stack, address)
    backup = back_up_now(stack.data_dir)
    verified = perform_now(stack.data_dir, "verify", backup.id)
    assert verified.result
    assert verified.result["ok"], verified.result

    assert stack.ask("DELETE", f"{path}?purge=true").status == 200
    home = stack.data_dir / "mail" / mailbox["id"]
    eventually(lambda: not home.exists(), what="the removal of the mail")
    done = restore(stack, backup.id, mailbox["id"])
    assert done["mailboxes"]["returned"] == 1
    with pytest.raises(imaplib.IMAP4.error):
        stack.imap(address)  # it has no password
    stack.do("PATCH", path, {"password": PASSWORD})
    assert state(stack, address) == before
    scripts = stack.do("GET", f"{path}/sieve")
    assert [(each["name"], each["active"]) for each in scripts] == [("main", True)]
    stack.deliver(address, "News of today")
    eventually(lambda: len(stack.mail_of(address, "Projects")) == 2, what="the filter at work")


def test_a_live_mailbox_is_only_added_to(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("live.test"), "lena")
    address = mailbox["address"]
    with stack.imap(address) as client:
        client.create("Work")
        for number in range(20):
            flags = r"(\Seen important)" if number % 2 else ""
            client.append("Work", flags, "", letter(address, f"Old {number}").encode())
    backup = back_up_now(stack.data_dir)
    with stack.imap(address) as client:
        client.select("Work")
        client.store("1:10", "+FLAGS", r"(\Deleted)")
        client.expunge()
    stop, appended = threading.Event(), 0

    def keep_working() -> None:
        nonlocal appended
        with stack.imap(address) as client:
            while not stop.is_set():
                client.append("Work", "(other)", "", letter(address, f"New {appended}").encode())
                appended += 1
                client.select("Work")
                client.store("1:*", "+FLAGS", r"(\Seen)")
                stop.wait(0.05)

    working = threading.Thread(target=keep_working)
    working.start()
    try:
        done = restore(stack, backup.id, mailbox["id"], into="in_place")
    finally:
        stop.set()
        working.join(60)
    assert done["messages"]["restored"] == 10
    assert done["messages"]["present"] == 10
    with stack.imap(address) as client:
        client.select("Work")
        rows: list[Any] = client.fetch("1:*", "(FLAGS BODY.PEEK[HEADER.FIELDS (SUBJECT)])")[1]
        found = {row[1].partition(b": ")[2].strip().decode(): row[0] for row in rows if isinstance(row, tuple)}
        assert len(client.search(None, "ALL")[1][0].split()) == 20 + appended
    assert {name for name in found if name.startswith("Old")} == {f"Old {number}" for number in range(20)}
    for number in range(20):
        assert (b"important" in found[f"Old {number}"]) == bool(number % 2), found
    assert all(b"other" in found[f"New {number}"] for number in range(appended))

    done = restore(stack, backup.id, mailbox["id"])
    assert done["messages"]["restored"] == 20
    with stack.imap(address) as client:
        assert any(f"{done['folder']}/Work".encode() in line for line in client.lsub()[1])
        client.select(f'"{done["folder"]}/Work"', readonly=True)
        assert len(client.search(None, "ALL")[1][0].split()) == 20
        assert len(client.search(None, "KEYWORD", "important")[1][0].split()) == 10
    usage = stack.do("POST", f"/mailboxes/{mailbox['id']}/recalculate")
    eventually(
        lambda: (
            stack.do("GET", f"/mailboxes/{mailbox['id']}")["message_count"] == usage["message_count"] == 40 + appended
        ),
        what="the usage",
    )
