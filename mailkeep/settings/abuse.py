"""The section of the limits against abuse."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.settings.declaration import setting as _setting


@dataclass(frozen=True, slots=True, kw_only=True)
class AbuseSettings:
    """Limits of recipients per rolling hour. Domains and mailboxes may have limits of their own."""

    sender_per_hour: int = _setting(1000, "Per sender address, which is suspended beyond it.", low=1, high=10**9)
    domain_per_hour: int = _setting(10_000, "Per domain; further recipients are refused.", low=1, high=10**9)
    forward_per_hour: int = _setting(
        10_000,
        "External recipients to which aliases, forwards and Sieve redirects of one domain forward "
        "mail; further ones are deferred.",
        low=1,
        high=10**9,
    )
