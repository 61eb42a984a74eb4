"""The tab Reports of a domain: advice, chart and table, and the upload of a report."""

from __future__ import annotations

import gzip
import time

from playwright.async_api import Browser, expect

from tests.browser.scene import Scene
from tests.browser.screens import PHONE, open_page, visit
from tests.browser.test_screens import AXE, find_violations
from tests.support.reports import DAY, Dmarc, Record


async def test_a_report_is_uploaded_and_its_source_appears(browser: Browser, scene: Scene):
    begin = int(time.time()) // DAY * DAY - DAY
    report = Dmarc(
        [Record("203.0.113.200", 12, "fail", "fail")], organisation="upload.test", begin=begin, end=begin + DAY - 1
    )
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}")
        await page.get_by_role("tab", name="Reports").click()
        await expect(page.get_by_text("Stay at p=none for now.")).to_be_visible()
        await expect(page.get_by_text("authenticated for crm.test only")).to_be_visible()
        await expect(page.locator(".day-chart-plot canvas")).to_have_count(2)
        choose = page.locator("input[type=file]")
        await choose.set_input_files({"name": "bad.xml", "mimeType": "text/xml", "buffer": b"<!DOCTYPE x><feedback/>"})
        await expect(page.get_by_text("has a DTD").first).to_be_visible()
        await choose.set_input_files(
            {"name": "r.gz", "mimeType": "application/gzip", "buffer": gzip.compress(report.xml())}
        )
        await expect(page.get_by_text("Uploaded the report.")).to_be_visible()
        row = page.get_by_role("table", name="Sources").get_by_role("row").filter(has_text="203.0.113.200")
        await expect(row).to_contain_text("not authenticated")
        await expect(page.get_by_role("table", name="Received reports").get_by_text("upload.test")).to_be_visible()


async def test_the_period_and_the_table_work_with_the_keyboard_and_on_a_phone(browser: Browser, scene: Scene):
    options = {"viewport": PHONE, "color_scheme": "dark", "bypass_csp": True, "reduced_motion": "reduce"}
    async with open_page(browser, scene, "domain_admin", **options) as page:
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}?tab=reports")
        await page.get_by_role("radio", name="30 days").first.focus()
        await page.keyboard.press("ArrowLeft")
        await page.wait_for_url("**period=7d**")
        summary = page.locator("summary").first
        await summary.focus()
        await page.keyboard.press("Enter")
        table = page.get_by_role("table", name="Messages per day")
        await expect(table.get_by_role("row")).to_have_count(8)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.add_script_tag(path=AXE)
        assert await find_violations(page) == []
        await expect(page.get_by_role("button", name="Upload report")).to_have_count(0)
