"""Of the webmail's requests only those that change a password reach the API, with the fields that we write."""

from __future__ import annotations

import pytest

from mailkeep.mail.webmail.password_call import ForbiddenRequest, rewrite_head

CLIENT = "203.0.113.9"


def head(request: str = "POST /api/v1/me/password HTTP/1.1", *fields: str) -> bytes:
    return "\r\n".join([request, *fields, "", ""]).encode()


def test_head_for_the_api() -> None:
    fields = ("X-Forwarded-For: 198.51.100.1", "Host: x", "Connection: keep-alive", "Cookie: a=b", "Content-Length: 7")
    written = (
        b"POST /api/v1/me/password HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.9\r\n"
        b"X-Forwarded-Proto: https\r\nContent-Type: application/json\r\nContent-Length: 7\r\nConnection: close\r\n"
        b"Cookie: a=b\r\n\r\n"
    )
    assert rewrite_head(head("POST /api/v1/me/password HTTP/1.0", *fields), CLIENT) == (written, 7)


@pytest.mark.parametrize(
    "wrong",
    [
        head("GET /api/v1/me HTTP/1.1"),
        head("POST /api/v1/auth/login HTTP/1.1"),
        head("POST /api/v1/me/login/../forward HTTP/1.1"),
        head("POST /api/v1/me/login?x HTTP/1.1"),
        head("POST http://x/api/v1/me/login HTTP/1.1"),
        head("POST /api/v1/me/login HTTP/1.1\nGET /x HTTP/1.1"),
        head("POST /api/v1/me/login HTTP/2"),
        head("POST /api/v1/me/login HTTP/1.1", "Transfer-Encoding: chunked"),
        head("POST /api/v1/me/login HTTP/1.1", "Content-Length: 9999"),
        head("POST /api/v1/me/login HTTP/1.1", "Content-Length: -1"),
        head("POST /api/v1/me/login HTTP/1.1", "Content-Length: \u0661"),
        head("POST /api/v1/me/login HTTP/1.1", "Cookie: a=b\nX-Forwarded-For: 127.0.0.1"),
    ],
)
def test_requests_that_are_refused(wrong: bytes) -> None:
    with pytest.raises(ForbiddenRequest):
        rewrite_head(wrong, CLIENT)
