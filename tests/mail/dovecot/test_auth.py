"""Dovecot's questions and login reports: valid requests and others."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.dovecot.auth import (
    REFUSE,
    LoginQuestion,
    LoginReport,
    MalformedAuthRequest,
    parse_body,
    parse_head,
    serve_auth_policy,
)

BODY = (
    b'{"home":"/mail/01a1ff88-06cb-700a-b704-740430818f21","protocol":"imap","remote":"192.0.2.1","success":true,'
    b'"policy_reject":false,"tls":true}'
)
REPORT = LoginReport(True, "/mail/01a1ff88-06cb-700a-b704-740430818f21", "192.0.2.1", "imap")


def request(
    body: bytes = BODY, token: str = "secret", fields: Mapping[str, str] | None = None, command: str = "report"
) -> bytes:
    """A report or question as Dovecot posts it."""
    headers = {"Host": "127.0.0.1:4711", "X-Token": token, "Content-Length": str(len(body))}
    headers |= fields or {}
    lines = [f"POST /logins?command={command} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


class PolicyServer:
    """A server, with the questions and reports that it received; it refuses all logins."""

    def __init__(self) -> None:
        self.reports: list[LoginReport] = []
        self.questions: list[LoginQuestion] = []
        self.address = ("127.0.0.1", 0)

    async def record(self, report: LoginReport) -> None:
        self.reports.append(report)

    async def decide(self, question: LoginQuestion) -> int:
        self.questions.append(question)
        return REFUSE

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
async def server() -> AsyncIterator[PolicyServer]:
    policy_server = PolicyServer()
    listening = socket.create_server(policy_server.address)
    policy_server.address = listening.getsockname()
    async with await serve_auth_policy(listening, "secret", policy_server.decide, policy_server.record):
        yield policy_server


async def test_reports_on_one_connection(server: PolicyServer) -> None:
    responses = await server.send(request() + request(b'{"success":false}'))
    assert responses.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert responses.endswith(b'\r\n\r\n{"status":0}')
    assert server.reports == [REPORT, LoginReport(False)]


async def test_a_question_is_answered(server: PolicyServer) -> None:
    body = b'{"login":"Alice@example.org","remote":"192.0.2.1","protocol":"imap","pwhash":"a1f","digest":""}'
    response = await server.send(request(body, command="allow") + request(b'{"login":"bob"}', command="allow"))
    assert response.count(b'Content-Length: 13\r\nConnection: keep-alive\r\n\r\n{"status":-1}') == 2
    assert server.questions == [LoginQuestion("Alice@example.org", "192.0.2.1", "imap", "a1f"), LoginQuestion("bob")]
    assert b" 400 " in await server.send(request(b"{}", command="allow"))
    assert server.reports == []


async def test_reports_without_the_token_are_ignored(server: PolicyServer) -> None:
    for token in ("", "secre", "sécret"):
        assert b" 403 " in await server.send(request(token=token))
    assert server.reports == []


@pytest.mark.parametrize(
    "content",
    [
        request(command="other"),
        b"GET /logins?command=report HTTP/1.1\r\nX-Token: secret\r\n\r\n",
        request(fields={"Content-Length": "-1"}),
        request(fields={"Content-Length": "99999"}),
        request(fields={"Transfer-Encoding": "chunked"}),
        request(b"[]"),
        request(b'{"success":"yes"}'),
        request(b"{" * 4000),
        b"x" * 20_000,
    ],
)
async def test_an_invalid_report_is_rejected_and_others_are_accepted(server: PolicyServer, content: bytes) -> None:
    assert b" 400 " in await server.send(content)
    assert await server.send(request())
    assert server.reports == [REPORT]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_malformed(content: bytes) -> None:
    for parse in (parse_head, lambda body: parse_body(body, LoginReport), lambda body: parse_body(body, LoginQuestion)):
        try:
            parse(content)
        except MalformedAuthRequest:
            continue
