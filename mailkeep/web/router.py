"""Finds the endpoint for a method and path in a tree of path segments; exact segments come before `{name}`.

`{name}` matches one or more printable characters: a path with a NUL is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from mailkeep.core.errors import MethodNotAllowed, NotFound
from mailkeep.web.endpoint import PREFIX, Endpoint


@dataclass(slots=True)
class _Node:
    exact: dict[str, _Node] = field(default_factory=dict["str", "_Node"])
    any_case: dict[str, _Node] = field(default_factory=dict["str", "_Node"])  # by the segment in lower case
    any: _Node | None = None  # for `{name}`
    name: str = ""  # the parameter's name, if the segment is one
    methods: dict[str, Endpoint] = field(default_factory=dict[str, Endpoint])


class Router:
    """The endpoints of one listener. Raises ValueError for two with the same method and path.

    `not_found` are the pages that a browser gets for unknown paths outside the API, by the start of the path; the first
    that matches.
    """

    def __init__(
        self, endpoints: Iterable[Endpoint], prefix: str = PREFIX, not_found: Mapping[str, Endpoint] | None = None
    ) -> None:
        self.endpoints = tuple(endpoints)
        self._not_found = not_found or {}
        self._root = _Node()
        for endpoint in self.endpoints:
            if endpoint.prefixed:
                self._add(prefix + endpoint.path, endpoint)
            if endpoint.bare and (prefix or not endpoint.prefixed):
                self._add(endpoint.path, endpoint)

    def _add(self, path: str, endpoint: Endpoint) -> None:
        node = self._root
        for segment in path.strip("/").split("/"):
            if segment.startswith("{"):
                name = segment[1:-1]
                node.any = node.any or _Node(name=name)
                if node.any.name != name:
                    raise ValueError(f"{path}: another path names {{{name}}} {{{node.any.name}}}")
                node = node.any
            elif endpoint.any_case:
                node = node.any_case.setdefault(segment.lower(), _Node())
            else:
                node = node.exact.setdefault(segment, _Node())
        if endpoint.method in node.methods:
            raise ValueError(f"two endpoints for {endpoint.method} {path}")
        node.methods[endpoint.method] = endpoint

    def page_for_unknown(self, method: str, path: str, accept: str) -> Endpoint | None:
        """The page for an unknown path, if a browser asks for one: GET, not below `/api`, and HTML is accepted."""
        is_api = path == "/api" or path.startswith("/api/")
        if method not in ("GET", "HEAD") or is_api or not _accepts_html(accept):
            return None
        return next((page for start, page in self._not_found.items() if path.startswith(start)), None)

    def match(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
        """The endpoint and the path's parameters; NOT_FOUND, or METHOD_NOT_ALLOWED with `details.allow`.

        `path` is that of the request line: an encoded slash is part of its segment (RFC 3986 §2.2).
        """
        parameters: dict[str, str] = {}
        node: _Node | None = self._root
        for encoded in path[1:].split("/"):
            segment = unquote(encoded)
            if node is None:
                break
            child = node.exact.get(segment) or node.any_case.get(segment.lower())
            if child is None and node.any is not None and segment.isprintable() and segment:
                child = node.any
                parameters[child.name] = segment
            node = child
        if node is None or not node.methods:
            raise NotFound("No such path.")
        endpoint = node.methods.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise MethodNotAllowed(allow=sorted({*node.methods, "HEAD"} if "GET" in node.methods else node.methods))
        return endpoint, parameters


def _accepts_html(accept: str) -> bool:
    """Whether HTML is accepted, with a weight other than 0 (RFC 9110 §12.5.1)."""
    for each in accept.split(","):
        media_type, *options = (part.strip().lower() for part in each.split(";"))
        if media_type == "text/html":
            return not any(re.fullmatch(r"q=0(\.0{0,3})?", option) for option in options)
    return False
