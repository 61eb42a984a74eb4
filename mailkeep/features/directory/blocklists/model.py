"""What a blocklist says."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

BlocklistStatus = Literal["not_listed", "listed", "unavailable"]


class BlocklistResult(Struct, frozen=True):
    """What a blocklist says about an address. `reason`: the list's own text."""

    zone: str
    address: str
    status: BlocklistStatus
    reason: str | None = None
    problem: str | None = None
    advice: str | None = None
    removal_url: str | None = None
