"""The section for alerts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import QUIET_HOURS, TIME_OF_DAY, TIME_ZONE


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertsSettings:
    """Mail about alerts; docs/howto/alerts.md."""

    email: Literal["off", "critical", "all"] = _setting(
        "all",
        "Which alerts are mailed: to super_admins, those about abuse in a domain also to its domain_admins.",
    )
    digest: str = _setting(
        "",
        "The time of a daily mail with all alerts that are not critical, and those that have ended. It is sent at that "
        "time also in quiet hours. Empty: each is mailed at once.",
        TIME_OF_DAY,
    )
    quiet_hours: str = _setting(
        "",
        "When nothing is mailed but critical alerts, which are always mailed at once. At the end one mail has the "
        "others that still matter. Empty: none.",
        QUIET_HOURS,
    )
    time_zone: str = _setting("UTC", "The time zone of `digest` and `quiet_hours`.", TIME_ZONE)
