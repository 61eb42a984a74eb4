"""Regression tests of defects that first users of the dashboard reported (issue 17, 24 and 25)."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, PASSWORD, ROLES, Scene, log_in
from tests.browser.screens import SCREENS, navigate, open_context, open_page, visit


async def test_times_follow_the_language_of_the_interface(browser: Browser, scene: Scene):
    path = f"/messages/{scene.ids['message_id']}"
    async with open_page(browser, scene, "admin", locale="de-DE") as page:
        await visit(page, scene.http, path)
        await page.clock.set_fixed_time("2026-12-24T18:05:00Z")
        await visit(page, scene.http, "/messages")
        assert not re.search(r"\b(vor|Uhr|Dez|Okt|Mai|gestern)\b", await page.locator("main").inner_text())
        text = await page.locator("main table time").first.inner_text()
        assert re.search(r"ago|yesterday|[A-Z][a-z]{2}", text), text
        await visit(page, scene.http, path)
        # Germany has a 24-hour clock.
        assert not re.search(r"[AP]M", await page.locator(".page-lead").inner_text())


async def test_a_select_is_a_combobox_to_a_screen_reader(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
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
            list_id = await box.get_attribute("aria-controls")
            option_id = await box.get_attribute("aria-activedescendant")
            option = page.locator(f"[id='{list_id}'][role=listbox] [id='{option_id}'][role=option]")
            await expect(option).to_have_attribute("aria-selected", "true")
            label = (await option.inner_text()).splitlines()[0]  # a description may follow
            await box.press("Enter")
            if name == "Domains":
                await expect(page.get_by_role("dialog").get_by_text(label, exact=True).first).to_be_visible()
            else:
                await expect(box).to_have_value(label)
                await expect(box).to_have_attribute("aria-expanded", "false")


async def test_the_palette_finds_aliases_administrators_keys_and_webhooks(browser: Browser, scene: Scene):
    async def open_result(page: Page, text: str, name: str) -> None:
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="Search").fill(text)
        await page.get_by_role("option", name=name).click()

    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await open_result(page, "sales@", f"sales@{EXAMPLE} Alias")
        await expect(page.get_by_role("dialog", name="Edit alias")).to_be_visible()
        await page.keyboard.press("Escape")
        await open_result(page, "dora@", f"dora@{EXAMPLE} Administrator")
        await expect(page.get_by_role("heading", level=1, name="Administrators")).to_be_visible()
        await open_result(page, "newsletter", "newsletter API key")
        await expect(page.get_by_role("heading", level=1, name="API keys")).to_be_visible()
        await open_result(page, "/500/crm", "/500/crm Webhook")
        await expect(page.get_by_role("heading", level=1, name=re.compile("500.crm"))).to_be_visible()


async def test_the_palette_sends_no_request_that_the_role_is_denied(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        failed_urls: list[str] = []
        page.on("response", lambda response: failed_urls.append(response.url) if response.status >= 400 else None)
        await visit(page, scene.http, "/")
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="Search").fill("sales@")
        await page.get_by_role("option", name=f"sales@{EXAMPLE} Alias").wait_for()
        await page.get_by_role("combobox", name="Search").fill("/500/crm")
        await page.get_by_role("option", name="Search messages").wait_for()
        await page.wait_for_timeout(400)
        assert failed_urls == []
        await expect(page.get_by_role("option").filter(has_text="Webhook")).to_have_count(0)


@pytest.mark.timeout(120)
async def test_a_domain_administrator_sees_no_link_to_a_denied_screen(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/")
        links: set[str] = set()
        for screen in SCREENS:
            if ROLES.index(screen.lowest) == 0:
                await navigate(page, screen.path_for(scene.ids))
                await page.wait_for_timeout(150)
                hrefs = await page.locator("a[href^='/']:visible").evaluate_all(
                    "(all) => all.map((each) => each.getAttribute('href'))"
                )
                links |= {link for link in hrefs if not link.startswith(("/api/", "/docs"))}
        assert not {"/webhooks", "/queue", "/suspensions", "/events", "/sandbox"} & links
        for link in sorted(links):
            await navigate(page, link)
            for text in ("Not available", "Not found", "have access"):
                await expect(page.locator("main").get_by_text(text)).to_have_count(0)


@pytest.mark.parametrize(
    "path, create_button, close_button",
    [
        ("/api-keys?new=yes", "Create key", "I've saved it"),
        ("/webhooks?new=yes", "Create webhook", "I've saved it"),
    ],
)
async def test_escape_does_not_close_a_dialog_with_a_secret(
    browser: Browser, scene: Scene, path: str, create_button: str, close_button: str
):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, path)
        dialog = page.get_by_role("dialog")
        if "keys" in path:
            await dialog.get_by_label("Name").fill("escaped")
        else:
            await dialog.get_by_label("URL").fill(scene.sink.url("/200/escaped"))
        await dialog.get_by_role("button", name=create_button).click()
        secret = dialog.get_by_test_id("secret")
        await secret.wait_for()
        await page.keyboard.press("Escape")
        await page.mouse.click(5, 300)
        await page.keyboard.press("Control+k")
        await page.wait_for_timeout(300)
        await expect(secret).to_be_visible()
        await expect(dialog).to_have_count(1)
        await expect(dialog.get_by_role("button", name="Close", exact=True)).to_have_count(0)
        await dialog.get_by_role("button", name=close_button).click()
        await expect(dialog).to_have_count(0)


async def test_an_invalid_routing_query_shows_an_error(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/routing?address=nobody")
        alert = page.locator("main").get_by_role("alert")
        await expect(alert).to_contain_text("“nobody” is not an address. Enter it as name@domain")
        field = page.get_by_label("Address")
        await field.fill("somebody at home")
        await expect(alert).to_have_count(0)  # no error while the user is typing
        await field.press("Enter")
        await expect(alert).to_contain_text("“somebody at home” is not an address")
        await field.fill(f"alice@{EXAMPLE}")
        await expect(page.get_by_text("is delivered")).to_be_visible()


async def test_a_rejected_webhook_url_names_the_setting_and_mailkeep_listen(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/webhooks?new=yes")
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text("mailkeep listen")).to_be_visible()
        url = dialog.get_by_label("URL")
        await url.fill("https://10.0.0.1/hook")
        await dialog.get_by_role("button", name="Create webhook").click()
        await expect(url).to_have_attribute("aria-invalid", "true")
        alert = dialog.get_by_role("alert")
        await expect(alert).to_contain_text("private or special address")
        text = await alert.inner_text()
        assert (text.count("webhooks.allowed_networks"), text.count("mailkeep listen")) == (1, 1)


async def test_a_thousand_destinations_do_not_freeze_the_alias_form(browser: Browser, scene: Scene):
    requests: list[str] = []
    async with open_page(browser, scene, "super_admin") as page:
        page.on("request", lambda request: requests.append(request.url) if "/routing/explain" in request.url else None)
        await visit(page, scene.http, "/aliases?new=yes")
        dialog = page.get_by_role("dialog")
        destinations = dialog.get_by_label("Destinations")
        await destinations.fill(", ".join(f"user{number}@far{number}.example" for number in range(1000)))
        await destinations.blur()
        await expect(dialog.get_by_text("and 990 more")).to_be_visible()
        await dialog.get_by_label("Local part").fill("many")
        await dialog.get_by_role("button", name="Create alias").click()
        await expect(dialog.get_by_role("alert")).to_be_visible()  # more than limits.alias_destinations
    assert len(requests) <= 10


async def test_the_only_domain_is_selected_in_every_form(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:  # has one domain
        for path in ("/mailboxes?new=yes", "/aliases?new=yes"):
            await visit(page, scene.http, path)
            domain_select = page.get_by_role("dialog").get_by_role("combobox", name="Domain", exact=True)
            await expect(domain_select).to_have_value(EXAMPLE)
        await page.get_by_role("dialog").get_by_label("Local part").fill("chosen")
        destinations = page.get_by_role("textbox", name="Destinations")
        await destinations.fill(f"bob@{EXAMPLE}")
        await page.get_by_role("button", name="Create alias").click()
        await expect(page.get_by_role("row").filter(has_text="chosen")).to_be_visible()


async def test_audit_log_rows_name_their_resource(browser: Browser, scene: Scene):
    call, name = scene.caller("domain_admin").call, "named-domain-admin"
    domain_field = {"domain_id": scene.ids["domain_id"]}
    box = await call("POST", "/mailboxes", {**domain_field, "local_part": name, "password": PASSWORD})
    alias = await call(
        "POST", "/aliases", {**domain_field, "source_local_part": f"{name}-gone", "destination": f"bob@{EXAMPLE}"}
    )
    await call("DELETE", f"/aliases/{alias['id']}")
    async with open_page(browser, scene, "domain_admin") as page:
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
    async with open_context(browser, scene.super_admin) as browser_context:
        page = await browser_context.new_page()
        await visit(page, scene.http, "/")
        for path in ("/nowhere", "/domains/x/y"):
            await page.evaluate(_NAVIGATE, path)
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
            await navigate(page, path)
            await expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
            await expect(page.locator("main").get_by_role("link", name="Overview")).to_be_visible()
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        response = await page.goto(f"{scene.http}/nowhere")
        assert response
        assert response.status == 404
        await expect(page.get_by_role("heading", level=1, name="Page not found")).to_be_visible()
        await page.get_by_role("link", name="Sign in").click()
        await expect(page.get_by_label("Email")).to_be_visible()


_NAVIGATE = "(path) => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate', { state: {} })) }"


async def test_with_several_domains_none_is_selected(browser: Browser, scene: Scene):
    async with open_context(browser, await log_in(scene.http, "admin@localhost", PASSWORD)) as browser_context:
        page = await browser_context.new_page()
        await visit(page, scene.http, "/mailboxes?new=yes")
        domain_select = page.get_by_role("dialog").get_by_role("combobox", name="Domain", exact=True)
        await expect(domain_select).to_have_value("")
