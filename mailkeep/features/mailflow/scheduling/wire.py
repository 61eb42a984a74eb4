"""JSON of changing scheduled messages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from mailkeep.web.fields import Body


class ScheduleBody(Body, frozen=True):
    """The new time of a scheduled message."""

    scheduled_at: Annotated[
        datetime, Meta(description="With a UTC offset, at most 30 days ahead. Up to 60 seconds in the past means now.")
    ]
