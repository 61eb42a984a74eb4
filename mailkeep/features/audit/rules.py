"""What an entry may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SECRET_WORDS = ("password", "secret", "token", "private_key", "raw_key")


def without_secrets(details: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The details with the value of every field that is named like a secret struck out, at any depth."""
    if details is None:
        return None
    return {name: _struck(name, value) for name, value in details.items()}


def _struck(name: str, value: Any) -> Any:
    if any(word in name.lower() for word in _SECRET_WORDS):
        return "(secret)"
    return without_secrets(value) if isinstance(value, Mapping) else value  # pyright: ignore[reportUnknownArgumentType]


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields that differ, as they were and as they are (`updated_at` aside)."""
    names = [name for name in after if name != "updated_at" and before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}
