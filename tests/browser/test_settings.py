"""The screen Settings: search, change, review, conflict, history, rollback, recent sign-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from mailkeep.run.runtime.context import attach
from tests.browser.scene import PASSWORD, Caller, Scene, log_in
from tests.browser.screens import open_context, open_page, visit, wait_until_loaded
from tests.browser.test_everyday import expect_notification
from tests.browser.test_screens import AXE, find_violations

LIVE, RESTART, SENSITIVE = "abuse.sender_per_hour", "smtp.timeout_seconds", "cors.origins"
SECRET = "outbound.relay_password"
RELAY = {"outbound.relay": "relay.example:587", "outbound.relay_username": "we", SECRET: "s3cret-word"}


@pytest.fixture(autouse=True)
async def _no_stored_settings(scene: Scene) -> AsyncIterator[None]:
    yield
    await scene.super_admin.call("POST", "/config/revisions/0/rollback", {"current_password": PASSWORD})


async def store(scene: Scene, changes: dict[str, Any], comment: str = "") -> int:
    body = {"changes": changes, "comment": comment, "current_password": PASSWORD}
    return (await scene.super_admin.call("PATCH", "/config", body))["revision"]


async def read(scene: Scene, key: str) -> dict[str, Any]:
    return next(each for each in await scene.super_admin.call("GET", "/config") if each["key"] == key)


def row(page: Page, key: str) -> Locator:
    return page.locator(f"[data-setting='{key}']")


def field(page: Page, key: str) -> Locator:
    return page.get_by_role("textbox", name=key, exact=True)


async def change(page: Page, key: str, value: str) -> None:
    await page.get_by_role("button", name=f"Change {key}", exact=True).click()
    await field(page, key).fill(value)


async def review(page: Page) -> Locator:
    await page.get_by_role("button", name="Review", exact=True).click()
    dialog = page.get_by_role("dialog", name="Review changes")
    await expect(changes_in(dialog)).to_be_visible()
    return dialog


def changes_in(dialog: Locator) -> Locator:
    return dialog.get_by_role("table", name="Changes")


async def age_session(scene: Scene, caller: Caller) -> None:
    """Make the session an hour old."""
    (current,) = [each for each in await caller.call("GET", "/auth/sessions") if each["current"]]
    async with attach(scene.instance.data_dir, "test") as app, app.db.tx() as conn:
        await conn.execute(
            "UPDATE sessions SET created_at = created_at - interval '1 hour' WHERE id = %(id)s",
            {"id": UUID(current["id"])},
        )


async def test_search_finds_settings_by_name_and_description(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/settings")
        assert await page.locator("[data-setting]").count() == len(await scene.super_admin.call("GET", "/config"))
        await expect(row(page, LIVE)).to_contain_text("default")
        await expect(row(page, LIVE)).to_contain_text("Applies at once")
        await expect(row(page, RESTART)).to_contain_text("Needs a restart of Mailkeep")
        # The scene starts with options on the command line.
        await expect(row(page, "http.listen")).to_contain_text("environment or option")
        await expect(row(page, "smtp.listen")).to_contain_text("change or remove it there")
        await expect(row(page, "tls.key_file")).to_contain_text("Names a file")
        assert await row(page, "tls.key_file").get_by_role("button").count() == 0

        search = page.get_by_label("Search by name or description")
        await search.fill("delivered to junk")
        await expect(page.locator("[data-setting]")).to_have_count(1)
        await expect(row(page, "filter.spam_score")).to_contain_text("Applies at once")  # no daemons
        await search.fill("no such setting")
        await page.get_by_role("button", name="Clear filters").click()
        await page.get_by_role("combobox", name="Show", exact=True).click()
        await page.get_by_role("option", name="Can be changed here").click()
        await expect(row(page, "tls.key_file")).to_have_count(0)
        await expect(row(page, LIVE)).to_be_visible()


async def test_changes_are_reviewed_and_saved_together(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/settings")
        await change(page, LIVE, "many")
        await change(page, RESTART, "7.5")
        await page.get_by_role("button", name="Change filter.learn").click()
        await page.get_by_role("switch", name="filter.learn").uncheck()
        # A search and another tab keep the edits.
        await page.get_by_label("Search by name or description").fill("sender")
        await page.get_by_role("tab", name="History").click()
        await page.get_by_role("tab", name="Settings").click()
        await expect(page.get_by_text("3 changes not saved")).to_be_visible()
        await page.get_by_role("button", name="Review", exact=True).click()
        await expect(row(page, LIVE).get_by_text("a whole number").first).to_be_visible()
        await expect(field(page, LIVE)).to_be_focused()
        await field(page, LIVE).fill("500")
        dialog = await review(page)
        await expect(changes_in(dialog).get_by_role("row")).to_have_count(4)
        await expect(dialog.get_by_role("row").filter(has_text=LIVE)).to_contain_text("default: 1000")
        await expect(dialog.get_by_role("row").filter(has_text=LIVE)).to_contain_text("500")
        await expect(dialog.get_by_role("row").filter(has_text=LIVE)).to_contain_text("Applies at once")
        await expect(changes_in(dialog).get_by_role("row").filter(has_text=RESTART)).to_contain_text("Needs a restart")
        action = dialog.get_by_role("table", name="Actions").get_by_role("row").filter(has_text="mailkeep")
        await expect(action).to_contain_text("restart")
        await dialog.get_by_label("Comment").fill("After the incident")
        await dialog.get_by_role("button", name="Save 3 changes").click()
        await expect_notification(page, "Saved. Some settings do not apply yet.")
        await expect(page.get_by_text("not saved")).to_have_count(0)
        await page.get_by_label("Search by name or description").fill("")
        await expect(row(page, LIVE)).to_contain_text("500")
        await expect(row(page, LIVE)).to_contain_text("database")
        await expect(row(page, RESTART)).to_contain_text("7.5")
        note = page.get_by_role("region", name="Settings that are not applied yet")
        await expect(note).to_contain_text("Restart Mailkeep on the server")
        await expect(note.get_by_role("button")).to_have_count(0)
        await note.get_by_role("link", name="View this setting").click()
        await expect(page.locator("[data-setting]")).to_have_count(1)
        await visit(page, scene.http, "/settings")
        (newest, *_) = await scene.super_admin.call("GET", "/config/revisions")
        assert (newest["comment"], len(newest["changes"])) == ("After the incident", 3)

        # Back to the default.
        await page.get_by_role("button", name=f"Use default of {LIVE}").click()
        dialog = await review(page)
        await expect(dialog.get_by_role("row").filter(has_text=LIVE)).to_contain_text("default: 1000")
        await dialog.get_by_role("button", name="Save 1 change").click()
        await expect(row(page, LIVE).get_by_text("default", exact=True)).to_be_visible()
    assert (await read(scene, LIVE))["source"] == "default"


async def test_a_secret_is_written_but_never_shown(browser: Browser, scene: Scene):
    await store(scene, RELAY)
    # A change of a secret needs a sign-in within the last 10 minutes; that of the scene may be older.
    recent = await log_in(scene.http, "admin@localhost", PASSWORD)
    async with open_context(browser, recent) as browser_context:
        page = await browser_context.new_page()
        await visit(page, scene.http, "/settings?section=outbound")
        await page.get_by_role("button", name=f"Change {SECRET}").click()
        secret = row(page, SECRET).locator("input")
        await expect(secret).to_have_value("")
        await expect(secret).to_have_attribute("type", "password")
        await secret.fill("another-word")
        dialog = await review(page)
        await expect(dialog.get_by_role("row").filter(has_text=SECRET)).to_contain_text("new secret")
        await dialog.get_by_role("button", name="Save 1 change").click()
        await expect_notification(page, "Saved.")
        assert "another-word" not in await page.content()
        # Another destination does not receive the stored secret: the server names the password.
        await change(page, "outbound.relay", "other.example:587")
        await page.get_by_role("button", name="Review", exact=True).click()
        await expect(row(page, SECRET).get_by_role("alert")).to_be_visible()


async def test_leaving_the_screen_with_edits_asks_first(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/settings")
        await change(page, LIVE, "7")
        await page.keyboard.press("Escape")
        await page.get_by_role("link", name="Audit log").click()
        dialog = page.get_by_role("dialog", name="Discard changes?")
        await dialog.get_by_role("button", name="Keep editing").click()
        await expect(field(page, LIVE)).to_have_value("7")
        await page.get_by_role("button", name=f"Undo the change of {LIVE}").click()
        await expect(page.get_by_role("button", name=f"Change {LIVE}")).to_be_focused()
        await page.get_by_role("link", name="Audit log").click()
        await expect(page.get_by_role("heading", name="Audit log")).to_be_visible()


async def test_of_two_sessions_the_second_sees_what_changed(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as first, open_page(browser, scene, "super_admin") as second:
        for page in (first, second):
            await visit(page, scene.http, "/settings")
        await change(first, LIVE, "300")
        await change(first, "abuse.domain_per_hour", "3000")
        dialog = await review(first)

        await change(second, LIVE, "200")
        await change(second, RESTART, "8")
        its_dialog = await review(second)

        await dialog.get_by_role("button", name="Save 2 changes").click()
        await expect_notification(first, "Saved.")
        await its_dialog.get_by_role("button", name="Save 2 changes").click()
        conflict = second.get_by_role("dialog", name="Changed meanwhile")
        await expect(conflict.get_by_role("row", name=f"{LIVE} 200 300")).to_be_visible()
        await expect(conflict.get_by_role("row", name="abuse.domain_per_hour 10000 3000")).to_be_visible()
        await expect(conflict.get_by_role("row")).to_have_count(4)  # the header, these, and the own change
        use = conflict.get_by_role("radiogroup", name="Value of abuse.domain_per_hour to use")
        await expect(use.get_by_label("Current")).to_be_checked()
        assert (await read(scene, LIVE))["value"] == 300

        await conflict.get_by_role("button", name="Review").click()
        its_dialog = second.get_by_role("dialog", name="Review changes")
        await expect(changes_in(its_dialog).get_by_role("row")).to_have_count(3)
        await expect(its_dialog.get_by_role("row").filter(has_text=LIVE)).to_contain_text("300")
        await its_dialog.get_by_role("button", name="Save 2 changes").click()
        await expect_notification(second, "Saved.")
    assert (await read(scene, LIVE))["value"] == 200
    assert (await read(scene, "abuse.domain_per_hour"))["value"] == 3000


async def test_a_secret_that_changed_meanwhile_is_a_conflict(browser: Browser, scene: Scene):
    await store(scene, RELAY)
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/settings?section=outbound")
        await page.get_by_role("button", name=f"Change {SECRET}").click()
        await row(page, SECRET).locator("input").fill("mine")
        await store(scene, {SECRET: "theirs"})
        await page.get_by_role("button", name="Review", exact=True).click()
        conflict = page.get_by_role("dialog", name="Changed meanwhile")
        await expect(conflict.get_by_role("row", name=SECRET)).to_contain_text("another secret")
        await conflict.get_by_role("radiogroup").get_by_text("Current", exact=True).click()
        await conflict.get_by_role("button", name="Keep editing").click()
        await expect(page.get_by_text("not saved")).to_have_count(0)


async def test_history_shows_revisions_and_rolls_back(browser: Browser, scene: Scene):
    n = await store(scene, {LIVE: 111}, "The good one")
    await store(scene, {LIVE: 222, RESTART: 9}, "The bad one")
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/settings?tab=history")
        newest = page.get_by_role("row").filter(has_text="The bad one")
        await expect(newest).to_contain_text("not applied yet")
        await expect(newest).to_contain_text(LIVE)
        await expect(newest).to_contain_text("admin@localhost")
        assert await newest.get_by_role("button").count() == 0  # it is the newest
        await page.get_by_role("button", name=f"Roll back to revision {n}", exact=True).click()
        dialog = page.get_by_role("dialog", name=f"Roll back to revision {n}")
        changed = dialog.get_by_role("row").filter(has_text=LIVE)
        await expect(changed).to_contain_text("222")
        await expect(changed).to_contain_text("111")
        await expect(dialog.get_by_role("row").filter(has_text=RESTART)).to_contain_text("default: 300")
        await dialog.get_by_label("Comment").fill("Back")
        await dialog.get_by_role("button", name="Roll back").click()
        await expect_notification(page, f"Rolled back: revision {n + 2}.")
        await expect(page.get_by_role("row").nth(1)).to_contain_text("Back")
    assert (await read(scene, LIVE))["value"] == 111
    assert "pending" not in await read(scene, RESTART)


async def test_a_sensitive_change_asks_for_the_password(browser: Browser, scene: Scene):
    caller = await scene.login("super_admin")
    await age_session(scene, caller)
    async with open_context(browser, caller) as context:
        page = await context.new_page()
        await visit(page, scene.http, "/settings")
        await change(page, SENSITIVE, "https://app.example")
        await field(page, SENSITIVE).press("Enter")
        dialog = await review(page)
        await dialog.get_by_label("Comment").fill("For the app")
        await dialog.get_by_role("button", name="Save 1 change").click()
        password = dialog.get_by_label("Your password")
        await password.fill("wrong word here")
        await dialog.get_by_role("button", name="Save 1 change").click()
        await expect(password).to_have_attribute("aria-invalid", "true")
        await password.fill(PASSWORD)
        await dialog.get_by_role("button", name="Save 1 change").click()
        await expect_notification(page, "Saved.")
        await expect(row(page, SENSITIVE)).to_contain_text("https://app.example")

        await page.get_by_role("tab", name="History").click()
        await page.get_by_role("button", name="Remove all stored settings").click()
        dialog = page.get_by_role("dialog", name="Remove all stored settings")
        await dialog.get_by_role("button", name="Remove").click()
        await dialog.get_by_label("Your password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Remove").click()
        await expect_notification(page, "Rolled back")
    assert (await read(scene, SENSITIVE))["source"] == "default"


async def test_signing_in_again_keeps_the_edits(browser: Browser, scene: Scene):
    caller = await scene.login("super_admin")
    await age_session(scene, caller)
    async with open_context(browser, caller) as context:
        page = await context.new_page()
        await visit(page, scene.http, "/settings")
        await change(page, "sessions.ttl_hours", "12")
        await change(page, SENSITIVE, "https://app.example")
        await field(page, SENSITIVE).press("Enter")
        dialog = await review(page)
        await dialog.get_by_role("button", name="Save 2 changes").click()
        await dialog.get_by_role("button", name="Sign in again").click()
        email, secret = scene.password("super_admin")
        await page.get_by_label("Email", exact=True).fill(email)
        await page.get_by_label("Password", exact=True).fill(secret)
        await store(scene, {"sessions.ttl_hours": 6})  # meanwhile
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await wait_until_loaded(page)
        await expect_notification(page, "Your changes are here again.")
        await expect(field(page, "sessions.ttl_hours")).to_have_value("12")
        await page.get_by_role("button", name="Review", exact=True).click()
        conflict = page.get_by_role("dialog", name="Changed meanwhile")
        await expect(conflict.get_by_role("row", name="sessions.ttl_hours 12 6")).to_be_visible()
        await conflict.get_by_role("button", name="Review").click()
        dialog = page.get_by_role("dialog", name="Review changes")
        await dialog.get_by_role("button", name="Save 2 changes").click()
        await expect_notification(page, "Saved.")
    assert (await read(scene, SENSITIVE))["value"] == ["https://app.example"]


async def test_a_change_is_possible_with_the_keyboard_alone(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.press("g")
        await page.keyboard.press("t")
        await expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
        await wait_until_loaded(page)
        await page.keyboard.press("/")
        await page.keyboard.type(LIVE)
        await expect(page.locator("[data-setting]")).to_have_count(1)
        await page.get_by_role("button", name=f"Change {LIVE}").focus()
        await page.keyboard.press("Enter")
        await expect(field(page, LIVE)).to_be_focused()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("77")
        await page.get_by_role("button", name="Review", exact=True).focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog").get_by_label("Comment")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect_notification(page, "Saved. The settings apply now.")
    assert (await read(scene, LIVE))["value"] == 77


async def test_administrators_of_lower_rank_see_no_settings(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/settings")
        await expect(page.get_by_text("Only super administrators have access.")).to_be_visible()
        await expect(page.locator("[data-setting]")).to_have_count(0)


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 320, "height": 700}}], ids=str)
async def test_axe_finds_nothing_while_editing(browser: Browser, scene: Scene, options: dict[str, Any]):
    await store(scene, RELAY | {LIVE: 50, RESTART: 7}, "A relay")
    caller = await scene.login("super_admin")
    await age_session(scene, caller)
    async with open_context(browser, caller, bypass_csp=True, reduced_motion="reduce", **options) as context:
        page = await context.new_page()
        await visit(page, scene.http, "/settings")
        await page.add_script_tag(path=AXE)
        for key in (LIVE, "log.level", "server.addresses", "filter.learn", "sendmail.allowed", SECRET):
            await page.get_by_role("button", name=f"Change {key}", exact=True).click()
        await field(page, LIVE).fill("many")
        await page.get_by_role("button", name="Review", exact=True).click()
        await expect(page.get_by_role("alert").first).to_be_visible()
        assert await find_violations(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await field(page, LIVE).fill("60")
        await change(page, SENSITIVE, "https://app.example")
        await field(page, SENSITIVE).press("Enter")
        dialog = await review(page)
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_label("Your password")).to_be_visible()
        assert await find_violations(page) == []
        await dialog.get_by_role("button", name="Keep editing").click()
        await page.get_by_role("tab", name="History").click()
        await wait_until_loaded(page)
        await page.get_by_role("button", name="Remove all stored settings").click()
        await expect(changes_in(page.get_by_role("dialog"))).to_be_visible()
        assert await find_violations(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
