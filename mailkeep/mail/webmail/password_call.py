"""The requests with which Roundcube changes a password: the only ones that reach the API from PHP's network."""

from __future__ import annotations

import re

MAX_HEAD = 8192
MAX_BODY = 8192
FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_REQUEST = re.compile(r"POST (/api/v1/me/(?:login|password|logout)) HTTP/1\.[01]", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,4}", re.ASCII)
_COOKIE = re.compile(r"[\x21-\x7e ]{1,4096}", re.ASCII)


class ForbiddenRequest(ValueError):
    """The request must not reach the API."""


def rewrite_head(head: bytes, client: str) -> tuple[bytes, int]:
    """The head of a request for the API, and the length of its body. Of the fields only the cookie is kept; the
    connection ends after the answer. Raises ForbiddenRequest.
    """
    request, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    match = _REQUEST.fullmatch(request)
    if match is None:
        raise ForbiddenRequest("the path is none of those that change a password")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = fields.get("content-length", "0")
    if "transfer-encoding" in fields or not _LENGTH.fullmatch(length) or int(length) > MAX_BODY:
        raise ForbiddenRequest("the length of the body is not known, or it is too long")
    result = [f"POST {match[1]} HTTP/1.1", "Host: localhost", f"X-Forwarded-For: {client}", "X-Forwarded-Proto: https"]
    result += ["Content-Type: application/json", f"Content-Length: {length}", "Connection: close"]
    if cookie := fields.get("cookie"):
        if not _COOKIE.fullmatch(cookie):
            raise ForbiddenRequest("the cookie has invalid characters")
        result.append(f"Cookie: {cookie}")
    return "\r\n".join([*result, "", ""]).encode("latin-1"), int(length)
