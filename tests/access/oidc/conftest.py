"""`provider`: an identity provider for a test; `api` is configured with it and a second one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import pytest

from mailkeep.settings import Settings
from tests.access.oidc.provider import Provider, Visitor, settings_of
from tests.support.client import Api
from tests.support.ports import free_port


@cache
def own_port() -> int:
    """A port that is not reused, so that a stopped provider can restart on it."""
    return free_port()


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    running = Provider(port=own_port())
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def other() -> AsyncIterator[Provider]:
    """A second provider."""
    running = Provider("other")
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
def options() -> dict[str, Any]:
    """Settings of the provider; a module or a parametrized test overrides them."""
    return {}


@pytest.fixture
def api_settings(provider: Provider, other: Provider, options: dict[str, Any]) -> Settings:
    return settings_of(provider.settings(**options), other.settings())


@pytest.fixture
def visitor(api: Api, provider: Provider, other: Provider) -> Visitor:
    """A browser without a session; the providers use the application's clock."""
    provider.now = other.now = lambda: api.clock().timestamp()
    return Visitor(api, api.nobody)
