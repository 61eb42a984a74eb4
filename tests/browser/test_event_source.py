"""GET /events/stream with the browser's EventSource, authenticated by the session cookie."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page

from tests.browser.scene import COOKIE, Scene

FOLLOW = """
() => {
  window.received = [];
  window.opened = 0;
  // The server ends the stream every second, so that the browser reconnects.
  const source = new EventSource("/api/v1/events/stream?kind=mail.sent&duration=1");
  source.addEventListener("open", () => { window.opened += 1; });
  source.addEventListener("mail.sent", (event) => {
    window.received.push([event.lastEventId, JSON.parse(event.data).data.subject]);
  });
}
"""


async def until(page: Page, condition: str) -> None:
    """Poll from the test: the content security policy forbids `wait_for_function`."""
    for _ in range(600):
        if await page.evaluate(condition):
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(condition)


async def test_an_event_source_reconnects_and_misses_nothing(page: Page, scene: Scene):
    caller = await scene.login("admin")
    await page.context.add_cookies([{"name": COOKIE, "value": caller.token, "url": scene.http}])
    await page.goto(f"{scene.http}/docs")
    await page.evaluate(FOLLOW)
    await until(page, "window.opened >= 1")
    subjects = [f"to a browser {number}" for number in range(8)]
    for subject in subjects:
        await scene.send(subject=subject)
        await asyncio.sleep(0.6)  # some are sent while the browser waits 2 seconds before it reconnects
    events = "window.received.filter(([, subject]) => subject.startsWith('to a browser'))"
    await until(page, f"{events}.length >= 8")
    received = await page.evaluate(events)
    assert [subject for _, subject in received] == subjects
    assert len({event_id for event_id, _ in received}) == len(subjects)
    assert await page.evaluate("window.opened") > 1
