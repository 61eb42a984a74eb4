"""`browser`: Debian's chromium, headless, one for each process of the tests that asks for it; `page` in a context of
its own, with no cookies of others.

Playwright drives it by its asynchronous interface, on the loop that all tests share (the synchronous one would keep
a loop of its own running in this thread, which pytest-asyncio refuses). Nothing is downloaded: without the browser,
the tests that need it are skipped by name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, async_playwright

TIMEOUT_MS = 15_000


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A running chromium; make contexts in it, and close them."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium here (on Debian: apt install chromium)")
    # Its sandbox doesn't run as root, and containers have little /dev/shm.
    options = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=program, args=options, timeout=30_000)
        yield running
        await running.close()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a new context, which waits for nothing longer than 15 seconds."""
    context = await browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield await context.new_page()
    await context.close()
