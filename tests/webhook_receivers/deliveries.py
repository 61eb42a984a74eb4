"""Deliveries for receivers to judge: genuine ones, and those that are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailkeep.features.mailflow.webhooks.signature import headers, new_secret

EVENT = UUID("0197f1a0-0000-7000-8000-000000000001")
BODY = (
    f'{{"id":"{EVENT}","event":"mail.sent","event_id":"{EVENT}","timestamp":"2026-03-01T12:00:00.123Z",'
    '"data":{"subject":"Grüße ✉ \\u2028"}}'
).encode()


@dataclass(frozen=True)
class Given:
    """A delivery, and the secret that its receiver has."""

    name: str
    genuine: bool
    secret: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = BODY


def signed(*secrets: str, body: bytes = BODY, at: datetime | None = None) -> dict[str, str]:
    """Headers by lower-case name."""
    made = headers(body, EVENT, "mail.sent", at or datetime.now(UTC), secrets)
    return {name.lower(): value for name, value in made.items()}


def deliveries() -> list[Given]:
    """Made when they are asked for: they are genuine for five minutes, and judged within two of them (Go compiles)."""
    old, new, other = (new_secret() for _ in range(3))
    now = datetime.now(UTC)
    good = signed(new)
    stamp, signature = int(good["webhook-timestamp"]), good["webhook-signature"]
    return [
        Given("one secret", True, new, good),
        Given("the new of two", True, new, signed(new, old)),
        Given("the old of two", True, old, signed(new, old)),
        Given("some minutes old", True, new, signed(new, at=now - timedelta(minutes=3))),
        Given("another version beside", True, new, good | {"webhook-signature": f"v1a,AAAA {signature}"}),
        Given("a secret that is no more", False, other, signed(new, old)),
        Given("another body", False, new, good, BODY + b" "),
        Given("another id", False, new, good | {"webhook-id": str(UUID(int=1))}),
        Given("another time", False, new, good | {"webhook-timestamp": str(stamp - 1)}),
        Given("no time", False, new, good | {"webhook-timestamp": "now"}),
        Given("a signature cut off", False, new, good | {"webhook-signature": signature[:-8]}),
        Given("no signature", False, new, good | {"webhook-signature": ""}),
        Given("no base64", False, new, good | {"webhook-signature": "v1,%%%%"}),
        Given("no version", False, new, good | {"webhook-signature": signature[3:]}),
        Given("another version only", False, new, good | {"webhook-signature": "v2" + signature[2:]}),
        Given("replayed after five minutes", False, new, signed(new, at=now - timedelta(minutes=5, seconds=30))),
        Given("from the future", False, new, signed(new, at=now + timedelta(minutes=8))),
    ]


def bare(secret: str) -> Given:
    """Without any of the headers."""
    return Given("no headers", False, secret)
