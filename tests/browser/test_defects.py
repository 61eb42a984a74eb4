"""Issue 17, 24 and 25: what a new user of the dashboard found wrong."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, PASSWORD, ROLES, Scene, log_in
from tests.browser.screens import SCREENS, Screen, context, turn_to, visit, watched

NARROW = {"width": 320, "height": 640}
ADDRESSES = (
    *SCREENS,
    *(
        Screen(f"new {name}", f"/{name}?new=yes")
        for name in ("domains", "mailboxes", "aliases", "api-keys", "webhooks")
    ),
    Screen("not found", "/nowhere"),
)
_TOO_WIDE = """() => {
  const wide = (root) => root && root.scrollWidth > root.clientWidth
  const found = [document.documentElement, ...document.querySelectorAll('.mantine-Modal-body')].filter(wide)
  const beyond = (each) => each.getBoundingClientRect().right > innerWidth + 1
  return found.length ? [...document.querySelectorAll('header *, main *, [role=dialog] *')].filter(beyond)
    .map((each) => `${each.tagName}.${each.className}`).slice(0, 5) : []
}"""


@pytest.mark.timeout(120)
async def test_no_screen_scrolls_sideways_at_320_px(browser: Browser, scene: Scene):
    async with context(browser, None, viewport=NARROW) as made:
        page = await made.new_page()
        await visit(page, scene.http, "/login")
        assert await page.evaluate(_TOO_WIDE) == [], "login"
    async with watched(browser, scene, "super_admin", viewport=NARROW) as page:
        await visit(page, scene.http, "/")
        for screen in ADDRESSES:
            if screen.name == "not found":
                await page.evaluate(
                    "history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))"
                )
                await page.get_by_role("heading", name="Page not found").wait_for()
            else:
                await turn_to(page, screen.at(scene.ids))
            assert await page.evaluate(_TOO_WIDE) == [], screen.name


async def test_times_follow_the_language_of_the_interface(browser: Browser, scene: Scene):
    path = f"/messages/{scene.ids['message_id']}"
    async with watched(browser, scene, "admin", locale="de-DE") as page:
        await visit(page, scene.http, path)
        await page.clock.set_fixed_time("2026-12-24T18:05:00Z")
        await visit(page, scene.http, "/messages")
        assert not re.search(r"\b(vor|Uhr|Dez|Okt|Mai|gestern)\b", await page.locator("main").inner_text())
        words = await page.locator("main table time").first.inner_text()
        assert re.search(r"ago|yesterday|[A-Z][a-z]{2}", words), words
        await visit(page, scene.http, path)
        # 24 hours, as it is written in Germany.
        assert not re.search(r"[AP]M", await page.locator(".page-lead").inner_text())


async def test_a_select_is_a_combobox_to_a_screen_reader(browser: Browser, scene: Scene):
    async with watched(browser, scene, "super_admin") as page:
        for path, name in (("/messages", "Status"), ("/admins?new=yes", "Domains"), ("/mailboxes?new=yes", "Domain")):
            await visit(page, scene.http, path)
            box = page.get_by_role("combobox", name=name, exact=True).last
            await box.focus()
            await page.keyboard.press("Escape")
            if "new=" in path and not await page.get_by_role("dialog").count():
                await visit(page, scene.http, path)
            await box.press("ArrowDown")
            await expect(box).to_have_attribute("aria-expanded", "true")
            await box.press("ArrowDown")
            listed = await box.get_attribute("aria-controls")
            active = await box.get_attribute("aria-activedescendant")
            option = page.locator(f"[id='{listed}'][role=listbox] [id='{active}'][role=option]")
            await expect(option).to_have_attribute("aria-selected", "true")
            chosen = (await option.inner_text()).splitlines()[0]  # a description may follow
            await box.press("Enter")
            if name == "Domains":
                await expect(page.get_by_role("dialog").get_by_text(chosen, exact=True).first).to_be_visible()
            else:
                await expect(box).to_have_value(chosen)
                await expect(box).to_have_attribute("aria-expanded", "false")


async def test_the_palette_finds_aliases_administrators_keys_and_webhooks(browser: Browser, scene: Scene):
    async def found(page: Page, typed: str, name: str) -> None:
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="Search").fill(typed)
        await page.get_by_role("option", name=name).click()

    async with watched(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await found(page, "sales@", f"sales@{EXAMPLE} Alias")
        await expect(page.get_by_role("dialog", name="Edit alias")).to_be_visible()
        await page.keyboard.press("Escape")
        await found(page, "dora@", f"dora@{EXAMPLE} Administrator")
        await expect(page.get_by_role("heading", level=1, name="Administrators")).to_be_visible()
        await found(page, "newsletter", "newsletter API key")
        await expect(page.get_by_role("heading", level=1, name="API keys")).to_be_visible()
        await found(page, "/500/crm", "/500/crm Webhook")
        await expect(page.get_by_role("heading", level=1, name=re.compile("500.crm"))).to_be_visible()


async def test_the_palette_sends_no_request_that_the_role_is_denied(browser: Browser, scene: Scene):
    async with watched(browser, scene, "domain_admin") as page:
        refused: list[str] = []
        page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
        await visit(page, scene.http, "/")
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="Search").fill("sales@")
        await page.get_by_role("option", name=f"sales@{EXAMPLE} Alias").wait_for()
        await page.get_by_role("combobox", name="Search").fill("/500/crm")
        await page.get_by_role("option", name="Search messages").wait_for()
        await page.wait_for_timeout(400)
        assert refused == []
        await expect(page.get_by_role("option").filter(has_text="Webhook")).to_have_count(0)


@pytest.mark.timeout(120)
async def test_a_domain_administrator_sees_no_link_to_a_denied_screen(browser: Browser, scene: Scene):
    async with watched(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/")
        links: set[str] = set()
        for screen in SCREENS:
            if ROLES.index(screen.lowest) == 0:
                await turn_to(page, screen.at(scene.ids))
                await page.wait_for_timeout(150)
                found = await page.locator("a[href^='/']:visible").evaluate_all(
                    "(all) => all.map((each) => each.getAttribute('href'))"
                )
                links |= {link for link in found if not link.startswith(("/api/", "/docs"))}
        assert not {"/webhooks", "/queue", "/suspensions", "/events", "/sandbox"} & links
        for link in sorted(links):
            await turn_to(page, link)
            for nothing in ("Not available", "Not found", "have access"):
                await expect(page.locator("main").get_by_text(nothing)).to_have_count(0)


@pytest.mark.parametrize(
    "path, made, done",
    [
        ("/api-keys?new=yes", "Create key", "I've saved it"),
        ("/webhooks?new=yes", "Create webhook", "I've saved it"),
    ],
)
async def test_escape_does_not_close_what_shows_a_secret_once(
    browser: Browser, scene: Scene, path: str, made: str, done: str
):
    async with watched(browser, scene, "super_admin") as page:
        await visit(page, scene.http, path)
        dialog = page.get_by_role("dialog")
        if "keys" in path:
            await dialog.get_by_label("Name").fill("escaped")
        else:
            await dialog.get_by_label("Address").fill(scene.sink.url("/200/escaped"))
        await dialog.get_by_role("button", name=made).click()
        secret = dialog.get_by_test_id("secret")
        await secret.wait_for()
        await page.keyboard.press("Escape")
        await page.mouse.click(5, 300)
        await page.keyboard.press("Control+k")
        await page.wait_for_timeout(300)
        await expect(secret).to_be_visible()
        await expect(dialog).to_have_count(1)
        await expect(dialog.get_by_role("button", name="Close", exact=True)).to_have_count(0)
        await dialog.get_by_role("button", name=done).click()
        await expect(dialog).to_have_count(0)


async def test_an_invalid_routing_query_shows_an_error(browser: Browser, scene: Scene):
    async with watched(browser, scene, "admin") as page:
        await visit(page, scene.http, "/routing?address=nobody")
        wrong = page.locator("main").get_by_role("alert")
        await expect(wrong).to_contain_text("“nobody” is not an address. Enter it as name@domain")
        field = page.get_by_label("Address")
        await field.fill("somebody at home")
        await expect(wrong).to_have_count(0)  # who is still typing is not corrected
        await field.press("Enter")
        await expect(wrong).to_contain_text("“somebody at home” is not an address")
        await field.fill(f"alice@{EXAMPLE}")
        await expect(page.get_by_text("is delivered")).to_be_visible()


async def test_a_rejected_webhook_url_names_the_setting_and_mailkeep_listen(browser: Browser, scene: Scene):
    async with watched(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/webhooks?new=yes")
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text("mailkeep listen")).to_be_visible()
        address = dialog.get_by_label("Address")
        await address.fill("https://10.0.0.1/hook")
        await dialog.get_by_role("button", name="Create webhook").click()
        await expect(address).to_have_attribute("aria-invalid", "true")
        alert = dialog.get_by_role("alert")
        await expect(alert).to_contain_text("private or special address")
        words = await alert.inner_text()
        assert (words.count("webhooks.allowed_networks"), words.count("mailkeep listen")) == (1, 1)


async def test_a_thousand_destinations_do_not_freeze_the_alias_form(browser: Browser, scene: Scene):
    asked: list[str] = []
    async with watched(browser, scene, "super_admin") as page:
        page.on("request", lambda request: asked.append(request.url) if "/routing/explain" in request.url else None)
        await visit(page, scene.http, "/aliases?new=yes")
        dialog = page.get_by_role("dialog")
        leads = dialog.get_by_label("Destinations")
        await leads.fill(", ".join(f"user{number}@far{number}.example" for number in range(1000)))
        await leads.blur()
        await expect(dialog.get_by_text("and 990 more")).to_be_visible()
        await dialog.get_by_label("Local part").fill("many")
        await dialog.get_by_role("button", name="Create alias").click()
        await expect(dialog.get_by_role("alert")).to_be_visible()  # more than limits.alias_destinations
    assert len(asked) <= 10


async def test_the_only_domain_is_selected_in_every_form(browser: Browser, scene: Scene):
    async with watched(browser, scene, "domain_admin") as page:  # who has one
        for path in ("/mailboxes?new=yes", "/aliases?new=yes"):
            await visit(page, scene.http, path)
            chosen = page.get_by_role("dialog").get_by_role("combobox", name="Domain", exact=True)
            await expect(chosen).to_have_value(EXAMPLE)
        await page.get_by_role("dialog").get_by_label("Local part").fill("chosen")
        leads = page.get_by_role("textbox", name="Destinations")
        await leads.fill(f"bob@{EXAMPLE}")
        await page.get_by_role("button", name="Create alias").click()
        await expect(page.get_by_role("row").filter(has_text="chosen")).to_be_visible()


@pytest.mark.parametrize("role", ROLES)
async def test_audit_log_rows_name_their_resource(browser: Browser, scene: Scene, role: str):
    ask, name = scene.by(role).ask, f"named-{role.replace('_', '-')}"
    of = {"domain_id": scene.ids["domain_id"]}
    box = await ask("POST", "/mailboxes", {**of, "local_part": name, "password": PASSWORD})
    alias = await ask("POST", "/aliases", {**of, "source_local_part": f"{name}-gone", "destination": f"bob@{EXAMPLE}"})
    await ask("DELETE", f"/aliases/{alias['id']}")
    async with watched(browser, scene, role) as page:
        await visit(page, scene.http, "/audit?resource=mailbox")
        row = page.get_by_role("row").filter(has_text="mailbox.create").filter(has_text=f"{name}@{EXAMPLE}")
        await expect(row.get_by_role("link", name=f"{name}@{EXAMPLE}")).to_have_attribute(
            "href", f"/mailboxes/{box['id']}"
        )
        await visit(page, scene.http, "/audit?resource=alias")
        for action in ("alias.create", "alias.delete"):
            row = page.get_by_role("row").filter(has_text=action).filter(has_text=f"{name}-gone@{EXAMPLE}")
            await expect(row).to_be_visible()
            await expect(row.get_by_role("link")).to_have_count(0)


async def test_unknown_paths_and_objects_have_a_page_with_a_link_home(browser: Browser, scene: Scene):
    async with context(browser, scene.sue) as made:
        page = await made.new_page()
        await visit(page, scene.http, "/")
        for path in ("/nowhere", "/domains/x/y"):
            await page.evaluate(_GO, path)
            await expect(page.get_by_role("heading", level=1, name="Page not found")).to_be_visible()
            await expect(page.get_by_role("navigation", name="Screens")).to_be_visible()
            await page.get_by_role("link", name="Go to the overview").click()
            await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
        for path, title in (
            ("/domains/0199aaaa-0000-7000-8000-000000000000", "Domain not found"),
            ("/mailboxes/0199aaaa-0000-7000-8000-000000000000", "Mailbox not found"),
            ("/mailboxes/nonsense", "Mailbox not found"),
            ("/messages/0199aaaa-0000-7000-8000-000000000000", "Message not found"),
            ("/webhooks/0199aaaa-0000-7000-8000-000000000000", "Webhook not found"),
        ):
            await turn_to(page, path)
            await expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
            await expect(page.locator("main").get_by_role("link", name="Overview")).to_be_visible()
    async with context(browser, None) as made:
        page = await made.new_page()
        answer = await page.goto(f"{scene.http}/nowhere")
        assert answer
        assert answer.status == 404
        await expect(page.get_by_role("heading", level=1, name="Page not found")).to_be_visible()
        await page.get_by_role("link", name="Sign in").click()
        await expect(page.get_by_label("Email")).to_be_visible()


_GO = "(path) => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate', { state: {} })) }"


async def test_with_several_domains_none_is_selected(browser: Browser, scene: Scene):
    """The counterpart: with several domains none is chosen."""
    async with context(browser, await log_in(scene.http, "admin@localhost", PASSWORD)) as made:
        page = await made.new_page()
        await visit(page, scene.http, "/mailboxes?new=yes")
        chosen = page.get_by_role("dialog").get_by_role("combobox", name="Domain", exact=True)
        await expect(chosen).to_have_value("")
