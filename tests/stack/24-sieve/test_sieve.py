"""Scripts by the API and by ManageSieve are the same, and the next delivery obeys."""

from __future__ import annotations

import imaplib
import os
import pwd
import smtplib
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.directory.mailboxes.model import mail_folder
from tests.stack.harness import PASSWORD, Stack, eventually
from tests.stack.managesieve import ManageSieve

FILE_NEWS = 'require "fileinto";\nif header :contains "subject" "News" { fileinto "News"; }\n'
REDIRECT = 'redirect :copy "accomplice+sieve@remote.test";\n'
CLOSES = [
    "suspend", "disable_sign_in", "disable_app_passwords", "block_app_passwords", "disable_forwards", "disable_sieve",
    "end_sessions", "hold_queue",
]  # fmt: skip


def subjects(stack: Stack, address: str, folder: str) -> list[bytes]:
    return [line for mail in stack.mail_of(address, folder) for line in mail.splitlines() if line[:8] == b"Subject:"]


@pytest.fixture(scope="session")
def mailbox(stack_folder: Any) -> dict[str, Any]:
    stack = Stack(stack_folder)
    return stack.make_mailbox(stack.make_domain(f"sieve-api-{os.getpid()}.test"), "alice")


def test_the_api_and_managesieve_share_scripts_and_deliveries_obey(stack: Stack, mailbox: dict[str, Any]):
    address, path = mailbox["address"], f"/mailboxes/{mailbox['id']}/sieve"
    written = stack.do("PUT", f"{path}/main", {"script": FILE_NEWS})
    assert (written["active"], written["warnings"]) == (False, [])
    stack.do("POST", f"{path}/main/activate")
    home = mail_folder(stack.data_dir, UUID(mailbox["id"]))
    assert {each.stat().st_uid for each in (home, home / "sieve" / "main.sieve")} == {
        pwd.getpwnam("mailkeep-mail").pw_uid
    }
    with ManageSieve(stack, address) as session:
        assert session.list() == {"main": True}
        assert session.get("main").decode() == FILE_NEWS
        session.put("by hand", "discard;")
    stack.deliver(address, "News of today")
    stack.deliver(address, "Something else")
    assert eventually(lambda: subjects(stack, address, "News")) == [b"Subject: News of today"]
    assert eventually(lambda: subjects(stack, address, "INBOX")) == [b"Subject: Something else"]

    assert stack.do("GET", path) == [{"name": "by hand", "active": False}, {"name": "main", "active": True}]
    assert stack.do("GET", f"{path}/by%20hand")["script"] == "discard;"
    with ManageSieve(stack, address) as session:
        session.command('SETACTIVE "by hand"')
    assert [each["name"] for each in stack.do("GET", path) if each["active"]] == ["by hand"]
    assert stack.ask("DELETE", f"{path}/by%20hand").status == 409
    stack.do("POST", f"{path}/deactivate")
    stack.do("DELETE", f"{path}/by%20hand")
    with ManageSieve(stack, address) as session:
        assert session.list() == {"main": False}
    stack.deliver(address, "News again")
    assert eventually(lambda: b"Subject: News again" in subjects(stack, address, "INBOX"))


def test_both_accept_the_same_scripts(stack: Stack, mailbox: dict[str, Any]):
    address, path = mailbox["address"], f"/mailboxes/{mailbox['id']}/sieve"
    refused = stack.ask("PUT", f"{path}/bad", {"script": "keep;\nfoo;"})
    assert (refused.status, refused.body["error"]["details"]["errors"][0]["line"]) == (400, 2)
    scripts = [f'require "{name}";' for name in ("environment", "enotify", "editheader", "vnd.dovecot.execute")]
    scripts += [f'require "{name}";' for name in ("vacation", "reject", "regex", "imap4flags", "duplicate")]
    with ManageSieve(stack, address) as session:
        for script in scripts:
            try:
                session.put("x", script)
                accepted = True
            except ValueError:
                accepted = False
            assert stack.do("POST", "/sieve/validate", {"script": script})["ok"] is accepted, script
            assert (stack.ask("PUT", f"{path}/x", {"script": script}).status == 200) is accepted, script
        for number in range(len(session.list()), 32):
            session.put(f"many {number}", "keep;")
        with pytest.raises(ValueError, match="QUOTA"):
            session.put("one more", "keep;")
        assert len(stack.do("GET", path)) == 32
        assert (
            stack.ask("PUT", f"{path}/one%20more", {"script": "keep;"}).body["error"]["details"]["reason"]
            == "limit_reached"
        )


def test_a_stored_message_and_a_purged_mailbox(stack: Stack):
    other = stack.make_mailbox(stack.make_domain("sieve-purge.test"), "bob")
    stack.do("PUT", f"/mailboxes/{other['id']}/sieve/main", {"script": FILE_NEWS})
    stack.deliver(other["address"], "News")
    [row] = eventually(lambda: stack.do("GET", f"/messages?mailbox_id={other['id']}"))
    tried = stack.do("POST", "/sieve/test", {"script": FILE_NEWS, "message_id": row["id"]})
    assert [(each["action"], each["folder"]) for each in tried["actions"]] == [("fileinto", "News")]
    stack.do("DELETE", f"/mailboxes/{other['id']}?purge=true")
    assert stack.ask("PUT", f"/mailboxes/{other['id']}/sieve/main", {"script": "keep;"}).status == 404
    eventually(lambda: not mail_folder(stack.data_dir, UUID(other["id"])).exists())


def test_an_incident_closes_every_way_in_and_out_until_its_undo(stack: Stack):
    """T63: an attacker with the password has set a forward and a script, made an app password, and is signed in."""
    carol = stack.make_mailbox(
        stack.make_domain("attacked.test"),
        "carol",
        forward={"destinations": ["accomplice+forward@remote.test"], "keep_copy": True},
    )
    address, path = carol["address"], f"/mailboxes/{carol['id']}"
    owner = stack.sign_in_owner(address)
    stack.do("PUT", f"{path}/sieve/main", {"script": 'require "copy";\n' + FILE_NEWS + REDIRECT})
    stack.do("POST", f"{path}/sieve/main/activate")
    secret = stack.ask("POST", "/me/app-passwords", {"name": "kept"}, owner).data["password"]
    session = stack.imap(address, secret)

    def forwarded() -> list[int]:
        return [len(stack.caught(f"accomplice+{way}@remote.test")) for way in ("forward", "sieve")]

    stack.deliver(address, "News of yesterday")
    eventually(lambda: forwarded() == [1, 1], what="both copies")

    incident = stack.do(
        "POST", "/abuse/incidents", {"subject": {"type": "mailbox", "id": carol["id"]}, "actions": CLOSES}
    )
    assert {each["result"] for each in incident["actions"]} == {"done"}, incident
    eventually(lambda: has_ended(session), what="the end of the IMAP session")
    session.shutdown()
    for password in (PASSWORD, secret):
        with pytest.raises(imaplib.IMAP4.error, match="Authentication failed"):
            stack.imap(address, password)
        with pytest.raises(smtplib.SMTPAuthenticationError):
            stack.login(address, password)
    assert stack.ask("GET", "/me", None, owner).status == 401
    assert stack.sign_in_owner(address) == ""
    assert stack.ask("POST", "/me/app-passwords", {"name": "another"}, owner).status == 401
    assert stack.ask("POST", f"{path}/app-passwords", {"name": "another"}).status == 409
    assert stack.send(address, "victim@remote.test").body["error"]["code"] == "MAILBOX_SUSPENDED"
    stack.deliver(address, "News of today")
    eventually(lambda: len(stack.do("GET", f"/messages?mailbox_id={carol['id']}&status=received")) == 2)

    done = stack.do("POST", f"/abuse/incidents/{incident['id']}/undo")
    assert done["not_restored"] == ["end_sessions"]
    stack.deliver(address, "News of tomorrow")
    eventually(lambda: forwarded() == [2, 2], what="the copies of what came after the undo")
    for each in ("forward", "sieve"):
        assert not any(b"News of today" in mail for mail in stack.caught(f"accomplice+{each}@remote.test"))
    assert subjects(stack, address, "INBOX") == [b"Subject: News of today"]
    assert subjects(stack, address, "News") == [b"Subject: News of yesterday", b"Subject: News of tomorrow"]
    stack.imap(address, secret).logout()
    stack.login(address, secret).quit()
    with ManageSieve(stack, address) as sieve:
        assert sieve.list() == {"main": True}


def has_ended(session: imaplib.IMAP4_SSL) -> bool:
    try:
        session.noop()
    except (imaplib.IMAP4.abort, OSError):
        return True
    return False
