"""Submission with an API key on the embedded listener, by smtplib and by hand."""

from __future__ import annotations

import asyncio
import base64
import smtplib
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.mailflow.sending import service as sending
from mailkeep.mail.smtp.client import ConnectionLost
from tests.plugins.post import Post
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER

T = TypeVar("T")
_CLIENTS = ThreadPoolExecutor(8, thread_name_prefix="program")
SHOP = f"shop@{EXAMPLE}"
CUSTOMER = "customer@elsewhere.test"
SECONDS = 30


def any_certificate() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def letter(*fields: str, sender: str = SHOP, body: str = "It is on its way.") -> bytes:
    lines = [f"From: The Shop <{sender}>", f"To: {CUSTOMER}", "Subject: Your order", *fields, "", body, ""]
    return "\r\n".join(lines).encode()


async def call(work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_CLIENTS, work)


async def create_key(post: Post, **more: object) -> dict[str, Any]:
    answer = (await post.api.sue.post("/api-keys", {"name": "shop", "permissions": "sending"} | more)).data
    return answer["api_key"] | {"secret": answer["key"]}


def connect(post: Post, secret: str = "", user: str = "apikey") -> smtplib.SMTP:
    client = smtplib.SMTP("127.0.0.1", post.port, "program.test", timeout=SECONDS)
    client.starttls(context=any_certificate())
    if secret:
        client.login(user, secret)
    return client


async def submit(
    post: Post, secret: str, content: bytes, *, sender: str = SHOP, to: tuple[str, ...] = (CUSTOMER,)
) -> tuple[int, str]:
    """The last reply to a message, with its code."""

    def talk() -> tuple[int, str]:
        with connect(post, secret) as client:
            for code, text in [client.mail(sender), *(client.rcpt(each) for each in to)]:
                if code != 250:
                    return code, text.decode()
            code, text = client.data(content)
            return code, text.decode()

    return await call(talk)


async def test_a_message_is_sent_and_recorded_as_by_api(post: Post) -> None:
    key = await create_key(post, scoped_domain_ids=[str(DOMAIN_IDS[EXAMPLE])])
    content = letter("X-Mailkeep-Tags: welcome, order", "Idempotency-Key: 1", "X-Spam: no")
    code, text = await submit(post, key["secret"], content, to=(CUSTOMER, f"other@{OTHER}"))
    assert code == 250, text
    (row,) = await post.messages()
    assert (row["source"], row["from"], row["tags"]) == ("smtp", SHOP, ["welcome", "order"])
    assert row["api_key_id"] == key["id"]
    assert [each["address"] for each in row["recipients"]] == [CUSTOMER, f"other@{OTHER}"]
    (stored,) = await post.api.sql("SELECT mail_from FROM sandbox_messages")
    assert stored["mail_from"].startswith("b+")
    assert stored["mail_from"].endswith(f"@{EXAMPLE}")
    raw = (await post.api.sue.get(f"/messages/{row['id']}/raw")).body
    head = (raw if isinstance(raw, bytes) else str(raw).encode()).partition(b"\r\n\r\n")[0]
    assert b"\r\nReceived: from program.test ([127.0.0.1])" in b"\r\n" + head
    assert b"ESMTPSA" in head
    assert b"DKIM-Signature:" in head
    assert b"Message-ID: <" in head
    assert b"Date: " in head
    for removed in (b"X-Mailkeep", b"Idempotency-Key", b"X-Spam"):
        assert removed not in head
    assert [kind for kind, _ in await post.events()] == ["mail.sent"]


async def test_the_outcome_of_a_message_with_a_message_id_of_the_program(post: Post) -> None:
    key = await create_key(post)
    for to in ((CUSTOMER,), ("bounce@elsewhere.test", "complaint@elsewhere.test")):
        assert (await submit(post, key["secret"], letter("Message-ID: <same@program.test>"), to=to))[0] == 250
    await post.run_queue()
    second, first = await post.messages()
    assert [each["status"] for each in first["recipients"]] == ["delivered"]
    assert [each["status"] for each in second["recipients"]] == ["bounced", "delivered"]
    for row in (first, second):
        assert (await post.api.sue.get(f"/messages/{row['id']}/raw")).status == 200


async def test_senders_that_the_key_may_not_use(post: Post) -> None:
    scoped = await create_key(post, scoped_domain_ids=[str(DOMAIN_IDS[EXAMPLE])])
    foreign = f"shop@{OTHER}"
    assert (await submit(post, scoped["secret"], letter(), sender=foreign))[0] == 553
    assert (await submit(post, scoped["secret"], letter(), sender="shop@unmanaged.test"))[0] == 553
    assert (await submit(post, scoped["secret"], letter(), sender=""))[0] == 553
    code, text = await submit(post, scoped["secret"], letter(sender=foreign))
    assert code == 553
    assert text.startswith("5.7.1")
    code, text = await submit(post, scoped["secret"], letter("From: second@elsewhere.test"))
    assert (code, text[:5]) == (550, "5.6.0")
    domain = f"/domains/{DOMAIN_IDS[EXAMPLE]}"
    await post.api.sue.patch(domain, {"sending_enabled": False})
    assert (await submit(post, scoped["secret"], letter()))[0] == 550
    await post.api.sue.patch(domain, {"sending_enabled": True, "active": False})
    assert (await submit(post, scoped["secret"], letter()))[0] == 450
    assert await post.messages() == []


async def test_limits_of_the_key_and_of_the_sender(post: Post) -> None:
    slow = await create_key(post, rate_limit=1)
    assert (await submit(post, slow["secret"], letter()))[0] == 250
    code, text = await submit(post, slow["secret"], letter())
    assert (code, text[:5]) == (450, "4.7.1")
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, abuse=replace(settings.abuse, sender_per_hour=2))
    key = await create_key(post)
    assert (await submit(post, key["secret"], letter()))[0] == 250
    code, text = await submit(post, key["secret"], letter())
    assert (code, text[:5]) == (450, "4.7.1")
    code, text = await submit(post, key["secret"], letter())  # the sender is suspended now
    assert (code, text[:5]) == (550, "5.7.1")
    assert len(await post.messages()) == 2


async def test_suppressed_recipients_are_removed(post: Post) -> None:
    key = await create_key(post)
    await post.api.sue.post("/suppressions", {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "address": CUSTOMER})
    code, text = await submit(post, key["secret"], letter())
    assert (code, text[:5]) == (550, "5.7.1")
    assert (await submit(post, key["secret"], letter(), to=(CUSTOMER, "wife@elsewhere.test")))[0] == 250
    (row,) = await post.messages()
    assert {each["address"]: each["status"] for each in row["recipients"]} == {
        CUSTOMER: "suppressed", "wife@elsewhere.test": "queued"
    }  # fmt: skip
    assert [each["rcpt_to"] for each in await post.api.sql("SELECT rcpt_to FROM sandbox_messages")] == [
        ["wife@elsewhere.test"]
    ]


async def test_an_idempotency_key_sends_once(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    key, other = await create_key(post), await create_key(post)
    content = letter("Idempotency-Key: order-1", "Message-ID: <a@program.test>")
    assert (await submit(post, key["secret"], content))[0] == 250
    # The same again, composed once more; another content; the same by another key.
    again = letter("Message-ID: <b@program.test>", "Idempotency-Key: order-1")
    assert (await submit(post, key["secret"], again))[0] == 250
    code, text = await submit(post, key["secret"], letter("Idempotency-Key: order-1", body="Another."))
    assert (code, text[:5]) == (550, "5.7.1")
    assert (await submit(post, key["secret"], again, to=(CUSTOMER, "wife@elsewhere.test")))[0] == 550
    assert len(await post.messages()) == 1
    assert (await submit(post, other["secret"], again))[0] == 250
    # What was not accepted may be sent again, also with another content; what may have been accepted may not.
    content = letter("Idempotency-Key: order-2")
    submit_as_before = sending.submit
    for submitted, expected in (("no", 250), ("unknown", 451)):

        async def fail(*_: object, submitted: Any = submitted) -> ConnectionLost:
            return ConnectionLost("cut", "acceptance", submitted)

        monkeypatch.setattr(sending, "submit", fail)
        assert (await submit(post, key["secret"], content))[0] == 451
        monkeypatch.setattr(sending, "submit", submit_as_before)
        assert (await submit(post, key["secret"], content))[0] == expected
        content = letter("Idempotency-Key: order-3")
    post.api.clock.advance(seconds=24 * 3600 + 1)
    assert (await submit(post, key["secret"], letter("Idempotency-Key: order-1", body="Another.")))[0] == 250
    code, _ = await submit(post, key["secret"], letter("Idempotency-Key: two words"))
    assert code == 550


async def test_two_submissions_at_once_with_one_idempotency_key(post: Post) -> None:
    key = await create_key(post)
    content = letter("Idempotency-Key: at once")
    answers = await asyncio.gather(*(submit(post, key["secret"], letter("Idempotency-Key: once")) for _ in range(4)))
    assert 250 in {code for code, _ in answers} <= {250, 451}
    assert len(await post.messages()) == 1
    assert (await submit(post, key["secret"], content))[0] == 550  # a space in the key


async def test_the_database_is_away(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    key = await create_key(post)

    def refuse(*_: object, **__: object) -> Any:
        raise Unavailable

    def talk() -> tuple[int, int]:
        with connect(post, key["secret"]) as client:
            client.mail(SHOP)
            client.rcpt(CUSTOMER)
            with monkeypatch.context() as patched:
                patched.setattr(DatabasePool, "autocommit", refuse)
                code = client.data(letter())[0]
            client.mail(SHOP)
            client.rcpt(CUSTOMER)
            return code, client.data(letter())[0]

    assert await call(talk) == (451, 250)
    assert len(await post.messages()) == 1


async def test_keys_that_open_no_session_fail_in_the_same_way(post: Post) -> None:
    revoked = await create_key(post)
    await post.api.sue.delete(f"/api-keys/{revoked['id']}")
    valid = (await create_key(post))["secret"]
    attempts = [
        ("apikey", "svc_sk_" + "x" * 43),
        ("apikey", "password"),
        ("apikey", revoked["secret"]),
        ("apikey", (await create_key(post, permissions="read"))["secret"]),
        ("apikey", (await create_key(post, allowed_networks=["203.0.113.0/24"]))["secret"]),
        ("alice@" + EXAMPLE, valid),
    ]

    def fail(user: str, secret: str) -> str:
        client = connect(post)
        try:
            with pytest.raises(smtplib.SMTPAuthenticationError) as caught:
                client.login(user, secret, initial_response_ok=False)
        finally:
            client.close()
        return str(caught.value)

    # smtplib tries both mechanisms, and each failure counts: the third attempt on a connection would end it.
    assert {await call(lambda each=each: fail(*each)) for each in attempts} == {
        str((535, b"5.7.8 Authentication failed"))
    }
    assert await post.api.sql("SELECT DISTINCT account FROM sign_in_failures") == [{"account": "apikey:127.0.0.1"}]
    assert (await submit(post, valid, letter()))[0] == 250


async def end_of(client: smtplib.SMTP) -> bytes:
    """What a session gets until the server closes it."""
    assert client.sock is not None
    connection = client.sock

    def read() -> bytes:
        text = b""
        while received := connection.recv(4096):
            text += received
        return text

    return await call(read)


@pytest.mark.parametrize("how", ["revoked", "expired", "owner disabled"])
async def test_open_sessions_end_with_their_key(post: Post, how: str) -> None:
    expires_at = post.api.clock() + timedelta(minutes=1)
    owner = (await post.api.sue.get("/auth/me")).data
    key = await create_key(post, expires_at=expires_at.isoformat().replace("+00:00", "Z"))
    staying = await create_key(post)
    idle, in_data, other = [await call(lambda each=each: connect(post, each["secret"])) for each in (key, key, staying)]

    def begin() -> None:
        in_data.mail(SHOP)
        in_data.rcpt(CUSTOMER)
        in_data.putcmd("data")
        assert in_data.getreply()[0] == 354
        in_data.send(b"From: ")

    await call(begin)
    await post.inbound.end_sessions()
    if how == "revoked":
        await post.api.sue.delete(f"/api-keys/{key['id']}")
    elif how == "expired":
        post.api.clock.advance(seconds=61)
    else:
        await post.api.sql("UPDATE admins SET active = false WHERE id = %(id)s", id=owner["id"])
    await post.inbound.end_sessions()
    assert (await end_of(idle)).startswith(b"421 4.7.0")
    assert (await end_of(in_data)).startswith(b"421 4.7.0")
    if how != "owner disabled":
        assert (await call(other.noop))[0] == 250
        await call(other.quit)
        assert await post.messages() == []
    for client in (idle, in_data, other):
        client.close()


class Line:
    """A plain SMTP connection, by hand."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.file = self.socket.makefile("rb")
        self.reply()

    def reply(self) -> bytes:
        while (line := self.file.readline())[3:4] == b"-":
            pass
        return line.rstrip()

    def send(self, data: bytes) -> bytes:
        self.socket.sendall(data)
        return self.reply()

    def start_tls(self) -> None:
        assert self.send(b"EHLO program.test\r\n").startswith(b"250")
        assert self.send(b"STARTTLS\r\n").startswith(b"220")
        self.socket = any_certificate().wrap_socket(self.socket)
        self.file = self.socket.makefile("rb")
        assert self.send(b"EHLO program.test\r\n").startswith(b"250")

    def close(self) -> None:
        self.file.close()
        self.socket.close()


async def by_hand(post: Post, work: Callable[[Line], T]) -> T:
    def talk() -> T:
        line = Line(post.port)
        try:
            return work(line)
        finally:
            line.close()

    return await call(talk)


async def test_no_password_without_tls_and_no_command_from_before_it(post: Post) -> None:
    secret = (await create_key(post))["secret"]
    plain = base64.b64encode(f"\0apikey\0{secret}".encode())

    def before_tls(line: Line) -> list[bytes]:
        offered = line.socket.sendall(b"EHLO program.test\r\n"), b""
        while not offered[1].startswith(b"250 "):
            offered = None, line.file.readline()
            assert b"AUTH" not in offered[1]
        return [line.send(b"AUTH PLAIN " + plain + b"\r\n"), line.send(b"STARTTLS now\r\n")]

    assert [reply[:3] for reply in await by_hand(post, before_tls)] == [b"538", b"501"]

    def inject(line: Line) -> tuple[bytes, bytes]:
        line.send(b"EHLO program.test\r\n")
        return line.send(b"STARTTLS\r\nMAIL FROM:<shop@example.com>\r\n"), line.file.read()

    reply, rest = await by_hand(post, inject)
    assert reply.startswith(b"554")
    assert rest == b""

    def after_tls(line: Line) -> list[bytes]:
        line.send(b"EHLO program.test\r\n")
        line.send(b"MAIL FROM:<someone@elsewhere.test>\r\n")
        assert line.send(b"STARTTLS\r\n").startswith(b"220")
        line.socket = any_certificate().wrap_socket(line.socket)
        line.file = line.socket.makefile("rb")
        replies = [line.send(b"RCPT TO:<a@b.test>\r\n"), line.send(b"AUTH PLAIN " + plain + b"\r\n")]
        return [*replies, line.send(b"EHLO program.test\r\n"), line.send(b"STARTTLS\r\n")]

    assert [reply[:3] for reply in await by_hand(post, after_tls)] == [b"503", b"503", b"250", b"503"]


async def test_a_failed_handshake_ends_the_connection(post: Post) -> None:
    def talk(line: Line) -> bytes:
        line.send(b"EHLO program.test\r\n")
        assert line.send(b"STARTTLS\r\n").startswith(b"220")
        line.socket.sendall(b"MAIL FROM:<shop@example.com>\r\n")
        try:
            return line.file.read()
        except ConnectionError:
            return b""

    assert b"250" not in await by_hand(post, talk)


async def test_the_exchange_of_auth(post: Post) -> None:
    secret = (await create_key(post))["secret"]
    name, password = base64.b64encode(b"apikey"), base64.b64encode(secret.encode())

    def talk(line: Line) -> list[bytes]:
        line.start_tls()
        replies = [
            line.send(each + b"\r\n")
            for each in (
                b"AUTH", b"AUTH CRAM-MD5", b"AUTH PLAIN !!!", b"AUTH PLAIN", b"*", b"AUTH PLAIN " + name,
                b"AUTH PLAIN " + base64.b64encode(b"root\0apikey\0" + secret.encode()),
                b"AUTH LOGIN", b"x" * 2000, b"AUTH LOGIN", name, password, b"AUTH LOGIN", b"MAIL FROM:<>",
            )
        ]  # fmt: skip
        return [reply[:3] for reply in replies]

    assert await by_hand(post, talk) == [
        b"504", b"504", b"501", b"334", b"501", b"501", b"501", b"334", b"500", b"334", b"334", b"235", b"503", b"553"
    ]  # fmt: skip

    def guess(line: Line) -> list[bytes]:
        line.start_tls()
        wrong = base64.b64encode(b"\0apikey\0" + b"svc_sk_" + b"y" * 43)
        return [*(line.send(b"AUTH PLAIN " + wrong + b"\r\n")[:3] for _ in range(3)), line.file.read()]

    assert await by_hand(post, guess) == [b"535", b"535", b"421", b""]


async def test_messages_over_a_limit(post: Post) -> None:
    key = await create_key(post)
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, limits=replace(settings.limits, message_size_mb=1))
    code, text = await submit(post, key["secret"], letter(body="x" * 70 + "\r\n" + "y\r\n" * 400_000))
    assert (code, text[:5]) == (552, "5.3.4")
    assert (await submit(post, key["secret"], letter(f"X-Long: {'x ' * 140_000}".replace(" x", "\r\n x"))))[0] in (
        552,
        554,
    )
    code, _ = await submit(post, key["secret"], letter(), to=("not an address",))
    assert code in (501, 553)
    assert await post.messages() == []
