"""Dovecot's login reports: valid requests and others."""

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
    headers = {"Host": "127.0.0.1:4711", "X-Token": token, "Content-Length": str(len(body))}
    headers |= fields or {}
    lines = ["POST /logins?command=report HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


class ReportServer:
    """A server and the reports that it received."""

    def __init__(self) -> None:
        self.reports: list[LoginReport] = []
        self.address = ("127.0.0.1", 0)

    async def send(self, content: bytes) -> bytes:
        """Send this and return all responses."""
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(content)
        writer.write_eof()
        async with asyncio.timeout(60):
            responses = await reader.read()
        writer.close()
        return responses


@pytest.fixture
async def server() -> AsyncIterator[ReportServer]:
    report_server = ReportServer()
    listening = socket.create_server(report_server.address)
    report_server.address = listening.getsockname()
    async with await serve_reports(listening, "secret", report_server.reports.append):
        yield report_server


async def test_reports_on_one_connection(server: ReportServer) -> None:
    responses = await server.send(request() + request(b'{"success":false}'))
    assert responses.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert responses.endswith(b'\r\n\r\n{"status":0}')
    assert server.reports == [REPORT, LoginReport(False)]


async def test_reports_without_the_token_are_ignored(server: ReportServer) -> None:
    for token in ("", "secre", "sécret"):
        assert b" 403 " in await server.send(request(token=token))
    assert server.reports == []


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
async def test_an_invalid_report_is_rejected_and_others_are_accepted(server: ReportServer, content: bytes) -> None:
    assert b" 400 " in await server.send(content)
    assert await server.send(request())
    assert server.reports == [REPORT]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_malformed(content: bytes) -> None:
    for parse in (parse_head, parse_report):
        try:
            parse(content)
        except MalformedAuthRequest:
            continue
