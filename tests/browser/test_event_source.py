"""GET /events/stream as a browser's own EventSource follows it, with the session's cookie and nothing else."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page

from tests.browser.scene import COOKIE, Scene

FOLLOW = """
() => {
  window.heard = [];
  window.opened = 0;
  // The server ends it each second, so that the browser has to come back.
  const source = new EventSource("/api/v1/events/stream?kind=mail.sent&duration=1");
  source.addEventListener("open", () => { window.opened += 1; });
  source.addEventListener("mail.sent", (event) => {
    window.heard.push([event.lastEventId, JSON.parse(event.data).data.subject]);
  });
}
"""


async def until(page: Page, condition: str) -> None:
    """Asked from outside: the page's own policy lets it evaluate nothing."""
    for _ in range(600):
        if await page.evaluate(condition):
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(condition)


async def test_an_event_source_reconnects_and_misses_nothing(page: Page, scene: Scene):
    who = await scene.login("admin")
    await page.context.add_cookies([{"name": COOKIE, "value": who.token, "url": scene.http}])
    await page.goto(f"{scene.http}/docs")
    await page.evaluate(FOLLOW)
    await until(page, "window.opened >= 1")
    subjects = [f"to a browser {number}" for number in range(8)]
    for subject in subjects:
        await scene.send(subject=subject)
        await asyncio.sleep(0.6)  # some while it is away: it waits 2 seconds before it comes back
    ours = "window.heard.filter(([, subject]) => subject.startsWith('to a browser'))"
    await until(page, f"{ours}.length >= 8")
    heard = await page.evaluate(ours)
    assert [subject for _, subject in heard] == subjects
    assert len({event_id for event_id, _ in heard}) == len(subjects)
    assert await page.evaluate("window.opened") > 1
