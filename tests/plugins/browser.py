"""`browser`: Debian's chromium without a window, one for each process of the tests that asks for it; `page` in a
context of its own, with no cookies of others.

Playwright drives it by its asynchronous interface, on the loop that all tests share (the synchronous one would keep
a loop of its own running in this thread, which pytest-asyncio refuses). Nothing is downloaded: without the browser,
the tests that need it are skipped by name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

TIMEOUT_MS = 30_000
# The shell is the same engine without the windows, tabs and menus that nobody sees: two thirds of the work.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")


def program() -> str | None:
    """Where chromium is, if anywhere."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@asynccontextmanager
async def launched(program: str) -> AsyncIterator[Browser]:
    """It, running."""
    # Its sandbox doesn't run as root, and containers have little /dev/shm.
    options = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        expect.set_options(timeout=TIMEOUT_MS)
        running = await playwright.chromium.launch(executable_path=program, args=options, timeout=60_000)
        yield running
        await running.close()


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A running chromium; make contexts in it, and close them."""
    found = program()
    if found is None:
        pytest.skip(f"there is no chromium here (on Debian: apt install {PROGRAMS[0]})")
    async with launched(found) as running:
        yield running


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a new context, which waits for nothing longer than 30 seconds."""
    context = await browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield await context.new_page()
    await context.close()
