"""The owner of a mailbox with real daemons: a second factor, app passwords, Sieve scripts, the history of sign-ins."""

from __future__ import annotations

import contextlib
import http.client
import imaplib
import json
from base64 import b32decode
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from mailkeep.core import totp
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually
from tests.stack.mail_sessions import PROTOCOLS, open_sessions


class Owner:
    """The owner of a mailbox, signed in."""

    def __init__(self, stack: Stack, address: str) -> None:
        self.place = urlsplit(stack.api)
        self.headers = {"content-type": "application/json"}
        self.do("POST", "/me/login", {"address": address, "password": PASSWORD})

    def do(self, method: str, path: str, body: object = None) -> Any:
        """A call that must succeed; its data."""
        connection = http.client.HTTPConnection(self.place.hostname or "", self.place.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, f"/api/v1{path}", json.dumps(body) if body is not None else None, self.headers)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        assert answer.status < 400, content
        if cookie := answer.headers["set-cookie"]:
            self.headers["cookie"] = cookie.partition(";")[0]
        return content["data"]


def test_with_a_second_factor_mail_clients_need_app_passwords(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("second-factor.test"), "alice", require_app_passwords=False)
    address = mailbox["address"]
    owner = Owner(stack, address)
    app_password = owner.do("POST", "/me/app-passwords", {"name": "Phone"})["password"]
    with open_sessions(stack, address) as ending, open_sessions(stack, address, app_password) as staying:
        (secret,) = parse_qs(urlsplit(owner.do("POST", "/me/totp/setup", {})["provisioning_uri"]).query)["secret"]
        code = totp.hotp(b32decode(secret), totp.step_of(datetime.now(UTC)))
        recovery_code = owner.do("POST", "/me/totp/verify", {"code": code})["recovery_codes"][0]
        for protocol in ("imap", "pop3", "sieve"):
            ending.wait_for_end(protocol)
        assert ending.begin_message()[0] == 421
        assert [protocol for protocol in PROTOCOLS if not staying.works(protocol)] == []
    with pytest.raises(imaplib.IMAP4.error):
        stack.imap(address, PASSWORD)
    stack.imap(address, app_password).logout()
    owner.do("DELETE", "/me/totp", {"recovery_code": recovery_code})
    stack.imap(address, PASSWORD).logout()
    # The history has browser and mail clients, with the name of the app password.
    wanted = {("web", ""), ("imap", ""), ("imap", "Phone"), ("smtp", "Phone"), ("pop3", "Phone"), ("sieve", "Phone")}
    eventually(
        lambda: wanted <= {(each["protocol"], each["program"]) for each in owner.do("GET", "/me/logins")},
        what="the sign-ins",
    )
    setup = owner.do("GET", "/me/setup")
    assert (setup["login"], setup["app_password_required"]) == (address, False)
    ports = {(each["protocol"], each["security"]): each["port"] for each in setup["services"]}
    assert ports["imap", "tls"] == stack.ports["imaps"]
    with contextlib.closing(http.client.HTTPConnection(ADDRESS, ports["smtp", "starttls"], timeout=60)) as connection:
        connection.connect()  # a server listens there


def test_scripts_and_mail_of_the_own_mailbox(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("own-scripts.test"), "alice")
    owner, script = Owner(stack, mailbox["address"]), 'require ["fileinto", "mailbox"];\nfileinto :create "News";\n'
    owner.do("PUT", "/me/sieve/main", {"script": script})
    owner.do("POST", "/me/sieve/main/activate")
    assert owner.do("GET", "/me/sieve") == [{"name": "main", "active": True}]
    assert owner.do("GET", "/me/sieve/main")["script"] == script
    assert stack.do("GET", f"/mailboxes/{mailbox['id']}/sieve") == [{"name": "main", "active": True}]
    assert owner.do("POST", "/sieve/validate", {"script": script})["ok"] is True
    owner.do("POST", "/me/sieve/deactivate")
    owner.do("DELETE", "/me/sieve/main")
    assert owner.do("GET", "/me/sieve") == []
    stack.deliver(mailbox["address"])
    eventually(lambda: [each["result"] for each in owner.do("GET", "/me/messages")] == ["received"], what="the message")
