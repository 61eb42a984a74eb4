"""Every screen, as each role, in both themes: no errors in the browser, no violations found by axe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.scene import ROLES, Scene
from tests.browser.screens import (
    PHONE,
    ROOT,
    SCREENS,
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
# Not WCAG rules. Dialogs and lists of options are outside the landmarks of the page.
IGNORED_RULES = ["region", "landmark-no-duplicate-banner", "landmark-unique"]
DIALOGS = (
    Screen("new domain", "/domains?new=yes"),
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


def test_every_screen_of_the_build_is_tested(scene: Scene):
    assert find_untested_paths() == set()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.timeout(120)
async def test_every_screen_is_shown_without_csp_violations(browser: Browser, scene: Scene, role: str):
    """The super administrator loads the page of each path; the others go from screen to screen."""
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/")
        for screen in SCREENS:
            if role == "super_admin":
                await visit(page, scene.http, screen.path_for(scene.ids))
                assert (await page.title()).endswith("· Mailkeep"), screen.name
            else:
                await navigate(page, screen.path_for(scene.ids))
            assert await page.locator("h1").count() == 1, screen.name
            if ROLES.index(role) <= ROLES.index(screen.lowest):
                # On a busy machine the instance may report that it is degraded.
                alerts = page.locator("main [role=alert]").filter(has_not_text="unhealthy")
                assert await alerts.count() == 0, (screen.name, role)


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}], ids=["wide", "phone"])
@pytest.mark.timeout(180)
async def test_axe_finds_nothing(browser: Browser, scene: Scene, options: dict[str, Any]):
    # Only to inject axe; the other tests check the content security policy.
    options = {"bypass_csp": True, "reduced_motion": "reduce"} | options
    violations: list[str] = []
    async with open_context(browser, None, **options) as browser_context:
        page = await browser_context.new_page()
        await visit(page, scene.http, "/login")
        await page.add_script_tag(path=AXE)
        violations += [f"login: {each}" for each in await find_violations(page)]
    async with open_context(browser, scene.super_admin, **options) as browser_context:
        page = await browser_context.new_page()
        await visit(page, scene.http, "/")
        await page.add_script_tag(path=AXE)
        for screen in (*SCREENS, *DIALOGS):
            await navigate(page, screen.path_for(scene.ids))
            violations += [f"{screen.name}: {each}" for each in await find_violations(page)]
    assert violations == []


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
    }
    result = await page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"][:3]
    ]
