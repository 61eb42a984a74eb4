"""Every screen, as each role, in both themes: no errors in the browser, nothing that axe finds, nothing too wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import aiohttp
import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect

from tests.browser.scene import ROLES, Scene
from tests.browser.screens import (
    ROOT,
    SCREENS,
    WIDE,
    Screen,
    find_untested_paths,
    navigate,
    open_context,
    open_page,
    visit,
)

AXE = ROOT / "dashboard/node_modules/axe-core/axe.min.js"
COLOUR_RULES = ["color-contrast", "link-in-text-block"]  # the only rules whose result depends on the theme
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
NARROW = 600  # pixels; phones are narrower
SMALLEST = ViewportSize(width=320, height=640)
# Not WCAG rules. Dialogs and lists of options are outside the landmarks of the page.
IGNORED_RULES = ["region", "landmark-no-duplicate-banner", "landmark-unique"]
DIALOGS = (
    Screen("new domain", "/domains?new=yes"),
    Screen("new mailbox", "/mailboxes?new=yes"),
    Screen("new alias", "/aliases?new=yes"),
    Screen("new key", "/api-keys?new=yes"),
    Screen("import suppressions", "/suppressions?import=yes"),
    Screen("new filter entry", "/filtering?tab=list&new=yes"),
    Screen("import filter entries", "/filtering?tab=list&import=yes"),
    Screen("new webhook", "/webhooks?new=yes"),
    Screen("new incident", "/incidents?new=yes"),
    Screen("new administrator", "/admins?new=yes"),
    Screen("domain settings", "/domains/{domain_id}?tab=settings"),
    Screen("mailbox settings", "/mailboxes/{mailbox_id}?tab=settings"),
    Screen("new template", "/templates?new=yes"),
    Screen("versions of a template", "/templates/{template_id}?tab=versions"),
    Screen("template settings", "/templates/{template_id}?tab=settings"),
    Screen("history of the settings", "/settings?tab=history"),
    Screen("plan", "/services?tab=plan"),
    Screen("drift", "/services?tab=drift"),
    Screen("operations", "/services?tab=operations"),
    Screen("webhook settings", "/webhooks/{webhook_id}?tab=settings"),
)

_FIND_TOO_WIDE = """() => {
  const wide = (root) => root && root.scrollWidth > root.clientWidth
  const found = [document.documentElement, ...document.querySelectorAll('.mantine-Modal-body')].filter(wide)
  const beyond = (each) => each.getBoundingClientRect().right > innerWidth + 1
  return found.length ? [...document.querySelectorAll('header *, main *, [role=dialog] *')].filter(beyond)
    .map((each) => `${each.tagName}.${each.className}`).slice(0, 5) : []
}"""

ALL = (*SCREENS, *DIALOGS)


def test_every_screen_of_the_build_is_tested(scene: Scene):
    assert find_untested_paths() == set()


@pytest.mark.parametrize("role", ROLES[1:])
@pytest.mark.timeout(120)
async def test_every_screen_is_shown_to_other_roles(browser: Browser, scene: Scene, role: str):
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/")
        for screen in SCREENS:
            await navigate(page, screen.path_for(scene.ids))
            assert await page.locator("h1").count() == 1, screen.name
            if ROLES.index(role) <= ROLES.index(screen.lowest):
                await expect_no_alert(page, screen.name)


async def expect_no_alert(page: Page, what: str) -> None:
    # On a busy machine the instance may report that it is degraded.
    assert await page.locator("main [role=alert]").filter(has_not_text="unhealthy").count() == 0, what


@pytest.mark.parametrize("screens", [ALL[::2], ALL[1::2]], ids=["even", "odd"])
@pytest.mark.timeout(240)
async def test_every_screen_has_no_violation_and_fits(browser: Browser, scene: Scene, screens: Sequence[Screen]):
    """What axe finds, and what scrolls sideways. No screen of a super administrator shows an error."""
    found: list[str] = []
    async with open_page(browser, scene, "super_admin", reduced_motion="reduce") as page:
        await visit(page, scene.http, "/")
        await page.evaluate(AXE.read_text())  # the policy does not apply to that
        for screen in screens:
            await navigate(page, screen.path_for(scene.ids))
            assert (await page.title()).endswith("· Mailkeep"), screen.name
            if screen in SCREENS:
                assert await page.locator("h1").count() == 1, screen.name
                await expect_no_alert(page, screen.name)
            found += [f"{screen.name}: {each}" for each in await find_faults(page)]
    assert found == []


async def test_pages_without_a_screen_have_no_violation_and_fit(browser: Browser, scene: Scene):
    found: list[str] = []
    async with open_context(browser, None, reduced_motion="reduce") as browser_context:
        page = await browser_context.new_page()
        for path, heading in (("/login", "Sign in to Mailkeep"), ("/nowhere", "Page not found")):
            await page.goto(scene.http + path)
            await page.get_by_role("heading", name=heading).wait_for()
            await page.evaluate(AXE.read_text())
            found += [f"{path}: {each}" for each in await find_faults(page)]
    assert found == []


async def test_the_address_of_every_screen_can_be_opened(scene: Scene):
    async with aiohttp.ClientSession() as session:
        for screen in SCREENS:
            async with session.get(scene.http + screen.path_for(scene.ids)) as answer:
                assert (answer.status, "<title>" in await answer.text()) == (200, True), screen.name


async def find_faults(page: Page) -> list[str]:
    """What is wrong on the wide page, and when it is narrow. The page must contain axe."""
    found: list[str] = []
    for viewport in (WIDE, SMALLEST):
        await page.set_viewport_size(viewport)
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        found += [*await find_violations(page), *await page.evaluate(_FIND_TOO_WIDE)]
    await page.set_viewport_size(WIDE)
    return found


async def find_violations(page: Page) -> list[str]:
    """The violations that axe finds in both themes; of a narrow page those of its layout, because its colours are those
    of the wide one. The page must contain axe.
    """
    size = page.viewport_size
    if size and size["width"] < NARROW:
        return [f"narrow: {each}" for each in await run_axe(page, {"type": "tag", "values": TAGS}, COLOUR_RULES)]
    # The attribute of the dashboard's pages; others follow the browser without it.
    by_attribute = await page.locator("html[data-mantine-color-scheme]").count() > 0
    violations = [f"light: {each}" for each in await run_axe(page, {"type": "tag", "values": TAGS})]
    await _set_theme(page, "dark", by_attribute)
    violations += [f"dark: {each}" for each in await run_axe(page, {"type": "rule", "values": COLOUR_RULES})]
    await _set_theme(page, "light", by_attribute)
    return violations


async def _set_theme(page: Page, theme: Literal["light", "dark"], by_attribute: bool) -> None:
    await page.emulate_media(color_scheme=theme)
    if by_attribute:
        await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)


async def run_axe(page: Page, rules: dict[str, Any], without: Sequence[str] = ()) -> list[str]:
    """The violations of these rules (axe's `runOnly`) but those of `without`. The page must contain axe."""
    options = {
        "runOnly": rules,
        "rules": {name: {"enabled": False} for name in (*IGNORED_RULES, *without)},
        "resultTypes": ["violations"],
        "iframes": False,  # the one with a message's HTML belongs to its sender, and admits no script
    }
    result = await page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"][:3]
    ]
