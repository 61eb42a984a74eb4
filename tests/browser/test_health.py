"""The screen Health: components with advice, alerts, and the forecast of the disk."""

from __future__ import annotations

from playwright.async_api import Browser, expect

from tests.browser.scene import Scene, report_component
from tests.browser.screens import open_page, visit, wait_until_loaded
from tests.browser.test_everyday import expect_notification


async def test_components_alerts_and_the_disk(browser: Browser, scene: Scene):
    found = {each["component"]: each for each in (await scene.super_admin.call("GET", "/health/details"))["components"]}
    # Another test acknowledges the alert of the scene.
    await report_component(scene, "antivirus", "ClamAV does not answer at 192.0.2.1: see log/clamd.log.")
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.press("g")
        await page.keyboard.press("Shift+H")
        await page.wait_for_url("**/server-health")
        await wait_until_loaded(page)
        rows = page.get_by_role("table", name="Components").get_by_role("row")
        await expect(rows).to_have_count(len(found) + 1)
        database = rows.filter(has=page.get_by_role("cell", name="Database", exact=True))
        await expect(database).to_contain_text(found["database"]["version"])
        await expect(database).to_contain_text("ms")
        await expect(rows.filter(has_text="Replication")).to_contain_text("nothing is replicated")
        disk = rows.filter(has=page.get_by_role("cell", name="Disk", exact=True))
        await disk.get_by_text("Details", exact=True).click()
        await expect(disk).to_contain_text("free inodes")

        alert = page.get_by_role("table", name="Alerts").get_by_role("row").filter(has_text="ClamAV")
        await expect(alert).to_contain_text("does not answer at 192.0.2.1")
        await alert.get_by_role("button", name="Acknowledge").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("I look after it.")
        await page.get_by_role("dialog").get_by_role("button", name="Acknowledge").click()
        await expect_notification(page, "Nobody is reminded of this alert any more.")
        await expect(alert).to_contain_text("acknowledged")
        await expect(alert).to_contain_text("I look after it.")
        await expect(alert.get_by_role("button", name="Acknowledge")).to_have_count(0)
        await alert.get_by_role("button", name="Resolve").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("It was restarted.")
        await page.get_by_role("dialog").get_by_role("button", name="Resolve").click()
        await expect_notification(page, "The alert is resolved.")
        await expect(alert).to_have_count(0)
        [resolved, *_] = await scene.super_admin.call("GET", "/health/alerts?state=resolved&kind=health_antivirus")
        assert resolved["note"] == "It was restarted."

        chart = page.get_by_role("figure", name="Use of the disk")
        await expect(chart.locator("canvas")).to_have_count(1)
        await chart.get_by_text("Show as table").click()
        # 20 days and today, and a forecast of 14 days.
        await expect(chart.get_by_role("row")).to_have_count(1 + 21 + 14)
        await expect(chart.get_by_role("row").last).not_to_contain_text("– – –")
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/server-health")
        await expect(page.get_by_role("main")).to_contain_text("super")
        await expect(page.get_by_role("table", name="Components")).to_have_count(0)
