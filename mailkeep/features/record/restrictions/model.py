"""Kinds of restrictions."""

from __future__ import annotations

from typing import Literal

RestrictionKind = Literal[
    "sign_in",
    "app_password",
    "new_app_passwords",
    "forwards",
    "sieve",
    "key",
    "account",
    "suspension",
    "scheduled_message",
    "queued_message",
]
