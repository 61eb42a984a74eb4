"""Cookies of a request."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import cookie_parser


def read_cookies(headers: Headers) -> dict[str, str]:
    """The cookies by name. The values of a name that occurs more than once are joined by `;`, which no value contains:
    such a cookie is never valid. A site below the server's domain could have set one of them.
    """
    cookies: dict[str, str] = {}
    for field in headers.getlist("cookie"):
        for part in field.split(";"):
            for name, value in cookie_parser(part).items():
                cookies[name] = f"{cookies[name]};{value}" if name in cookies else value
    return cookies
