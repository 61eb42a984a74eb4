"""`mta.mode` smtp: what a smarthost says of messages and recipients, and what is answered and recorded of it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from mailkeep.mail.smtp.connection import Relay, Timeouts
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.settings import Settings
from mailkeep.settings.tree import MtaSettings
from tests.plugins.api import NO_RATE_LIMITS
from tests.plugins.post import letter
from tests.support.caller import Answer
from tests.support.client import EXAMPLE, Api
from tests.support.ports import free_port

WAIT = 60.0
TIMEOUTS = Timeouts(connect=WAIT, greeting=WAIT, command=WAIT, body=WAIT, acceptance=WAIT)
HOST = "smart.test"


@dataclass
class Smarthost:
    """Takes everything, but for what `says` has for a step (greeting, EHLO, MAIL, RCPT <address>, DATA, dot).

    None there closes the connection without a word.
    """

    says: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    taken: list[tuple[list[str], bytes]] = field(default_factory=list[tuple[list[str], bytes]])
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await self.talk(reader, writer)
        writer.close()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to: list[str] = []
        if not self.answer(writer, "greeting", b"220 smart.test"):
            return
        while line := await asyncio.wait_for(reader.readline(), 60):
            step = line.decode().strip()
            verb = step[:4].upper()
            if verb == "MAIL":
                to = []
            if verb == "RCPT":
                address = step.partition("<")[2].partition(">")[0]
                if not {"MAIL", f"RCPT {address}"} & self.says.keys():
                    to.append(address)
                step = f"RCPT {address}"
            else:
                step = verb
            go_on = b"354 go on" if to else b"554 5.5.1 no recipients"
            usual = {"EHLO": b"250-smart.test\r\n250 PIPELINING", "DATA": go_on}.get(verb, b"250 2.0.0 ok")
            if not self.answer(writer, step, usual):
                return
            if verb == "DATA" and to and "DATA" not in self.says:
                content = await reader.readuntil(b"\r\n.\r\n")
                if not self.answer(writer, "dot", b"250 2.0.0 Ok: queued as 4jW9"):
                    return
                if "dot" not in self.says:
                    self.taken.append((to, content))

    def answer(self, writer: asyncio.StreamWriter, step: str, usual: bytes) -> bool:
        says = self.says.get(step, usual)
        if says is not None:
            writer.write(says + b"\r\n")
        return says is not None


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, mta=MtaSettings(mode="smtp", host=HOST))


@pytest.fixture
async def smarthost(api: Api) -> AsyncIterator[Smarthost]:
    host = Smarthost()
    server = await asyncio.start_server(host.serve, "127.0.0.1", 0)
    api.app.mta = SmtpPool(Relay("127.0.0.1", server.sockets[0].getsockname()[1], timeouts=TIMEOUTS), size=4)
    yield host
    await api.app.mta.close()
    server.close()
    await asyncio.sleep(0.02)


async def history(api: Api) -> list[tuple[str, list[tuple[str, str]]]]:
    """The status of each message and of its recipients, oldest first."""
    found = (await api.sue.get("/messages", order="asc")).data
    return [(row["status"], [(each["address"], each["status"]) for each in row["recipients"]]) for row in found]


async def kinds(api: Api) -> list[str]:
    return [row["kind"] for row in await api.sql("SELECT kind FROM events ORDER BY id")]


def details(answer: Answer) -> dict[str, Any]:
    return answer.json["error"]["details"]


TO = ["a@one.test", "b@two.test", "c@three.test"]
TO_ALL = letter(to=[{"email": address} for address in TO])


@pytest.mark.parametrize("mode", ["smtp", "postfix"])
async def test_the_content_of_what_was_taken_is_kept(api: Api, smarthost: Smarthost, mode: Any):
    api.app.settings = replace(api.app.settings, mta=MtaSettings(mode=mode, host=HOST if mode == "smtp" else ""))
    sent = await api.sue.post("/send", letter(text_body="as\n.written"))
    ((_, taken),) = smarthost.taken
    answer = await api.sue.get(f"/messages/{sent.data['id']}/raw")
    assert (answer.status, answer.body) == (200, taken.removesuffix(b".\r\n").replace(b"\r\n..", b"\r\n."))
    smarthost.says["dot"] = b"554 5.7.1 no"
    await api.sue.post("/send", letter())
    refused = (await api.sue.get("/messages", status="failed")).data
    assert (await api.sue.get(f"/messages/{refused[0]['id']}/raw")).json["error"]["details"]["reason"] == "not_kept"


async def test_a_message_is_relayed(api: Api, smarthost: Smarthost):
    answer = await api.sue.post("/send", TO_ALL)
    assert answer.status == 200, answer.body
    assert answer.data["status"] == "relayed"
    assert answer.data["recipients"] == [{"address": address, "status": "relayed"} for address in TO]
    assert await history(api) == [("relayed", [(address, "relayed") for address in TO])]
    assert await kinds(api) == ["mail.sent"]
    ((to, content),) = smarthost.taken
    assert to == TO
    assert f"Message-ID: {answer.data['message_id']}\r\n".encode() in content
    (row,) = (await api.sue.get("/messages")).data
    assert row["queue_id"] == "4jW9"


async def test_a_recipient_that_is_refused_bounces_and_the_others_are_relayed(api: Api, smarthost: Smarthost):
    smarthost.says["RCPT b@two.test"] = b"550 5.1.1 nobody of that name"
    answer = await api.sue.post("/send", TO_ALL)
    assert (answer.status, answer.data["status"]) == (200, "partial")
    statuses = ["relayed", "bounced", "relayed"]
    assert [each["status"] for each in answer.data["recipients"]] == statuses
    assert await history(api) == [("partial", list(zip(TO, statuses, strict=True)))]
    assert smarthost.taken[0][0] == ["a@one.test", "c@three.test"]
    assert await kinds(api) == ["mail.sent", "mail.bounced"]
    (row,) = await api.sql("SELECT data FROM events WHERE kind = 'mail.bounced'")
    data = {name: row["data"][name] for name in ("to", "smtp_code", "enhanced_code", "remote_host", "bounce_type")}
    assert data == {
        "to": "b@two.test",
        "smtp_code": 550,
        "enhanced_code": "5.1.1",
        "remote_host": HOST,
        "bounce_type": "permanent",
    }


REFUSED = {"submitted": "no", "smtp_code": 554, "enhanced_code": "5.7.1", "diagnostic": "not from you"}
NO = b"554 5.7.1 not from you"


@pytest.mark.parametrize(
    "says,expected,status",
    [
        # The message is refused: whoever sends it should look at it.
        ({"MAIL": NO}, REFUSED, "failed"),
        ({"DATA": NO}, REFUSED, "failed"),
        ({"dot": NO}, REFUSED, "failed"),
        (
            {f"RCPT {address}": NO for address in TO},
            REFUSED | {"recipients": [{"address": each} | REFUSED for each in TO]},
            "failed",
        ),
        # The relay is in trouble, or does not want us: nothing is wrong with the message.
        ({"greeting": NO}, REFUSED | {"reason": "relay"}, "lost"),
        ({"EHLO": NO}, REFUSED | {"reason": "relay"}, "lost"),
        ({"greeting": None}, {"submitted": "no", "reason": "relay"}, "lost"),
        ({"DATA": None}, {"submitted": "no", "reason": "relay"}, "lost"),
        # Nobody knows.
        ({"dot": None}, {"submitted": "unknown"}, "unknown"),
    ],
)
async def test_what_a_smarthost_does_not_take(
    api: Api, smarthost: Smarthost, says: dict[str, bytes | None], expected: dict[str, Any], status: str
):
    smarthost.says = says
    answer = await api.sue.post("/send", TO_ALL)
    assert (answer.status, answer.code) == (500, "SEND_FAILED")
    for each in expected.get("recipients", []):
        each.pop("submitted", None)
    assert details(answer) == expected
    assert await history(api) == [(status, [(address, status) for address in TO])]
    assert await kinds(api) == []
    assert smarthost.taken == []
    assert [row["outcome"] for row in await api.audit_entries("message.send")] == ["failed"]
    smarthost.says = {}
    assert (await api.sue.post("/send", TO_ALL)).status == 200


async def test_a_relay_that_is_not_there(api: Api, smarthost: Smarthost):
    with socket.socket() as nobody:  # which keeps the port from others, and does not listen
        nobody.bind(("127.0.0.1", 0))
        api.app.mta = SmtpPool(Relay("127.0.0.1", nobody.getsockname()[1], timeouts=TIMEOUTS))
        answer = await api.sue.post("/send", TO_ALL)
    assert (answer.status, answer.code) == (500, "SEND_FAILED")
    assert details(answer) == {"submitted": "no", "reason": "relay"}
    assert await history(api) == [("lost", [(address, "lost") for address in TO])]


async def test_a_batch_waits_for_a_dead_relay_once_and_not_for_each_message(api: Api, smarthost: Smarthost):
    """It takes connections and says nothing."""
    release = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        smarthost.connections += 1
        await release.wait()
        writer.close()

    silent = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    pool = api.app.mta = SmtpPool(Relay("127.0.0.1", port, timeouts=Timeouts(greeting=0.3)), size=4)
    items = [letter(subject=f"Number {number}") for number in range(100)]
    answer = await api.sue.post("/send/batch", {"messages": items})
    assert (answer.status, answer.data["failed"]) == (200, 100)
    assert {each["code"] for each in answer.data["results"]} == {"SEND_FAILED"}
    assert all(each["details"] == {"submitted": "no", "reason": "relay"} for each in answer.data["results"])
    # Each wait is a connection. Four, and a few where some of the hundred come to it only when it is given up: a
    # machine with much else to do.
    assert 4 <= smarthost.connections <= 12
    assert {status for status, _ in await history(api)} == {"lost"}
    release.set()
    await pool.close()
    silent.close()
    await asyncio.sleep(0.02)


async def test_in_a_batch_the_smarthost_judges_each_message(api: Api, smarthost: Smarthost):
    smarthost.says["RCPT b@two.test"] = b"450 4.2.1 not now"
    items = [letter(to=[{"email": address}]) for address in TO]
    answer = await api.sue.post("/send/batch", {"messages": items})
    assert [each.get("code") for each in answer.data["results"]] == [None, "SEND_FAILED", None]
    assert answer.data["results"][1]["details"]["smtp_code"] == 450
    assert sorted(to for to, _ in smarthost.taken) == [["a@one.test"], ["c@three.test"]]
    assert [status for status, _ in await history(api)] == ["relayed", "failed", "relayed"]
    assert await kinds(api) == ["mail.sent", "mail.sent"]


async def test_an_smtputf8_address_is_refused_by_a_server_without_smtputf8(api: Api, smarthost: Smarthost):
    answer = await api.sue.post("/send", letter(to=[{"email": "jörg@one.test"}]))
    assert (answer.code, details(answer)["smtp_code"]) == ("SEND_FAILED", 553)
    assert smarthost.taken == []


@dataclass
class Box:
    mails: list[tuple[str, list[str], bytes]] = field(default_factory=list[tuple[str, list[str], bytes]])

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 2.0.0 Ok: queued as 4jW9"


def knows(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    login = cast(LoginPassword, data)
    return AuthResult(success=(login.login, login.password) == (b"mailkeep", b"open sesame"), handled=False)


async def test_starttls_and_login(api: Api):
    authority = trustme.CA()
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(theirs)
    authority.configure_trust(ours)
    box = Box()
    peer = Controller(
        box,
        hostname="127.0.0.1",
        port=free_port(),
        ready_timeout=WAIT,
        tls_context=theirs,
        require_starttls=True,
        auth_required=True,
        authenticator=knows,
    )
    peer.start()
    relay = Relay(
        "127.0.0.1",
        peer.port,
        tls="starttls",
        server_name="localhost",
        ssl_context=ours,
        username="mailkeep",
        password="open sesame",
        timeouts=TIMEOUTS,
    )
    try:
        api.app.mta = SmtpPool(relay)
        assert (await api.sue.post("/send", letter())).data["status"] == "relayed"
        await api.app.mta.close()
        for wrong, smtp_code in (
            (replace(relay, password="wrong"), 535),
            (replace(relay, ssl_context=ssl.create_default_context()), None),
            (replace(relay, server_name="elsewhere.test"), None),
        ):
            api.app.mta = SmtpPool(wrong)
            error = details(await api.sue.post("/send", letter()))
            assert (error["reason"], error["submitted"], error.get("smtp_code")) == ("relay", "no", smtp_code)
            await api.app.mta.close()
    finally:
        await asyncio.to_thread(peer.stop)
    ((mail_from, to, content),) = box.mails
    assert (mail_from.partition("@")[2], to) == (EXAMPLE, ["customer@elsewhere.test"])
    assert b"Subject: Your order\r\n" in content
    assert [status for status, _ in await history(api)] == ["relayed", "lost", "lost", "lost"]


async def test_a_domain_with_a_relay_of_its_own_is_sent_by_it(api: Api, smarthost: Smarthost):
    domain = str((await api.sue.get("/domains", name=EXAMPLE)).data[0]["id"])
    other = Smarthost()
    server = await asyncio.start_server(other.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    relay = {"host": "127.0.0.1", "port": port, "tls": "none"}
    try:
        assert (await api.sue.patch(f"/domains/{domain}", {"relay": relay})).code == "INVALID_FIELD"
        outbound = replace(api.app.settings.outbound, relay_networks=("127.0.0.0/8",))
        api.app.settings = replace(api.app.settings, outbound=outbound)
        assert (await api.sue.patch(f"/domains/{domain}", {"relay": relay})).status == 200
        assert (await api.sue.post("/send", TO_ALL)).data["status"] == "relayed"
        assert (len(other.taken), len(smarthost.taken)) == (1, 0)
        # What the setting no longer permits is not connected to.
        api.app.settings = replace(api.app.settings, outbound=replace(outbound, relay_networks=()))
        await api.app.relay_pools.close()
        refused = await api.sue.post("/send", TO_ALL)
        assert (refused.code, details(refused)["reason"]) == ("SEND_FAILED", "relay")
        assert len(other.taken) == 1
        await api.sue.patch(f"/domains/{domain}", {"relay": None})
        assert (await api.sue.post("/send", TO_ALL)).status == 200
        assert len(smarthost.taken) == 1
    finally:
        await api.app.relay_pools.close()
        server.close()


async def test_a_long_refusal_is_not_written_down_for_each_recipient(api: Api, smarthost: Smarthost):
    """A reply of 200 lines was: 800 kB for each of a thousand recipients."""
    smarthost.says["dot"] = (b"554-5.7.1 " + b"x" * 4000 + b"\r\n") * 199 + b"554 5.7.1 no"
    answer = await api.sue.post("/send", TO_ALL)
    assert (answer.status, answer.code) == (500, "SEND_FAILED")
    assert len(answer.body) < 10_000
    rows = await api.sql("SELECT diagnostic FROM message_recipients")
    assert [len(row["diagnostic"]) < 5000 for row in rows] == [True] * len(TO)
