"""The periods of the list of messages."""

from __future__ import annotations

from datetime import timedelta

DEFAULT_PERIOD, LONGEST_PERIOD = timedelta(days=7), timedelta(days=30)
"""Of which the list of messages shows mail."""
