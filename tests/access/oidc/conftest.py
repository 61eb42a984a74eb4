"""`provider`: an identity provider of the test's own; `api` knows it, and a second one."""

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
    """One that nobody else is given: a provider that is stopped comes back to it."""
    return free_port()


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    running = Provider(port=own_port())
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def other() -> AsyncIterator[Provider]:
    """Another provider, as honest as the first."""
    running = Provider("other")
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
def options() -> dict[str, Any]:
    """What a module, or a test by parametrization, sets for the provider."""
    return {}


@pytest.fixture
def api_settings(provider: Provider, other: Provider, options: dict[str, Any]) -> Settings:
    return settings_of(provider.settings(**options), other.settings())


@pytest.fixture
def visitor(api: Api, provider: Provider, other: Provider) -> Visitor:
    """Nobody's browser; the providers' clocks are the application's."""
    provider.now = other.now = lambda: api.clock().timestamp()
    return Visitor(api, api.nobody)
