"""The screen Analytics: its figures are the API's, and lead to the messages behind them."""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.browser.scene import EXAMPLE, Scene, wait_until
from tests.browser.screens import open_page, visit, wait_until_loaded
from tests.browser.test_screens import AXE, find_violations

OVERVIEW = "/analytics/overview?period=7d"


async def tile(page: Page, name: str) -> str:
    return await page.get_by_role("region", name=name, exact=True).locator(".tile-count").inner_text()


async def test_figures_lead_to_their_messages(browser: Browser, scene: Scene):
    complained = {
        "from": {"email": f"alice@{EXAMPLE}"},
        "to": [{"email": "complaint@elsewhere.test"}],
        "subject": "Buy",
    }
    await scene.super_admin.call("POST", "/send", complained | {"text_body": "Hello."})
    names = ("delivered", "bounced", "received", "complained")
    await wait_until(scene, OVERVIEW, lambda found: all(found[name] for name in names))
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.press("g")
        await page.keyboard.press("g")
        await page.wait_for_url("**/analytics")
        await wait_until_loaded(page)
        await expect(page.locator(".day-chart-plot canvas")).to_have_count(3)
        figures = await scene.super_admin.call("GET", OVERVIEW)
        for label, name in (("Delivered", "delivered"), ("Bounced", "bounced"), ("Received", "received")):
            assert await tile(page, label) == str(figures[name]), label
            assert figures["previous"][name]
            compared = page.get_by_role("region", name=label, exact=True).get_by_text("before")
            await expect(compared).to_contain_text(str(figures["previous"][name]))
        rate = figures["complaint_rate"]
        assert await tile(page, "Complaint rate") == f"{round(100 * rate, 1 if rate > 0.1 else 2):g} %"
        domain = page.get_by_role("table", name="Domains").get_by_role("row").filter(has_text=EXAMPLE)
        await expect(domain.get_by_role("cell", name=f"{figures['complained']} (")).to_have_count(1)
        bounces = page.get_by_role("table", name="Bounces")
        await expect(bounces.get_by_text("invalid_recipient")).to_be_visible()
        for table in (bounces, page.get_by_role("table", name="Destinations")):
            # A bar for each row; that of the largest sum fills its cell.
            bars = table.locator(".stacked-bar")
            await expect(bars).to_have_count(await table.get_by_role("row").count() - 1)
            rests: list[float] = await bars.evaluate_all(
                "all => all.map((bar) => 1 - [...bar.children].reduce((sum, part) => sum + part.offsetWidth, 0)"
                " / bar.offsetWidth)"
            )
            assert min(rests) == pytest.approx(0, abs=0.05)
            assert 0 < max(rests) < 1
        await page.get_by_role("region", name="Bounced", exact=True).get_by_role("link").click()
        await page.wait_for_url("**/messages?direction=outbound&status=bounced&since=*")
        await expect(page.get_by_role("link", name="Your invoice 2026-1041").first).to_be_visible()
        await page.go_back()
        # A click on the last bar opens the messages of the day, as the link in the table does.
        plot = page.locator(".day-chart-plot .u-over").first
        await plot.scroll_into_view_if_needed()
        box = await plot.bounding_box()
        assert box is not None
        await page.mouse.click(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)
        await page.wait_for_url("**/messages?direction=outbound&since=*")
        await expect(page.get_by_role("link", name="Your invoice 2026-1041").first).to_be_visible()
        await page.go_back()
        await bounces.get_by_role("row", name="invalid_recipient").get_by_role("link").first.click()
        await page.wait_for_url("**/messages?direction=outbound&status=bounced&class=invalid_recipient&since=*")
        await expect(page.get_by_role("link", name="Your invoice 2026-1041").first).to_be_visible()
        await page.go_back()
        await page.get_by_role("link", name="Messages of Others").click()
        await page.wait_for_url("**/messages?direction=outbound&provider=other&since=*")
        await expect(page.get_by_role("combobox", name="Provider")).to_have_value("Others")
        await expect(page.get_by_role("link", name="Your invoice 2026-1041").first).to_be_visible()


async def test_filters_exclude_each_other_and_a_table_is_exported(browser: Browser, scene: Scene, tmp_path: Path):
    await wait_until(scene, "/analytics/tags?period=7d", lambda rows: any(row["tag"] == "orders" for row in rows))
    async with open_page(browser, scene, "domain_admin", accept_downloads=True) as page:
        await visit(page, scene.http, "/analytics?provider=other")
        await expect(page.get_by_role("region", name="Accepted", exact=True)).to_have_count(0)
        await page.get_by_role("combobox", name="Tag").click()
        await page.get_by_role("option", name="orders").click()
        await page.wait_for_url("**/analytics?tag=orders")
        figures = await scene.caller("domain_admin").call("GET", f"{OVERVIEW}&tag=orders")
        await expect(page.get_by_role("region", name="Accepted").locator(".tile-count")).to_have_text(
            str(figures["accepted"])
        )
        await expect(page.get_by_role("table", name="Tags")).to_have_count(0)
        await page.get_by_role("button", name="Clear", exact=True).click()
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Export CSV of domains").click()
        path = tmp_path / "domains.csv"
        await (await download.value).save_as(path)
        rows = list(csv.DictReader(StringIO(path.read_text())))
        assert [row["domain_id"] for row in rows] == [scene.ids["domain_id"]]
        summary = page.locator("summary").first
        await summary.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("table", name="Sent mail").get_by_role("row")).to_have_count(8)
        await page.get_by_role("radio", name="7 days").focus()
        await page.keyboard.press("ArrowLeft")
        await page.wait_for_url("**/analytics?period=24h")
        await expect(page.get_by_role("table", name="Sent mail").get_by_role("row")).to_have_count(25)


async def test_hours_of_a_change_of_the_clocks(browser: Browser, scene: Scene):
    """25 October 2026 has 25 hours in Berlin. Axe finds nothing in the tables of the charts."""
    zone, begin = ZoneInfo("Europe/Berlin"), datetime(2026, 10, 24, 22, tzinfo=UTC)
    hours = [begin + timedelta(hours=number) for number in range(24)]
    options: dict[str, Any] = {"timezone_id": str(zone), "bypass_csp": True, "reduced_motion": "reduce"}  # for axe
    async with open_page(browser, scene, "super_admin", **options) as page:

        async def move(route: Route) -> None:
            """The real figures, at other times."""
            response = await route.fetch()
            answer = await response.json()
            if isinstance(answer["data"], list):
                answer["data"] = [row | {"at": at.isoformat()} for row, at in zip(answer["data"], hours, strict=True)]
            else:
                answer["data"] |= {"since": begin.isoformat(), "until": (hours[-1] + timedelta(minutes=9)).isoformat()}
            await route.fulfill(response=response, json=answer)

        await page.route(re.compile("/analytics/(overview|timeseries)"), move)
        await visit(page, scene.http, "/analytics?period=24h")
        for summary in await page.locator(".day-chart summary").all():
            await summary.click()
        rows = page.get_by_role("table", name="Sent mail").get_by_role("row")
        await expect(rows).to_have_count(25)
        links = await rows.get_by_role("link").all()
        labels = [await each.inner_text() for each in links]
        assert len(set(labels)) == 24
        assert [each for each in labels if "02:00" in each] == ["25 Oct 2026, 02:00 GMT+2", "25 Oct 2026, 02:00 GMT+1"]
        for link, at in zip(links, hours, strict=True):
            (since,) = parse_qs(urlsplit(await link.get_attribute("href") or "").query)["since"]
            assert datetime.fromisoformat(since).replace(tzinfo=zone, fold=1) <= at
        await page.add_script_tag(path=AXE)
        assert await find_violations(page) == []


async def test_without_figures_and_without_a_server_it_says_so(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/analytics?tag=nothing-has-this")
        await expect(page.get_by_role("heading", name="No matching figures")).to_be_visible()
        await page.route("**/api/v1/analytics/**", lambda route: route.abort())
        await page.get_by_role("button", name="Clear filters").click()
        await expect(page.get_by_role("alert").first).to_contain_text(
            "The server could not be reached.", timeout=20_000
        )
