"""Dovecot's reports of logins: as its client sends them, and what else may come."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.dovecot.auth import LoginReport, MalformedAuthRequest, parse_head, parse_report, serve_reports

BODY = (
    b'{"home":"/mail/01a1ff88-06cb-700a-b704-740430818f21","protocol":"imap","remote":"192.0.2.1","success":true,'
    b'"policy_reject":false,"tls":true}'
)
REPORT = LoginReport(True, "/mail/01a1ff88-06cb-700a-b704-740430818f21", "192.0.2.1", "imap")


def request(body: bytes = BODY, token: str = "secret", fields: Mapping[str, str] | None = None) -> bytes:
    """A report as Dovecot posts it."""
    given = {"Host": "127.0.0.1:4711", "X-Token": token, "Content-Length": str(len(body))}
    given |= fields or {}
    lines = ["POST /logins?command=report HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Told:
    """A server, and what it was told."""

    def __init__(self) -> None:
        self.reports: list[LoginReport] = []
        self.address = ("127.0.0.1", 0)

    async def answers(self, content: bytes) -> bytes:
        """All answers to this, until the server closes or we do."""
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(content)
        writer.write_eof()
        async with asyncio.timeout(60):
            found = await reader.read()
        writer.close()
        return found


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    found = Told()
    listening = socket.create_server(found.address)
    found.address = listening.getsockname()
    async with await serve_reports(listening, "secret", found.reports.append):
        yield found


async def test_reports_on_one_connection(told: Told) -> None:
    answers = await told.answers(request() + request(b'{"success":false}'))
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert answers.endswith(b'\r\n\r\n{"status":0}')
    assert told.reports == [REPORT, LoginReport(False)]


async def test_nothing_is_heard_without_the_token(told: Told) -> None:
    for token in ("", "secre", "sécret"):
        assert b" 403 " in await told.answers(request(token=token))
    assert told.reports == []


@pytest.mark.parametrize(
    "content",
    [
        b"GET /logins HTTP/1.1\r\nX-Token: secret\r\n\r\n",
        request(fields={"Content-Length": "-1"}),
        request(fields={"Content-Length": "99999"}),
        request(fields={"Transfer-Encoding": "chunked"}),
        request(b"[]"),
        request(b'{"success":"yes"}'),
        request(b"{" * 4000),
        b"x" * 20_000,
    ],
)
async def test_what_is_no_report_is_refused_and_others_go_on(told: Told, content: bytes) -> None:
    assert b" 400 " in await told.answers(content)
    assert await told.answers(request())
    assert told.reports == [REPORT]


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_a_report_or_malformed(content: bytes) -> None:
    for parse in (parse_head, parse_report):
        try:
            parse(content)
        except MalformedAuthRequest:
            continue
