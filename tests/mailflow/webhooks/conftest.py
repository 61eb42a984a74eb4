"""`hooks`: the application, a sink for its webhooks, and a worker that delivers on request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.mailflow.webhooks import service
from mailkeep.features.mailflow.webhooks.jobs import DeliveryWorker
from mailkeep.features.record.events import service as events
from mailkeep.settings import Settings
from tests.plugins.api import NO_RATE_LIMITS
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api
from tests.support.events import sample_event
from tests.support.webhook_sink import Sink, run_sink, trusted_settings


@dataclass
class Hooks:
    api: Api
    sink: Sink
    worker: DeliveryWorker

    async def webhook(self, path: str = "/200", events: tuple[str, ...] = ("*",), **more: Any) -> dict[str, Any]:
        """Create a webhook as Sue at a path of the sink, global unless a domain is given."""
        kind = more.pop("kind", "good")
        url = more.pop("url", None) or self.sink.url(path, kind)
        answer = await self.api.sue.post("/webhooks", {"url": url, "events": list(events), **more})
        assert answer.status == 201, answer.body
        return answer.data

    async def emit(self, kind: str = "mail.sent", domain: str | None = EXAMPLE, **data: Any) -> None:
        """Emit an event."""
        domain_id = DOMAIN_IDS[domain] if domain else None
        async with self.api.app.db.tx() as conn:
            await events.emit(conn, self.api.clock(), sample_event(kind, domain_id, None, data))

    async def deliver(self, seconds: float = 0) -> int:
        """Deliver what is due after `seconds`; returns the number of attempts."""
        self.api.clock.advance(seconds=seconds)
        return await self.worker.drain()

    async def deliveries(self, webhook: dict[str, Any] | UUID | str, **query: Any) -> list[dict[str, Any]]:
        """The deliveries of a webhook in the API, newest first."""
        webhook_id = webhook["id"] if isinstance(webhook, dict) else webhook
        answer = await self.api.sue.get(f"/webhooks/{webhook_id}/deliveries", **query)
        assert answer.status == 200, answer.body
        return answer.data

    async def delivery(self, webhook: dict[str, Any]) -> dict[str, Any]:
        """The only delivery of a webhook."""
        [found] = await self.deliveries(webhook)
        return found


@pytest.fixture
def api_settings(tmp_path: Path) -> Settings:
    return replace(NO_RATE_LIMITS, webhooks=trusted_settings(tmp_path))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long time limit for attempts, so that one that waits at a gate does not time out on a slow machine."""
    monkeypatch.setattr(service, "TIMEOUT_SECONDS", 90.0)


@pytest.fixture
async def hooks(api: Api) -> AsyncIterator[Hooks]:
    async with run_sink("wrong", "expired", "self-signed") as receiver:
        yield Hooks(api, receiver, DeliveryWorker(api.app))
