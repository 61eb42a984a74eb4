"""The screen Services of a full instance: state, operations, a plan, an edit by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.browser.scene import log_in
from tests.browser.screens import PHONE, WIDE, FaultRecorder, open_context, require_dashboard, visit
from tests.browser.test_screens import AXE, find_violations
from tests.stack.harness import ADMIN, PASSWORD, Stack, eventually

SERVICE = "sendmail"


@asynccontextmanager
async def open_services(browser: Browser, stack: Stack, tab: str = "", **options: Any) -> AsyncIterator[Page]:
    require_dashboard()
    async with open_context(browser, await log_in(stack.api, ADMIN, PASSWORD), **options) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(stack.api)
        recorder.attach(page)
        await visit(page, stack.api, f"/services?tab={tab}" if tab else "/services")
        yield page
        # A node that is busy answers 503 for a plan; the screen says so and asks again.
        faults = [each for each in recorder.faults if not re.fullmatch(r"503 \S+/orchestrator/plan", each)]
        assert faults == []


def row(page: Page, service: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_text(service, exact=True))


async def choose(page: Page, service: str, action: str) -> Locator:
    await page.get_by_role("button", name=f"Actions of {service}", exact=True).click()
    await page.get_by_role("menuitem", name=action, exact=True).click()
    return page.get_by_role("dialog", name=f"{action} {service}")


async def perform(page: Page, service: str, action: str) -> None:
    dialog = await choose(page, service, action)
    await dialog.get_by_role("button", name=action, exact=True).click()
    operation = page.get_by_role("dialog", name="Operation")
    await expect(operation.get_by_role("list").get_by_text(f"{action.lower()} {service}")).to_be_visible()
    await expect(operation.get_by_role("status").first).to_have_text("succeeded")
    await page.keyboard.press("Escape")
    await expect(operation).to_have_count(0)


async def test_a_service_is_stopped_and_started(browser: Browser, alone: Stack) -> None:
    async with open_services(browser, alone) as page:
        await expect(row(page, "postfix")).to_contain_text("running")
        await expect(row(page, "database").get_by_role("button")).to_have_count(0)
        dialog = await choose(page, SERVICE, "Stop")
        await expect(dialog).to_contain_text("can't send with the sendmail command")
        await dialog.get_by_role("button", name="Cancel").click()
        await perform(page, SERVICE, "Stop")
        await expect(row(page, SERVICE)).to_contain_text("stopped")
        await expect(page.get_by_text("1 not running")).to_be_visible()
        await perform(page, SERVICE, "Start")
        await expect(row(page, SERVICE)).to_contain_text("running")
        await page.get_by_role("tab", name="Operations").click()
        newest = page.get_by_role("row").nth(1)
        await expect(newest).to_contain_text("Start sendmail")
        await expect(newest).to_contain_text("succeeded")
        await expect(newest).to_contain_text(ADMIN)
        await newest.get_by_role("link").click()
        await expect(page.get_by_role("dialog").get_by_text("start sendmail", exact=True)).to_be_visible()


async def test_a_refused_action_links_to_the_running_one(browser: Browser, alone: Stack) -> None:
    async with open_services(browser, alone) as page:
        dialog = await choose(page, SERVICE, "Restart")
        answer = await asyncio.to_thread(alone.ask, "POST", "/orchestrator/services/prefork/restart")
        assert answer.status == 202, answer
        await dialog.get_by_role("button", name="Restart").click()
        await dialog.get_by_role("link", name="View the running operation").click()
        operation = page.get_by_role("dialog", name="Operation")
        await expect(operation).to_contain_text("Restart prefork")
        await expect(operation.get_by_role("status").first).to_have_text("succeeded")
        await expect(dialog).to_have_count(0)


async def test_an_edit_by_hand_and_a_plan_are_shown(browser: Browser, alone: Stack) -> None:
    file = alone.data_dir / "rspamd" / "conf" / "local.d" / "greylist.conf"
    before = file.read_text()
    changes = {"filter.dns_servers": alone.filter_servers(2)}
    try:
        file.write_text(before + "# by hand\n")
        await asyncio.to_thread(alone.do, "PATCH", "/config", {"changes": changes})
        options: dict[str, Any] = {"viewport": WIDE, "bypass_csp": True, "reduced_motion": "reduce"}
        async with open_services(browser, alone, **options) as page:
            await page.add_script_tag(path=AXE)
            for viewport in (WIDE, PHONE):
                await page.set_viewport_size(viewport)
                await page.get_by_role("tab", name="State").click()
                violations = await find_violations(page)
                await row(page, "rspamd").get_by_role("link", name="edited by hand").click()
                diff = page.get_by_label("Difference of rspamd/local.d/greylist.conf")
                await expect(diff.locator(".diff-added")).to_contain_text("+# by hand")
                violations += await find_violations(page)
                await page.get_by_role("tab", name="Plan").click()
                await expect(page.get_by_text("1 setting will take effect")).to_be_visible()
                action = page.get_by_role("table", name="Actions").get_by_role("row").filter(has_text="rspamd")
                await expect(action).to_contain_text("reload")
                diff = page.get_by_label("Difference of rspamd/local.d/options.inc")
                await expect(
                    diff.locator(".diff-added").filter(has_text=f'{alone.names}:53", "{alone.names}:53')
                ).to_be_visible()
                await expect(
                    page.get_by_role("listitem").filter(has_text="rspamd").get_by_text("passed")
                ).to_be_visible()
                await expect(page.get_by_text("Edited by hand, and kept as they are")).to_be_visible()
                violations += await find_violations(page)
                width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert (violations, width) == ([], 0), viewport
    finally:
        file.write_text(before)
        await asyncio.to_thread(alone.do, "PATCH", "/config", {"changes": dict.fromkeys(changes)})
    await asyncio.to_thread(eventually, lambda: not alone.do("GET", "/orchestrator/plan")["actions"])


async def test_edits_by_hand_are_adopted_and_overwritten(browser: Browser, alone: Stack) -> None:
    conf = alone.data_dir / "rspamd" / "conf" / "local.d"
    adopted, overwritten = conf / "greylist.conf", conf / "actions.conf"
    adopted.write_text(adopted.read_text() + "expire = 3d;\n")
    overwritten.write_text(overwritten.read_text() + "unknown_action = 3;\n")
    try:
        options: dict[str, Any] = {"viewport": PHONE, "bypass_csp": True, "reduced_motion": "reduce"}
        async with open_services(browser, alone, "drift", **options) as page:
            await page.add_script_tag(path=AXE)
            for viewport in (PHONE, WIDE):
                await page.set_viewport_size(viewport)
                choice = page.get_by_role("radiogroup", name="Decision about rspamd/local.d/greylist.conf")
                await choice.get_by_text("Adopt into the settings").click()
                lines = page.get_by_label("Adopted lines of rspamd/local.d/greylist.conf")
                await expect(lines).to_have_text("expire = 3d;")
                other = page.get_by_role("radiogroup", name="Decision about rspamd/local.d/actions.conf")
                await expect(other.get_by_role("radio", name="Adopt into the settings")).to_be_disabled()
                reasons = page.get_by_label("What can’t be adopted of rspamd/local.d/actions.conf")
                await expect(reasons).to_contain_text("actions.conf is none of the possible files")
                await other.get_by_text("Overwrite").click()
                violations = await find_violations(page)
                width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert (violations, width) == ([], 0), viewport
                if viewport == WIDE:
                    await page.get_by_role("button", name="Apply 2 decisions").click()
                    dialog = page.get_by_role("dialog", name="Apply the plan")
                    await expect(dialog).to_contain_text("Adopted into the settings, as a new revision")
                    await dialog.get_by_label("Watch the services").fill("5")
                    await dialog.get_by_role("button", name="Apply").click()
                    operation = page.get_by_role("dialog", name="Operation")
                    await expect(operation.get_by_role("status").first).to_have_text("succeeded", timeout=90_000)
                    await page.keyboard.press("Escape")
                    await expect(page.get_by_text("local.d/greylist.conf")).to_have_count(0)
        assert (adopted.read_text().splitlines()[-1], "unknown" in overwritten.read_text()) == ("expire = 3d;", False)
    finally:
        body = {"changes": {"overlays.rspamd": None}, "current_password": PASSWORD}
        await asyncio.to_thread(alone.do, "PATCH", "/config", body)
        await asyncio.to_thread(apply_plan, alone)


def apply_plan(stack: Stack) -> None:
    """Apply the newest settings, over edits by hand of Rspamd's files."""
    files = [f"{each['service']}/{each['path']}" for each in stack.do("GET", "/orchestrator/drift")]
    body = {"plan_id": stack.do("GET", "/orchestrator/plan")["id"], "watch_seconds": 5}
    body |= {"overwrite_drift": [name for name in files if name.startswith("rspamd/")]}
    stack.do("POST", "/orchestrator/apply", body)
    eventually(lambda: stack.do("GET", "/orchestrator")["operation_id"] is None, 90, "the end of the apply")


async def watch_briefly(route: Route) -> None:
    """The dashboard has the services watched for 30 seconds."""
    body = json.loads(route.request.post_data or "")
    await route.continue_(post_data=body | {"watch_seconds": 5})


async def test_a_plan_is_applied(browser: Browser, alone: Stack) -> None:
    # Not settings that need a recent sign-in: then a roll-back needs one too.
    first, second = {"outbound.hide_client": False}, {"search.full_text": "words"}
    try:
        await asyncio.to_thread(alone.do, "PATCH", "/config", {"changes": first})
        async with open_services(browser, alone, "plan") as page:
            await page.get_by_role("button", name="Apply", exact=True).click()
            dialog = page.get_by_role("dialog", name="Apply the plan")
            # The plan that is shown is not the newest any more.
            await asyncio.to_thread(alone.do, "PATCH", "/config", {"changes": second})
            await dialog.get_by_label("Watch the services").fill("5")
            await dialog.get_by_role("button", name="Apply").click()
            await expect(dialog.get_by_text("The plan has changed or expired")).to_be_visible()
            await expect(page.get_by_text("+  fts = lucene")).to_be_visible()
            await dialog.get_by_role("button", name="Apply").click()
            operation = page.get_by_role("dialog", name="Operation")
            await expect(operation.get_by_role("status").first).to_have_text("succeeded", timeout=90_000)
            await page.keyboard.press("Escape")
            await expect(page.get_by_text("Nothing would change")).to_be_visible()
            await page.route("**/orchestrator/rollback", watch_briefly)
            await page.get_by_role("tab", name="Generations").click()
            await page.get_by_role("button", name="Roll back to").first.click()
            await page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
            await expect(operation.get_by_role("status").first).to_have_text("succeeded", timeout=90_000)
            assert (await asyncio.to_thread(alone.do, "GET", "/orchestrator/operations?limit=1"))[0][
                "kind"
            ] == "rollback"
    finally:
        await asyncio.to_thread(alone.do, "PATCH", "/config", {"changes": dict.fromkeys(first | second)})
        if (await asyncio.to_thread(alone.do, "GET", "/orchestrator/plan"))["actions"]:  # the test has failed
            await asyncio.to_thread(apply_plan, alone)
