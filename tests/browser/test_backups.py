"""The screens of backups: what is missing, the contents of a backup, what runs, a restore, the policy."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from mailkeep.app import App
from mailkeep.core.ids import uuid7
from mailkeep.db.liveness import LivenessLock
from mailkeep.features.operations.backups import store
from mailkeep.features.operations.backups.model import Backup, BackupOperation
from mailkeep.run.runtime.context import attach
from tests.browser.front import Front
from tests.browser.scene import EXAMPLE, PASSWORD, Scene, wait_until
from tests.browser.screens import PHONE, WIDE, FaultRecorder, navigate, open_context, open_page, visit
from tests.browser.test_everyday import expect_notification
from tests.browser.test_screens import AXE, find_violations

DOMAIN = "restored.test"
RITA, BEA = f"rita@{DOMAIN}", f"bea@{DOMAIN}"


async def test_a_backup_is_browsed_and_the_policy_changed(browser: Browser, front: Front):
    async with open_page(browser, front, "super_admin") as page:
        await visit(page, front.http, "/backups")
        await expect(page.get_by_text("There is no recovery key")).to_be_visible()
        await expect(page.locator(".day-chart-plot canvas")).to_have_count(1)
        link = f"a[href$='{front.scene.ids['backup_id']}']"
        await page.get_by_role("table", name="Backups").locator(link).click()
        contents = page.get_by_role("table", name="Contents of the backup")
        await contents.get_by_role("button", name=EXAMPLE, exact=True).click()
        await contents.get_by_role("button", name=f"alice@{EXAMPLE}", exact=True).click()
        await expect(contents.get_by_role("cell", name="INBOX")).to_be_visible()
        await page.get_by_label("Find a message by its Message-ID").fill("<absent@example.test>")
        await expect(page.get_by_text("No message with this Message-ID is in the backup.")).to_be_visible()

        await visit(page, front.http, "/backups?tab=policy")
        await page.get_by_label("Days", exact=True).fill("9")
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "The policy was saved.")
        policy = await front.scene.super_admin.call("GET", "/backups/policy")
        assert policy["retention"]["daily"] == 9


@asynccontextmanager
async def open_recent_page(browser: Browser, scene: Scene, **options: Any) -> AsyncIterator[Page]:
    """A page of an administrator who has just signed in, with axe."""
    caller = await scene.login("super_admin")
    options = {"bypass_csp": True, "reduced_motion": "reduce"} | options
    async with open_context(browser, caller, **options) as context:
        page = await context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        yield page
        assert recorder.faults == []


@pytest.mark.timeout(240)
async def test_a_backup_is_made_and_a_domain_restored(browser: Browser, scene: Scene):
    """By keyboard, on a phone."""
    call = scene.super_admin.call
    domain = await call("POST", "/domains", {"name": DOMAIN})
    ids = {name: await make_mailbox(scene, domain["id"], name) for name in ("rita", "bea", "tom")}
    await scene.deliver(RITA, "Kept")
    await scene.deliver(RITA, "Deleted by mistake")
    await call("DELETE", f"/mailboxes/{ids['tom']}")
    async with open_recent_page(browser, scene, viewport=PHONE) as page:
        await visit(page, scene.http, "/backups")
        await page.get_by_role("button", name="Make a backup").press("Enter")
        await navigate(page, "/domains")
        await expect_notification(page, "The backup was made.")

        [newest, *_] = await call("GET", "/backups?limit=1")
        await call("DELETE", f"/mailboxes/{ids['bea']}?purge=true")
        await make_mailbox(scene, domain["id"], "bea")
        delete_message(scene.instance.data_dir / "mail" / ids["rita"], b"Deleted by mistake")

        await navigate(page, f"/backups/{newest['id']}")
        contents = page.get_by_role("table", name="Contents of the backup")
        await contents.get_by_role("button", name=DOMAIN, exact=True).press("Enter")
        dialog = await open_restore(page, f"tom@{DOMAIN}")
        await dialog.get_by_role("button", name="Count what it would do").press("Enter")
        failed = re.compile("It has failed: This mailbox was in the trash when the backup was made")
        await expect(dialog.get_by_role("status")).to_have_text(failed, timeout=60_000)
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)

        await page.get_by_role("button", name="← Domains").press("Enter")
        dialog = await open_restore(page, DOMAIN)
        await dialog.get_by_role("radio", name="A new folder").press("ArrowDown")
        await expect(dialog.get_by_role("radio", name="The folders they were in")).to_be_checked()
        await page.keyboard.press("Enter")
        await expect(dialog.get_by_role("status")).to_contain_text("Would restore 1 message", timeout=60_000)
        await expect(dialog.get_by_role("status")).to_contain_text("into the folders they were in.")
        lines = ["1 message there already", "1 mailbox skipped", f"{BEA} belongs to another mailbox now."]
        for text in lines:
            await expect(dialog).to_contain_text(text)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.add_script_tag(path=AXE)
        violations = await find_violations(page)
        await page.set_viewport_size({"width": WIDE["width"], "height": WIDE["height"]})
        violations += await find_violations(page)
        assert violations == []
        await dialog.get_by_role("button", name="Restore", exact=True).press("Enter")
        await expect(dialog.get_by_role("status")).to_contain_text("Restored 1 message", timeout=60_000)
        await expect(page.get_by_role("button", name="Restore: Restored")).to_be_visible()
        await dialog.get_by_role("button", name="Close", exact=True).last.press("Enter")
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_role("button", name="Restore: Restored")).to_have_count(0)
    assert len(list_messages(scene.instance.data_dir / "mail" / ids["rita"])) == 2


async def make_mailbox(scene: Scene, domain_id: str, name: str) -> str:
    body = {"domain_id": domain_id, "local_part": name, "password": PASSWORD}
    return (await scene.super_admin.call("POST", "/mailboxes", body))["id"]


def list_messages(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file() and path.parent.name in ("new", "cur")]


def delete_message(home: Path, text: bytes) -> None:
    [found] = [path for path in list_messages(home) if text in path.read_bytes()]
    found.unlink()


async def open_restore(page: Page, name: str) -> Locator:
    contents = page.get_by_role("table", name="Contents of the backup")
    await contents.get_by_role("button", name=f"Restore {name}", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name=f"Restore {name}")
    await expect(dialog).to_be_visible()
    return dialog


@asynccontextmanager
async def running_backup(scene: Scene) -> AsyncIterator[tuple[App, BackupOperation]]:
    """A backup of a process that is alive and does nothing: the test sets its progress."""
    await wait_until(scene, "/backups/policy", lambda policy: policy["operation"] is None)
    async with attach(scene.instance.data_dir, "test") as app:
        lock, at = LivenessLock(app.db), app.clock()
        process = await lock.hold()
        backup = Backup(uuid7(at), "running", "schedule", at, version="1")
        operation = BackupOperation(uuid7(at), "create", "waiting", backup.id, None, "schedule", at)
        async with app.db.tx() as conn:
            await store.insert_backup(conn, backup)
            assert await store.insert_operation(conn, operation)
            assert await store.claim_operation(conn, process, at)
        try:
            yield app, operation
        finally:
            await end(app, operation)
            await lock.release()


async def end(app: App, operation: BackupOperation) -> None:
    async with app.db.tx() as conn:
        await store.finish_operation(conn, operation.id, "cancelled", app.clock())
        assert operation.backup_id
        await store.cancel_waiting_backup(conn, operation.backup_id, app.clock())


async def is_cancel_requested(app: App, operation_id: UUID) -> bool:
    async with app.db.autocommit() as conn:
        found = await store.find_operation(conn, operation_id)
    assert found
    return found.is_cancel_requested


async def test_the_progress_is_shown_and_cancelled(browser: Browser, scene: Scene):
    async with running_backup(scene) as (app, operation), open_recent_page(browser, scene) as page:
        await visit(page, scene.http, "/backups")
        card, table = page.get_by_role("region", name="Operation"), page.get_by_role("table", name="Backups")
        for done in (1, 2):
            async with app.db.autocommit() as conn:
                await store.save_progress(conn, replace(operation, phase="upload", done=done, total=4))
            await expect(card).to_contain_text(f"Backup: upload {done * 25} %")
            await expect(table).to_contain_text(f"Backup: upload {done * 25} %")
        await expect(card.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
        await page.add_script_tag(path=AXE)
        assert await find_violations(page) == []
        await expect(page.get_by_role("button", name="Make a backup")).to_have_attribute("aria-disabled", "true")

        # Another operation is refused, with the way to the one that runs.
        stored = scene.ids["backup_id"]
        await navigate(page, f"/backups/{stored}")
        dialog = await open_restore(page, EXAMPLE)
        await dialog.get_by_role("button", name="Count what it would do").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("Another operation on backups is running")
        link = dialog.get_by_role("link", name="View the running operation")
        await expect(link).to_have_attribute("href", "/backups")

        # One that was started in this browser is in the header of every screen.
        followed = [{"ids": [str(operation.id)], "title": "Backup", "names": [], "backup": str(operation.backup_id)}]
        await page.evaluate("(text) => sessionStorage.setItem('mailkeep-operations', text)", json.dumps(followed))
        await page.set_viewport_size({"width": 320, "height": 640})
        await visit(page, scene.http, "/domains")
        await page.get_by_role("button", name="Backup: upload 50 %").press("Enter")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.get_by_role("dialog", name="Backup").get_by_role("button", name="Cancel").press("Enter")
        await expect_notification(page, "It is being cancelled.")
        assert await is_cancel_requested(app, operation.id)
        await page.keyboard.press("Escape")
        await navigate(page, "/backups")
        await expect(card).to_contain_text("Backup: being cancelled")
        await expect(card.get_by_role("button")).to_have_count(0)
        await end(app, operation)
        await expect(card).to_contain_text("No operation is running.")
        await expect(table.get_by_text("cancelled", exact=True).first).to_be_visible()
        await page.get_by_role("button", name="Backup: Cancelled").press("Enter")
        await page.get_by_role("dialog", name="Backup").get_by_role("button", name="Close", exact=True).last.click()
        await expect(page.get_by_role("button", name="Backup: Cancelled")).to_have_count(0)
