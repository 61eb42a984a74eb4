"""Every screen, as each role, in both themes: nothing goes wrong, and axe finds nothing."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.scene import ROLES, Scene
from tests.browser.screens import PHONE, ROOT, SCREENS, Screen, context, turn_to, untested_paths, visit, watched

AXE = ROOT / "dashboard/node_modules/axe-core/axe.min.js"
COLOURS = ["color-contrast", "link-in-text-block"]  # all that a theme makes different
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# No rules of WCAG, and in the way of dialogs and choices, which stand beside the landmarks of the page.
BESIDE = ["region", "landmark-no-duplicate-banner", "landmark-unique"]
DIALOGS = (
    Screen("new domain", "/domains?new=yes"),
    Screen("new key", "/api-keys?new=yes"),
    Screen("new webhook", "/webhooks?new=yes"),
    Screen("new administrator", "/admins?new=yes"),
    Screen("DKIM", "/domains/{domain_id}?tab=dkim"),
    Screen("domain settings", "/domains/{domain_id}?tab=settings"),
    Screen("mailbox settings", "/mailboxes/{mailbox_id}?tab=settings"),
    Screen("webhook settings", "/webhooks/{webhook_id}?tab=settings"),
)


def test_every_screen_of_the_build_is_tested(scene: Scene):
    assert untested_paths() == set()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.timeout(120)
async def test_every_screen_is_shown_without_csp_violations(browser: Browser, scene: Scene, role: str):
    async with watched(browser, scene, role) as page:
        await visit(page, scene.http, "/")
        for screen in SCREENS:
            await turn_to(page, screen.at(scene.ids))
            assert await page.locator("h1").count() == 1, screen.name
            if ROLES.index(role) <= ROLES.index(screen.lowest):
                # On a machine with much to do the instance may rightly say that it is not well.
                wrong = page.locator("main [role=alert]").filter(has_not_text="unhealthy")
                assert await wrong.count() == 0, (screen.name, role)


@pytest.mark.timeout(120)
async def test_every_screen_path_returns_the_page(browser: Browser, scene: Scene):
    async with watched(browser, scene, "super_admin") as page:
        for screen in SCREENS:
            await visit(page, scene.http, screen.at(scene.ids))
            assert (await page.title()).endswith("· Mailkeep"), screen.name


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}], ids=["wide", "phone"])
@pytest.mark.timeout(180)
async def test_axe_finds_nothing(browser: Browser, scene: Scene, options: dict[str, Any]):
    # Only to inject axe; the other tests check the content security policy.
    options = {"bypass_csp": True, "reduced_motion": "reduce"} | options
    found: list[str] = []
    async with context(browser, None, **options) as made:
        page = await made.new_page()
        await visit(page, scene.http, "/login")
        await page.add_script_tag(path=AXE)
        found += [f"login: {each}" for each in await findings(page)]
    async with context(browser, scene.sue, **options) as made:
        page = await made.new_page()
        await visit(page, scene.http, "/")
        await page.add_script_tag(path=AXE)
        for screen in (*SCREENS, *DIALOGS):
            await turn_to(page, screen.at(scene.ids))
            found += [f"{screen.name}: {each}" for each in await findings(page)]
    assert found == []


async def findings(page: Page) -> list[str]:
    """What axe, which is in the page, has against it in both themes."""
    found = [f"light: {each}" for each in await _findings(page, {"type": "tag", "values": TAGS})]
    await _turn(page, "dark")
    found += [f"dark: {each}" for each in await _findings(page, {"type": "rule", "values": COLOURS})]
    await _turn(page, "light")
    return found


async def _turn(page: Page, theme: Literal["light", "dark"]) -> None:
    await page.emulate_media(color_scheme=theme)
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)


async def _findings(page: Page, rules: dict[str, Any]) -> list[str]:
    options = {
        "runOnly": rules,
        "rules": {name: {"enabled": False} for name in BESIDE},
        "resultTypes": ["violations"],
    }
    result = await page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"][:3]
    ]
