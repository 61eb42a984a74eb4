"""What a backup of the full profile contains, and a restore, by the API and by the command: only root has the key."""

from __future__ import annotations

import json
import subprocess
from urllib.parse import quote

import pytest

from mailkeep.backup.restic import INSTALL_COMMAND, find_program
from tests.stack.harness import Stack, eventually, letter
from tests.support.backups import back_up_now
from tests.support.instance import PROGRAM, ROOT

if find_program() is None:
    pytest.skip(f"restic is not installed: {INSTALL_COMMAND}", allow_module_level=True)


def test_a_message_is_found_and_its_mailbox_restored(stack: Stack) -> None:
    domain = stack.make_domain("contents.test")
    mailbox = stack.make_mailbox(domain, "carl")
    address = mailbox["address"]
    stack.deliver(address, "In the inbox")
    eventually(lambda: len(stack.mail_of(address)) == 1, what="the mail")
    text = letter(address, "In a folder")
    message_id = text.partition("Message-ID: ")[2].partition("\r\n")[0]
    with stack.imap(address) as client:
        client.create('"Gr&APYA3w-e/2026"')
        client.append('"Gr&APYA3w-e/2026"', "", "", text.encode())
    backup = back_up_now(stack.data_dir)
    path = f"/backups/{backup.id}/contents"
    folders = stack.do("GET", f"{path}?mailbox_id={mailbox['id']}")
    assert {each["folder"]: each["messages"] for each in folders} == {"INBOX": 1, "Größe/2026": 1}
    [found] = stack.do("GET", f"{path}?message_id={quote(message_id)}")
    assert (found["name"], found["folder"]) == (address, "Größe/2026")

    with stack.imap(address) as client:
        client.select('"Gr&APYA3w-e/2026"')
        client.store("1", "+FLAGS", r"(\Deleted)")
        client.expunge()
    command = [*PROGRAM, "backup", "restore", str(backup.id), "--mailbox", address, "--in-place", "--yes", "--wait"]
    done = subprocess.run(
        [*command, "--json", "--data-dir", str(stack.data_dir)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["result"]["messages"] == {"restored": 1, "present": 1, "newer": 0}
    with stack.imap(address) as client:
        assert client.select('"Gr&APYA3w-e/2026"')[1] == [b"1"]
