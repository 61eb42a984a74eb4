"""The API reference shows every operation with its examples, in both themes and at phone width."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.scene import Scene
from tests.browser.screens import ROOT, open_page
from tests.browser.test_screens import AXE, find_violations

METHODS = {"get", "post", "put", "patch", "delete"}
DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs/reference/openapi.json").read_text())
OPERATIONS = [
    operation["operationId"]
    for items in (DOCUMENT["paths"], DOCUMENT["webhooks"])
    for item in items.values()
    for method, operation in item.items()
    if method in METHODS
]
NARROW = {"width": 320, "height": 640}
# Removes each section that consists of the same kinds of elements as an earlier one; returns how many are left.
_KEEP_DIFFERENT = """(all) => {
  const seen = new Set()
  for (const each of all) {
    const kinds = new Set([...each.querySelectorAll('*')].map((inner) => `${inner.tagName}.${inner.className}`))
    const name = [...kinds].sort().join()
    if (seen.has(name)) each.remove()
    seen.add(name)
  }
  return seen.size
}"""


@asynccontextmanager
async def open_reference(browser: Browser, scene: Scene, fragment: str = "", **options: Any) -> AsyncIterator[Page]:
    """The complete page. Fails on console errors, policy violations and requests to another origin."""
    async with open_page(browser, scene, "super_admin", **options) as page:
        await page.goto(f"{scene.http}/docs{fragment}")
        await expect(page.locator("article.call")).to_have_count(len(OPERATIONS))
        yield page


async def test_every_operation_and_webhook_is_shown_with_its_fields_and_examples(browser: Browser, scene: Scene):
    async with open_reference(browser, scene) as page:
        shown = await page.locator("article.call").evaluate_all("(all) => all.map((each) => each.id)")
        assert sorted(shown) == sorted(OPERATIONS)
        login = page.locator("#postAuthLogin")
        await expect(login.get_by_role("heading", name="Or this body")).to_have_count(2)
        await expect(login.get_by_role("heading", name="Or this response")).to_have_count(1)
        await expect(login.get_by_text("recovery_code", exact=True).first).to_be_visible()
        # Issue 17, number 21: header parameters were missing.
        await expect(page.locator("#getEventsStream .field-name").get_by_text("Last-Event-ID")).to_be_visible()
        await expect(page.locator("#postSend .field-name").get_by_text("Idempotency-Key")).to_be_visible()
        await expect(page.locator("#onMailDelivered .field-name").get_by_text("webhook-signature")).to_be_visible()
        create = page.locator("#postDomains")
        example = DOCUMENT["paths"]["/domains"]["post"]["responses"]["201"]["content"]["application/json"]["example"]
        await expect(create.locator("pre").last).to_have_text(json.dumps(example, indent=2, ensure_ascii=False))
        await expect(create.locator("pre").first).to_contain_text(f"curl -X POST '{scene.http}/api/v1/domains'")
        bodies = DOCUMENT["paths"]["/auth/login"]["post"]["requestBody"]["content"]["application/json"]["examples"]
        assert len(bodies) > 1
        await expect(page.locator("#postAuthLogin").get_by_text("curl -X POST")).to_have_count(len(bodies))
        await expect(page.locator("#onMailDelivered").get_by_text('"event": "mail.delivered"')).to_be_visible()


@pytest.mark.timeout(300)
async def test_links_of_the_sidebar_reach_their_sections(browser: Browser, scene: Scene):
    """Issue 17, number 21: scrolling stopped on its way. Each sixth link, from the first to the last section."""
    async with open_reference(browser, scene) as page:
        missed = await page.evaluate(
            """async () => {
              const missed = [], header = document.querySelector('header.top').getBoundingClientRect().bottom
              const links = [...document.querySelectorAll('.toc-group a')]
              for (const link of links.filter((_, number) => number % 6 === 0 || number === links.length - 1)) {
                link.click()
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
                const top = document.getElementById(link.hash.slice(1)).getBoundingClientRect().top
                const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1
                if (!(top >= header && top < header + 60) && !isAtEnd) missed.push([link.hash, top])
              }
              return missed
            }"""
        )
        assert missed == []


async def test_a_link_to_an_operation_opens_at_it(browser: Browser, scene: Scene):
    async with open_reference(browser, scene, "#postWebhooks") as page:
        await expect(page.locator("#postWebhooks h3")).to_be_in_viewport()


async def test_the_page_fits_a_phone_in_both_themes(browser: Browser, scene: Scene):
    """Issue 17, number 21: narrow screens overflowed."""
    async with open_reference(browser, scene, viewport=NARROW) as page:
        await page.locator("details").evaluate_all("(all) => all.forEach((each) => { each.open = true })")
        cut_off = await page.locator("main *:not(.table *):not(pre *)").evaluate_all(
            "(all) => all.filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML)"
        )
        assert cut_off == []
        assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        await expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
        await page.emulate_media(color_scheme="dark")
        await expect(page.locator("body")).not_to_have_css("background-color", "rgb(255, 255, 255)")
        await page.get_by_role("button", name="Menu").click()
        await page.get_by_role("link", name="Send a message").first.click()
        await expect(page.locator("#postSend h3")).to_be_in_viewport()
        await expect(page.get_by_role("navigation")).to_be_hidden()


async def test_axe_finds_nothing_in_the_reference(browser: Browser, scene: Scene):
    # `bypass_csp` only to put axe into the page; the other tests run under the policy.
    async with open_reference(browser, scene, reduced_motion="reduce", bypass_csp=True) as page:
        await page.add_script_tag(path=AXE)
        assert await page.locator("article.call").evaluate_all(_KEEP_DIFFERENT) > 10
        assert await find_violations(page) == []
