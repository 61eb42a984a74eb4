"""The section of the limits against abuse."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.settings.declaration import setting as _setting


@dataclass(frozen=True, slots=True, kw_only=True)
class AbuseSettings:
    """Limits of recipients per rolling hour, and of bounces and complaints in percent. Domains and mailboxes may have
    limits of their own, except the minimum.
    """

    sender_per_hour: int = _setting(1000, "Per sender address, which is suspended beyond it.", low=1, high=10**9)
    domain_per_hour: int = _setting(10_000, "Per domain; further recipients are refused.", low=1, high=10**9)
    forward_per_hour: int = _setting(
        10_000,
        "External recipients to which aliases, forwards and Sieve redirects of one domain forward "
        "mail; further ones are deferred.",
        low=1,
        high=10**9,
    )
    bounce_warn: float = _setting(
        4.0,
        "Percentage of a sender's recipients that do not exist (lower bound of the 95 % interval; last hour, 24 hours "
        "or 7 days) from which an alert is opened; 100: never.",
        low=0.1,
        high=100,
    )
    bounce_act: float = _setting(8.0, "The same, from which the sender is suspended; 100: never.", low=0.1, high=100)
    bounce_minimum: int = _setting(
        200, "Recipients with an outcome below which a sender's bounces are not judged.", low=20, high=10**9
    )
    complaint_warn: float = _setting(
        0.08, "Percentage of deliveries reported as spam from which an alert is opened; 100: never.", low=0.01, high=100
    )
    complaint_act: float = _setting(
        0.3,
        "The same, from which the alert is critical and, if `bounce_warn` is reached as well, the sender is suspended; "
        "100: never.",
        low=0.01,
        high=100,
    )
    complaint_minimum: int = _setting(
        1000, "Deliveries below which a sender's complaints are not judged.", low=20, high=10**9
    )
