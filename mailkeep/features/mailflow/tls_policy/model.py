"""A policy of another domain, as it is stored, and what DNS says about DANE."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mailkeep.net.mta_sts import MtaStsPolicy

DaneCoverage = Literal["none", "some", "all"]
"""How many of a domain's servers have TLSA records that count."""


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    """A fetched policy. `policy_id` is that of the record; `used_at`: when it was needed, by the day."""

    domain: str
    policy_id: str
    policy: MtaStsPolicy
    fetched_at: datetime
    used_at: datetime
