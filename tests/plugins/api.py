"""`api`: the application in this process, on a fresh database with the test users of `tests.support.client`."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from mailkeep import features
from mailkeep.app import App
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import Urls
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.operations.health import service as health
from mailkeep.features.record.audit import service as audit
from mailkeep.mail.message import parse_process
from mailkeep.settings import Settings
from mailkeep.settings.tree import LimitsSettings, SmtpSettings
from mailkeep.web.endpoint import Endpoint
from mailkeep.web.pipeline import AccessControl, Pipeline
from mailkeep.web.router import Router
from tests.support.client import VAULT, Api, ManualClock, insert_test_users

# The test clock stands still, so a limit per second would never refill.
NO_RATE_LIMITS = Settings(
    limits=LimitsSettings(login_per_second=0, requests_per_second=0), smtp=SmtpSettings(listen="127.0.0.1:0")
)


ACCESS_CONTROL = AccessControl(sessions.authenticate, logins.verify_own_password, audit.record_refusal)


def all_endpoints() -> list[Endpoint]:
    """The endpoints of all features."""
    endpoints: list[Endpoint] = []
    for group in pkgutil.iter_modules(features.__path__):
        folder = Path(features.__path__[0], group.name)
        for feature in pkgutil.iter_modules([str(folder)]):
            if (folder / feature.name / "routes.py").is_file():
                routes = importlib.import_module(f"mailkeep.features.{group.name}.{feature.name}.routes")
                endpoints += (*routes.ENDPOINTS, *getattr(routes, "OWN_MAILBOX_ENDPOINTS", ()))
    return endpoints


@pytest.fixture(scope="session")
def users_template(make_database: Callable[[str], Urls], template: str) -> str:
    """The name of a template database with the test users. Do not keep connections to it open."""
    urls = make_database(template)

    async def fill() -> None:
        conn = await psycopg.AsyncConnection.connect(urls.app)
        async with conn:
            await insert_test_users(conn)

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(fill())
    finally:
        loop.close()
    return str(conninfo_to_dict(urls.app)["dbname"])


@pytest.fixture
def api_settings() -> Settings:
    """The settings of `api`; override this fixture in a module that needs others."""
    return NO_RATE_LIMITS


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long time limits for the health checks and the parser, so that pauses of the machine do not count."""
    monkeypatch.setattr(health, "_CHECK_SECONDS", 30.0)
    limits = partial(parse_process.ParseLimits, cpu_seconds=30, seconds=60.0, wait_seconds=60.0)
    monkeypatch.setattr(parse_process, "ParseLimits", limits)


@pytest.fixture
async def api(
    make_database: Callable[[str], Urls],
    drop_database: Callable[[Urls], None],
    users_template: str,
    api_settings: Settings,
    tmp_path: Path,
) -> AsyncIterator[Api]:
    """The application with test users and clock; `tmp_path` is its data directory."""
    urls = make_database(users_template)
    async with running_on(urls, api_settings, tmp_path) as running:
        yield running
    drop_database(urls)


@pytest.fixture(scope="module")
async def shared_api(
    make_database: Callable[[str], Urls],
    drop_database: Callable[[Urls], None],
    users_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Api]:
    """One application for a module, for tests that change nothing."""
    urls = make_database(users_template)
    async with running_on(urls, NO_RATE_LIMITS, tmp_path_factory.mktemp("data")) as running:
        yield running
    drop_database(urls)


@asynccontextmanager
async def running_on(urls: Urls, settings: Settings, data_dir: Path) -> AsyncIterator[Api]:
    """The application on a database, with a clock that the test advances."""
    db = DatabasePool(urls.app, min_size=1, max_size=10, timeout=30)
    await db.open()
    clock = ManualClock()
    app = App(settings, data_dir, clock, VAULT, db)
    app.audit_db = DatabasePool(urls.audit, min_size=0, max_size=2, timeout=30)
    await app.audit_db.open()
    pipeline = Pipeline(app, Router(all_endpoints()), ACCESS_CONTROL)
    try:
        yield Api(app, pipeline, clock)
    finally:
        await pipeline.close()
        await app.renderer.close()
        await app.parser.close()
        await app.relay_pools.close()
        await app.outbound.close()
        await app.audit_db.close()
        await db.close()
