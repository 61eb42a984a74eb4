"""The OpenAPI document of all endpoints, made when a test first needs it: each process of a run imports all modules."""

from __future__ import annotations

from functools import cache
from typing import Any

from mailkeep.run.runtime.router import ENDPOINTS
from mailkeep.web.openapi import document


@cache
def openapi_document() -> dict[str, Any]:
    return document(ENDPOINTS)
