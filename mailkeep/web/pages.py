"""Endpoints of the pages and files that we bring along: open to everybody, without envelope or documentation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


def page_endpoint(
    path: str,
    handler: Callable[[Any, Call], Awaitable[HttpResponse]],
    kind: str,
    summary: str,
    *,
    is_page: bool = False,
) -> Endpoint:
    """GET of one file of media type `kind`; a page is shown whatever stands in its query."""
    return Endpoint(
        method="GET",
        path=path,
        handler=handler,
        action=None,
        summary=summary,
        tag="Documentation",
        data=str,
        content=kind,
        bare=True,
        prefixed=False,
        documented=False,
        any_query=is_page,
        examples=(Example(),),
    )
