"""Pagination over HTTP: the parameters `limit`, `sort`, `order` and `cursor`, and `meta.pagination`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from mailkeep.core.errors import InvalidPagination
from mailkeep.core.page import Order, Page, PageRequest, open_cursor, parse_limit, seal_cursor
from mailkeep.core.secret import Vault
from mailkeep.web.endpoint import Call, Listing

PARAMETERS = ("cursor", "limit", "sort", "order")


def split_paging_parameters(pairs: Sequence[tuple[str, str]]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The pagination parameters, and the other parameters (filters)."""
    paging: dict[str, str] = {}
    rest: list[tuple[str, str]] = []
    for name, value in pairs:
        if name not in PARAMETERS:
            rest.append((name, value))
        elif name in paging:
            raise InvalidPagination(f"{name} must not occur more than once.", field=name)
        else:
            paging[name] = value
    return paging, rest


def parse_page_request(call: Call, listing: Listing, vault: Vault, now: datetime) -> PageRequest:
    """The requested page; its filters are already decoded in `call.query`."""
    paging, _ = split_paging_parameters(call.query_pairs)
    sort = paging.get("sort", listing.sorts[0])
    if sort not in listing.sorts:
        raise InvalidPagination(f"sort must be one of {', '.join(listing.sorts)} (got {sort[:100]}).", field="sort")
    order = _order(paging.get("order", "desc" if sort.endswith("_at") else "asc"))
    page = PageRequest(parse_limit(paging.get("limit")), sort, order, None)
    cursor = paging.get("cursor")
    if not cursor:
        return page
    key = open_cursor(vault, cursor, _cursor_scope(call, page), now)
    return PageRequest(page.limit, sort, order, key)


def _order(text: str) -> Order:
    if text == "asc":
        return "asc"
    if text == "desc":
        return "desc"
    raise InvalidPagination(f"order must be asc or desc (got {text[:100]}).", field="order")


def pagination(call: Call, page: Page[Any], vault: Vault, now: datetime) -> dict[str, Any]:
    """`meta.pagination` for a page."""
    if page.next_key is None or call.page is None:
        return {"next_cursor": "", "has_more": False}
    return {"next_cursor": seal_cursor(vault, page.next_key, _cursor_scope(call, call.page), now), "has_more": True}


def _cursor_scope(call: Call, page: PageRequest) -> bytes:
    """A hash of what a cursor is valid for: caller, list (path with ids), filters, sort and order; not the limit."""
    who = call.who
    filters = msgspec.json.encode(call.query, order="deterministic") if call.query is not None else b""
    parts = [
        call.endpoint.path,
        *(f"{name}={value}" for name, value in sorted(call.path.items())),
        str(who.admin_id if who else None),
        str(who.id if who else None),
        page.sort,
        page.order,
    ]
    return hashlib.sha256("\n".join(parts).encode() + b"\n" + filters).digest()
