"""Why the owner of a mailbox can't sign in, on the screen of the mailbox."""

from __future__ import annotations

from datetime import timedelta

from playwright.async_api import Browser, expect

from mailkeep.core.ids import uuid7
from mailkeep.features.access.sign_in_protection import store
from mailkeep.features.access.sign_in_protection.model import NewBlock
from mailkeep.run.runtime.context import attach
from tests.browser.owners import make_owner
from tests.browser.scene import Scene
from tests.browser.screens import open_page, visit


async def test_the_mailbox_says_that_sign_ins_are_blocked(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    async with attach(scene.instance.data_dir, "tests") as app, app.db.tx() as conn:
        at = app.clock()
        block = NewBlock(f"mailbox:{address}", None, 12, at + timedelta(minutes=15))
        await store.upsert_block(conn, uuid7(at), block, uuid7(at), at)
    note = "Sign-ins with a password are refused until"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}")
        await expect(page.get_by_text(note)).to_have_count(0)  # it may not see blocks
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}")
        await expect(page.get_by_text(note)).to_be_visible()
        await expect(page.get_by_text("After 12 wrong passwords")).to_be_visible()
        await page.get_by_role("link", name="View sign-in blocks").click()
        await page.get_by_role("button", name=f"Remove block of {address}").click()
        await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        await expect(page.get_by_role("row").filter(has_text=address)).to_have_count(0)
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}")
        await expect(page.get_by_text(note)).to_have_count(0)
