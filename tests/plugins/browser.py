"""`browser`: Debian's headless chromium, one per test process; `page`: a page in its own browser context.

Playwright's asynchronous interface runs on the event loop that all tests share. (The synchronous one keeps another loop
running in this thread, which pytest-asyncio refuses.) Nothing is downloaded; without chromium the tests are skipped.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

TIMEOUT_MS = 30_000
# The headless shell is the same engine without a user interface and needs a third less CPU.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")


def program() -> str | None:
    """The path of chromium, if installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@asynccontextmanager
async def launch(program: str, *more: str) -> AsyncIterator[Browser]:
    """Run chromium, with more options."""
    # Its sandbox doesn't run as root, and containers have little /dev/shm.
    options = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else []), *more]
    async with async_playwright() as playwright:
        expect.set_options(timeout=TIMEOUT_MS)
        running = await playwright.chromium.launch(executable_path=program, args=options, timeout=60_000)
        yield running
        await running.close()


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A running chromium. Close the contexts that you open in it."""
    found = program()
    if found is None:
        pytest.skip(f"there is no chromium here (on Debian: apt install {PROGRAMS[0]})")
    async with launch(found) as running:
        yield running


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a new context, with a timeout of 30 seconds."""
    context = await browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield await context.new_page()
    await context.close()
