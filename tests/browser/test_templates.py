"""Templates in the dashboard: written with a preview, published, sent, and read by those who may not write."""

from __future__ import annotations

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import open_page, visit


async def select(page: Page, name: str, option: str) -> None:
    await page.get_by_role("combobox", name=name, exact=True).click()
    await page.get_by_role("option", name=option, exact=True).click()


async def test_a_template_is_written_published_and_sent(browser: Browser, scene: Scene):
    name = "Reset for admin"
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/templates")
        await page.get_by_role("button", name="New template").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill(name)
        await dialog.get_by_role("button", name="Create template").click()
        frame = page.frame_locator("iframe[title='The rendered HTML']")
        await expect(frame.get_by_role("heading", name="Hello Alice")).to_be_visible()
        # The preview follows, with styles, and shows no script.
        body = page.get_by_label("Body", exact=True)
        await body.fill(
            "<style>h1 { color: rgb(1, 2, 3) }</style><h1 onclick='alert(1)'>Hi {{ name }}</h1>"
            "<script>document.title = 'taken over'</script>{{ link }}"
        )
        await expect(page.get_by_role("status").filter(has_text="variables.link: is missing")).to_be_visible()
        await page.get_by_role("button", name="Add variable").click()
        await page.get_by_label("Name of variable 2").fill("link")
        await page.get_by_label("Example of variable 2").fill("https://shop.test/1")
        heading = frame.get_by_role("heading", name="Hi Alice")
        await expect(heading).to_have_css("color", "rgb(1, 2, 3)")
        await expect(page.get_by_label("Rendered subject")).to_have_text("Hello Alice")
        await page.get_by_text("Text (from HTML)").click()
        await expect(page.get_by_label("The rendered text")).to_contain_text("https://shop.test/1")
        assert "taken over" not in await page.title()
        await page.get_by_role("button", name="Save draft").click()
        await expect(page.get_by_text("Draft saved.")).to_be_visible()
        await page.get_by_role("button", name="Publish", exact=True).click()
        await expect(page.get_by_text("Version 1 is published.")).to_be_visible()
        await page.locator("main").get_by_role("link", name="Send", exact=True).click()
        await page.get_by_label("From", exact=True).fill(f"shop@{EXAMPLE}")
        await page.get_by_role("textbox", name="To", exact=True).fill("reader@elsewhere.test")
        await page.keyboard.press("Enter")
        await page.get_by_label("name", exact=True).fill("Rita")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_text("is missing: the template needs it")).to_be_visible()
        await page.get_by_label("link", exact=True).fill("https://shop.test/2")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_role("heading", name="Hello Rita")).to_be_visible()
    [found, *_] = await scene.super_admin.call("GET", "/messages?to=reader@elsewhere.test")
    assert found["template"]["version"] == 1


async def test_an_earlier_version_is_published_again(browser: Browser, scene: Scene):
    call = scene.super_admin.call
    template = await call("POST", "/templates", {"name": "Rollback", "subject": "First", "text_body": "One"})
    await call("POST", f"/templates/{template['id']}/publish", {})
    await call("PATCH", f"/templates/{template['id']}", {"subject": "Second"})
    await call("POST", f"/templates/{template['id']}/publish", {})
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/templates/{template['id']}?tab=versions")
        await page.get_by_role("button", name="Version 1").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_label("Rendered subject")).to_have_text("First")
        await dialog.get_by_role("button", name="Publish this version").click()
        await expect(page.get_by_text("Version 1 is published.")).to_be_visible()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_role("button", name="Delete template").click()
        await dialog.get_by_role("textbox").fill("Rollback")
        await dialog.get_by_role("button", name="Delete template").click()
        await expect(page.get_by_text("Template deleted.")).to_be_visible()


async def test_a_domain_admin_reads_and_sends(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/templates")
        await expect(page.get_by_role("button", name="New template")).to_have_count(0)
        await page.get_by_role("link", name="Order sent").click()
        frame = page.frame_locator("iframe[title='The rendered HTML']")
        await expect(frame.get_by_role("heading", name="Hello Alice")).to_be_visible()
        await expect(page.get_by_role("button", name="Save draft")).to_have_count(0)
        await page.locator("main").get_by_role("link", name="Send", exact=True).click()
        await expect(page.get_by_label("order.id", exact=True)).to_be_visible()
