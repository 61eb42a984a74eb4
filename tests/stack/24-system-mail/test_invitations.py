"""An invitation in the full profile: its mail arrives, its link works once, and nothing that is kept has the token."""

from __future__ import annotations

import imaplib
import re

import pytest

from tests.stack.harness import HOSTNAME, PASSWORD, Stack, eventually

DOMAIN, FAR, LOCAL = "invited.test", "nora@remote.test", "team@invited.test"


@pytest.mark.timeout(300)
def test_the_mail_arrives_and_its_link_sets_the_password_of_a_mailbox(stack: Stack):
    domain_id = stack.make_domain(DOMAIN)
    stack.make_mailbox(domain_id, "team")
    body = {"domain_id": domain_id, "local_part": "nora", "invite": True, "invite_to": FAR}
    nora = stack.do("POST", "/mailboxes", body)
    assert nora["invitation"]["url"] is None
    [mail] = eventually(lambda: stack.caught(FAR), what="the invitation")
    assert f"Subject: Set your password on {HOSTNAME}".encode() in mail
    assert b"DKIM-Signature:" in mail
    # The mail is in quoted-printable, so that its lines are short.
    text = mail.decode().replace("=\r\n", "").replace("=3D", "=")
    (token,) = re.findall(r"/invitation#([A-Za-z0-9_-]{43})", text)

    for password in ("", PASSWORD):
        with pytest.raises(imaplib.IMAP4.error):
            stack.imap(f"nora@{DOMAIN}", password or "x")
    stack.do("POST", f"/mailboxes/{nora['id']}/invite", {"invite_to": LOCAL})
    assert stack.ask("POST", "/invitations/lookup", {"token": token}).status == 404
    [local] = eventually(lambda: stack.mail_of(LOCAL), what="the invitation in a mailbox here")
    (second,) = re.findall(rb"/invitation#([A-Za-z0-9_-]{43})", local.replace(b"=\r\n", b""))
    new_token = second.decode()
    accepted = stack.do("POST", f"/invitations/{new_token}", {"password": "seven green bottles"})
    assert (accepted["type"], accepted["address"]) == ("mailbox", f"nora@{DOMAIN}")
    with stack.imap(f"nora@{DOMAIN}", "seven green bottles") as client:
        assert client.select("INBOX")[0] == "OK"
    assert stack.ask("POST", f"/invitations/{new_token}", {"password": "seven green bottles"}).status == 404

    rows = stack.do("GET", f"/messages?direction=outbound&to={FAR}&limit=50")
    [row] = [each for each in rows if each["source"] == "mailkeep"]
    assert stack.ask("GET", f"/messages/{row['id']}/raw").status == 404
    searched = 0
    for file in [stack.folder / "up.log", *(stack.data_dir / "log").rglob("*"), *stack.data_dir.glob("content/*/*")]:
        if file.is_file() and token.encode() in file.read_bytes():
            raise AssertionError(f"{file} contains the token")
        searched += file.is_file()
    assert searched > 5
    entries = stack.content("/audit/export?format=ndjson")
    assert b"invitation.accept" in entries
    for each in (token, new_token):
        assert each.encode() not in entries
