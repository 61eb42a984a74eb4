"""The main action of each screen for mail and the directory, as each role."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from mailkeep.core.ids import uuid7
from mailkeep.features.access.sign_in_protection import store
from mailkeep.features.access.sign_in_protection.model import NewBlock
from mailkeep.run.runtime.context import attach
from tests.browser.scene import EXAMPLE, PASSWORD, Scene, log_in, wait_until
from tests.browser.screens import find_link, open_context, open_page, visit

LEAST = "domain_admin"  # of screens that differ in nothing for others
WRITERS = ("admin",)  # the lowest role with the right; the super administrator clicks everything


async def choose(within: Page | Locator, label: str, option: str) -> None:
    """Select an option of a combobox."""
    page = within if isinstance(within, Page) else within.page
    await within.get_by_role("combobox", name=label, exact=True).click()
    await page.get_by_role("option", name=option, exact=True).click()


def expect_notification(page: Page, text: str):
    """Check the notification after an action."""
    return expect(page.get_by_role("status").filter(has_text=text)).to_be_visible()


@pytest.mark.parametrize("role", WRITERS)
async def test_a_domain_is_created_edited_and_deleted(browser: Browser, scene: Scene, role: str):
    name = f"{role.replace('_', '-')}.test"
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/domains")
        await page.get_by_role("button", name="New domain").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Domain name").fill("no domain")
        await dialog.get_by_role("button", name="Create domain").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("highlighted")
        await dialog.get_by_label("Domain name").fill(name)
        await dialog.get_by_role("button", name="Create domain").click()
        await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        await page.get_by_role("tab", name="DKIM").click()
        await expect(page.get_by_text(f"._domainkey.{name}").first).to_be_visible()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_label("Description").fill("For a while")
        await page.get_by_label("Receiving enabled").uncheck()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("sends only")).to_be_visible()
        await page.get_by_role("button", name="Delete domain").click()
        confirm = dialog.get_by_role("button", name="Delete domain")
        await expect(confirm).to_be_disabled()
        await dialog.get_by_role("textbox").fill(name)
        await confirm.click()
        await expect_notification(page, f"Deleted {name}.")
        await expect(page.get_by_role("link", name=name)).to_have_count(0)


async def test_the_delete_button_says_why_a_domain_cannot_be_deleted(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}?tab=settings")
        button = page.get_by_role("button", name="Delete domain")
        await expect(button).to_have_attribute("aria-disabled", "true")
        await button.focus()
        await expect(page.get_by_role("tooltip")).to_contain_text(" first.")
        await button.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_denied_controls_are_absent(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/domains")
        await expect(page.get_by_role("row")).to_have_count(2)  # the header and the assigned domain
        await expect(page.get_by_role("button", name="New domain")).to_have_count(0)
        await expect(await find_link(page, "Suspensions")).to_have_count(0)
        await visit(page, scene.http, "/suspensions")
        await expect(page.get_by_text("Only administrators have access.").first).to_be_visible()


async def test_a_mailbox_is_created_edited_suspended_deleted_and_restored(browser: Browser, scene: Scene):
    local = "new-domain-admin"
    address = f"{local}@{EXAMPLE}"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/mailboxes")
        await page.get_by_role("button", name="New mailbox").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Local part").fill(local)
        await choose(dialog, "Domain", EXAMPLE)
        await dialog.get_by_label("Password", exact=True).fill("short")
        await dialog.get_by_role("button", name="Create mailbox").click()
        await expect(dialog.get_by_label("Password", exact=True)).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
        await dialog.get_by_role("button", name="Create mailbox").click()
        await expect(page.get_by_role("heading", level=1, name=address)).to_be_visible()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_label("Owner's name").fill("Somebody New")
        await choose(page, "Time zone", "Europe/Berlin")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("status").filter(has_text="aved").last).to_be_visible()
        await page.get_by_role("tab", name="Vacation and forwarding").click()
        forward = page.get_by_role("textbox", name="Forward to")
        await forward.fill("away@elsewhere.test")
        await forward.press("Enter")
        await page.get_by_role("button", name="Save forward").click()
        await expect_notification(page, f"Saved the forward of {address}.")
        await page.get_by_role("tab", name="Overview").click()
        await expect(page.get_by_text("Europe/Berlin")).to_be_visible()
        await expect(page.get_by_text("away@elsewhere.test, keeps a copy")).to_be_visible()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_role("button", name="Suspend sending").click()
        await dialog.get_by_label("Reason").fill("its password leaked")
        await dialog.get_by_role("button", name="Suspend").click()
        await expect(page.get_by_text("Sending is suspended: its password leaked")).to_be_visible()
        await page.get_by_role("button", name="Lift suspension").click()
        await expect_notification(page, "can send again")
        await page.get_by_role("button", name="Delete mailbox").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("heading", level=1, name="Mailboxes")).to_be_visible()
        await choose(page, "Trash", "In trash")
        await page.get_by_role("button", name=f"Restore {address}").click()
        await expect_notification(page, f"Restored {address}.")
        await page.get_by_role("button", name="Clear", exact=True).click()
        await page.get_by_role("link", name=address).click()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_role("button", name="Delete mailbox").click()
        await dialog.get_by_label("Delete its mail permanently").check()
        await dialog.get_by_role("textbox").fill(address)
        await dialog.get_by_role("button", name="Delete permanently").click()
        await expect(page.get_by_role("heading", level=1, name="Mailboxes")).to_be_visible()


async def test_an_app_password_is_created_shown_once_and_deleted(browser: Browser, scene: Scene):
    name = f"Tablet of {LEAST}"
    async with open_page(browser, scene, LEAST) as page:
        await visit(page, scene.http, f"/mailboxes/{scene.ids['mailbox_id']}?tab=app-passwords")
        row = page.get_by_role("row", name=name)
        await page.get_by_role("button", name="New app password").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill(name)
        for protocol in ("IMAP", "POP3", "SMTP (sending)", "ManageSieve"):
            await dialog.get_by_label(protocol).uncheck()
        await dialog.get_by_role("button", name="Create app password").click()
        await expect(dialog.get_by_text("at least one of imap").first).to_be_visible()
        await dialog.get_by_label("IMAP").check()
        await choose(dialog, "Expires", "In 90 days")
        await dialog.get_by_role("button", name="Create app password").click()
        await expect(dialog.get_by_text(re.compile(r"mk-([a-z2-7]{4}-){6}[a-z2-7]{2}"))).to_be_visible()
        await page.keyboard.press("Escape")
        await dialog.get_by_role("button", name="I've saved it").click()
        await expect(dialog).to_have_count(0)
        await expect(row).to_contain_text("IMAP")
        await expect(row).to_contain_text("never")
        await expect(page.get_by_text("mk-")).to_have_count(0)
        await row.get_by_role("button", name=f"Delete {name}").click()
        await expect(dialog.get_by_text("their open sessions end")).to_be_visible()
        await dialog.get_by_role("button", name="Delete").click()
        await expect_notification(page, f"The app password {name} was deleted.")
        await expect(row).to_have_count(0)


async def test_a_form_shows_where_an_inherited_value_comes_from(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}?tab=settings")
        field = page.get_by_role("combobox", name="Mail client sign-in")
        await expect(field).to_have_value("Inherit (own password or app passwords, from the server's settings)")
        try:
            await choose(page, "Mail client sign-in", "Only app passwords")
            await page.get_by_role("button", name="Save").click()
            await expect_notification(page, "Saved")
            await visit(page, scene.http, f"/mailboxes/{scene.ids['mailbox_id']}?tab=settings")
            await expect(field).to_have_value("Inherit (only app passwords, from the domain)")
            await page.get_by_role("tab", name="App passwords").click()
            await expect(
                page.get_by_text("Mail clients need one: the mailbox's own password is not accepted.")
            ).to_be_visible()
        finally:
            path = f"/domains/{scene.ids['domain_id']}"
            await scene.super_admin.call("PATCH", path, {"require_app_passwords": None})


async def test_the_alias_form_shows_the_routing_of_its_destinations(browser: Browser, scene: Scene):
    source = "alias-domain-admin"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/aliases")
        await page.get_by_role("button", name="New alias").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Local part").fill(source)
        domain_select = dialog.get_by_role("combobox", name="Domain", exact=True)
        if not await domain_select.input_value():
            await domain_select.click()
            await page.get_by_role("option", name=EXAMPLE, exact=True).click()
        destinations = dialog.get_by_role("textbox", name="Destinations")
        await destinations.fill(f"team@{EXAMPLE}")
        await destinations.press("Enter")
        await expect(dialog.get_by_text(f"→ alice@{EXAMPLE}, bob@{EXAMPLE}")).to_be_visible()
        await dialog.get_by_role("button", name="Create alias").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("is itself an alias of this domain")
        await destinations.press("Backspace")
        await destinations.fill(f"alice@{EXAMPLE}")
        await destinations.press("Enter")
        await dialog.get_by_role("button", name="Create alias").click()
        await expect_notification(page, "Alias created.")
        row = page.get_by_role("row").filter(has_text=source)
        await row.get_by_role("button", name=f"Edit {source}").click()
        await dialog.get_by_label("Active").uncheck()
        await dialog.get_by_role("button", name="Save").click()
        await expect(row.get_by_text("inactive")).to_be_visible()
        await row.get_by_role("button", name=f"Delete {source}").click()
        await dialog.get_by_role("button", name="Delete alias").click()
        await expect(row).to_have_count(0)


async def test_with_two_domains_the_alias_list_shows_its_domain(browser: Browser, scene: Scene):
    email, call = f"two@{EXAMPLE}", scene.super_admin.call
    domains = [await call("POST", "/domains", {"name": name}) for name in ("first.test", "second.test")]
    for domain in domains:
        source = domain["name"].partition(".")[0]
        alias = {"domain_id": domain["id"], "source_local_part": f"of-{source}", "destination": f"bob@{EXAMPLE}"}
        await call("POST", "/aliases", alias)
    ids = [domain["id"] for domain in domains]
    await call("POST", "/admins", {"email": email, "password": PASSWORD, "role": "domain_admin", "domain_ids": ids})
    async with open_context(browser, await log_in(scene.http, email, PASSWORD)) as browser_context:
        page = await browser_context.new_page()
        await visit(page, scene.http, "/aliases")
        domain_select = page.get_by_role("combobox", name="Domain", exact=True)
        await expect(page.get_by_text("of-first")).to_be_visible()
        await expect(domain_select).to_have_value("first.test")
        await choose(page, "Domain", "second.test")
        await expect(page.get_by_text("of-second")).to_be_visible()
        await expect(domain_select).to_have_value("second.test")
        await expect(page.get_by_role("button", name="Clear")).to_have_count(0)


async def test_routing_is_shown_while_typing(browser: Browser, scene: Scene):
    async with open_page(browser, scene, LEAST) as page:
        await visit(page, scene.http, "/routing")
        field = page.get_by_label("Address")
        await field.press_sequentially(f"alice+news@{EXAMPLE}")
        await expect(page.get_by_text("is delivered")).to_be_visible()
        await expect(page).to_have_url(re.compile(r"\?address=alice%2Bnews%40example\.test$"))
        await expect(page.get_by_role("link", name=f"alice+news@{EXAMPLE}")).to_be_visible()
        await field.fill("somebody@strangers.test")
        await expect(page.get_by_text("is not hosted here")).to_be_visible()
        await expect(page).to_have_url(re.compile(r"\?address=somebody%40strangers\.test$"))
        await page.reload()
        await expect(field).to_have_value("somebody@strangers.test")


# Types `rest` into the focused field at the moment when the first letters are written to the URL.
_TYPE_REST = """rest => {
    const replace = history.replaceState.bind(history)
    let text = rest
    history.replaceState = (...what) => {
        replace(...what)
        if (text && location.search) document.execCommand('insertText', false, text)
        text = ''
    }
}"""


@pytest.mark.parametrize(
    "path, name, first, rest",
    [
        ("/routing", "Address", "alice", f"@{EXAMPLE}"),
        ("/domains", "Search by name", "exam", "ple"),
    ],
)
async def test_typing_continues_while_the_url_changes(
    browser: Browser, scene: Scene, path: str, name: str, first: str, rest: str
):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, path)
        field = page.get_by_label(name)
        await page.evaluate(_TYPE_REST, rest)
        await field.press_sequentially(first)
        await expect(field).to_have_value(first + rest)
        await expect(page).to_have_url(re.compile(rf"={re.escape(quote(first + rest))}$"))
        await expect(field).to_have_value(first + rest)
        # A value that the field did not write itself, here from the history, is read.
        await page.get_by_role("link", name="Mailboxes", exact=True).first.click()
        await page.go_back()
        await expect(field).to_have_value(first + rest)


async def test_a_message_is_sent_and_its_remote_reply_is_shown(browser: Browser, scene: Scene):
    subject = f"Written by {LEAST}"
    async with open_page(browser, scene, LEAST) as page:
        await visit(page, scene.http, "/send")
        await page.get_by_label("From").fill("not an address")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.locator("main").get_by_role("alert")).to_be_visible()
        await page.get_by_label("From").fill(f"shop@{EXAMPLE}")
        to = page.get_by_role("textbox", name="To", exact=True)
        await to.fill("bounce@elsewhere.test, zoe@elsewhere.test")
        await to.press("Enter")
        await page.get_by_label("Subject").fill(subject)
        await page.get_by_role("textbox", name="Message").fill("It should arrive on Tuesday.")
        await page.locator("input[type=file]").set_input_files(
            [{"name": "order <b>.txt", "mimeType": "text/plain", "buffer": b"one sofa"}]
        )
        await expect(page.get_by_text("order <b>.txt")).to_be_visible()
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_role("heading", level=1, name=subject)).to_be_visible()
        await expect(page.get_by_text("550 5.1.1 No such user here").first).to_be_visible()
        await expect(page.locator(".timeline").get_by_text("bounced", exact=True)).to_be_visible()
        await page.get_by_role("tab", name="Raw").click()
        await expect(page.locator("pre")).to_contain_text(f"Subject: {subject}")


async def test_a_retry_after_a_lost_response_sends_once(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(
            page, scene.http, f"/send?from=shop@{EXAMPLE}&to=zoe@elsewhere.test&subject=Only+once".replace("+", "%20")
        )
        await page.get_by_role("textbox", name="Message").fill("Once.")
        is_first = True

        async def lose_response(route: Route) -> None:
            nonlocal is_first
            if is_first:
                is_first = False
                await route.fetch()
                await route.abort()
            else:
                await route.continue_()

        await page.route("**/api/v1/send", lose_response)
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_text("could not be reached")).to_be_visible()
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_role("heading", level=1, name="Only once")).to_be_visible()
    messages = await scene.super_admin.call("GET", "/messages?subject=Only%20once&direction=outbound")
    assert len(messages) == 1


async def test_the_message_search_is_in_the_url(browser: Browser, scene: Scene):
    async with open_page(browser, scene, LEAST) as page:
        await visit(page, scene.http, "/messages")
        search = page.get_by_label("Search by sender, recipient")
        await search.press_sequentially("your ")
        await expect(page).to_have_url(re.compile(r"\?q=your$"))
        await search.press_sequentially("invoice")
        await expect(page).to_have_url(re.compile(r"\?q=your%20invoice$"))
        await expect(page.get_by_role("row")).to_have_count(2)
        await page.get_by_role("link", name="Your invoice 2026-1041").click()
        await expect(page.get_by_role("heading", level=1, name="Your invoice 2026-1041")).to_be_visible()
        await page.go_back()
        await expect(search).to_have_value("your invoice")
        await page.get_by_role("button", name="Clear", exact=True).click()
        await choose(page, "Status", "failed no server accepted it in time")
        await expect(page.get_by_role("link", name="Are you still there?")).to_be_visible()
        await page.get_by_role("button", name="More filters").click()
        await page.get_by_label("To", exact=True).fill("nobody-at-all")
        await expect(page.get_by_text("No matching messages")).to_be_visible()


async def test_received_content_needs_permission_and_a_click(browser: Browser, scene: Scene):
    [*_, message] = await scene.super_admin.call("GET", "/messages?subject=Question&direction=inbound")
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/messages/{message['id']}")
        await page.get_by_role("tab", name="Raw").click()
        await expect(page.get_by_text("recorded in the audit log")).to_be_visible()
        await page.get_by_role("button", name="Show content").click()
        await expect(page.locator("pre")).to_contain_text("Good to meet you.")
        async with page.expect_download() as download:
            await page.get_by_text("Download .eml").click()
        saved = await download.value
        assert saved.suggested_filename == f"{message['id']}.eml"
        assert "Grüße".encode("iso-8859-1") in (await saved.path()).read_bytes()


@pytest.mark.parametrize("role", WRITERS)
async def test_a_suspension_is_lifted_in_the_list(browser: Browser, scene: Scene, role: str):
    address = await create_suspended_mailbox(scene, role)
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/suspensions")
        await page.get_by_role("button", name=f"Lift suspension of {address}").click()
        await page.get_by_role("dialog").get_by_role("button", name="Lift").click()
        await expect_notification(page, f"{address} can send again.")
        await expect(page.get_by_role("row").filter(has_text=address)).to_have_count(0)


@pytest.mark.parametrize("role", WRITERS)
async def test_a_sign_in_block_is_removed_in_the_list(browser: Browser, scene: Scene, role: str):
    account = f"guessed-{role.replace('_', '-')}@example.test"
    async with attach(scene.instance.data_dir, "tests") as app, app.db.tx() as conn:
        at = app.clock()
        block = NewBlock(f"admin:{account}", None, 20, at + timedelta(minutes=15))
        await store.upsert_block(conn, uuid7(at), block, uuid7(at), at)
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/suspensions")
        await page.get_by_role("link", name="Sign-in blocks").click()
        await page.get_by_role("button", name=f"Remove block of administrator {account} from unknown addresses").click()
        await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        await expect_notification(page, f"The block of administrator {account} was removed.")
        await expect(page.get_by_role("row").filter(has_text=account)).to_have_count(0)


async def test_a_domain_admin_lifts_a_suspension_at_the_mailbox(browser: Browser, scene: Scene):
    address = await create_suspended_mailbox(scene, "domain_admin")
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/suspensions")
        await expect(page.locator("main").get_by_text("Only administrators have access.")).to_be_visible()
        await visit(page, scene.http, f"/mailboxes?q={address}")
        await expect(page.get_by_role("row").filter(has_text=address)).to_contain_text("suspended")
        await page.get_by_role("link", name=address).click()
        await page.get_by_role("button", name="Lift suspension").click()
        await expect_notification(page, "can send again")
        await expect(page.get_by_text("Sending is suspended")).to_have_count(0)


async def test_a_domain_admin_cannot_lift_a_suspension_by_the_abuse_rules(browser: Browser, scene: Scene):
    async def suspend_by_rules(route: Route) -> None:
        response = await (await route.fetch()).json()
        suspension = {
            "reason": "More than 1000 recipients within an hour.",
            "by": "rules",
            "at": "2026-01-01T00:00:00.000Z",
        }
        response["data"] |= {"suspended": suspension, "quota_bytes": 5 << 20}
        await route.fulfill(json=response)

    async with open_page(browser, scene, "domain_admin") as page:
        await page.route(f"**/api/v1/mailboxes/{scene.ids['mailbox_id']}", suspend_by_rules)
        await visit(page, scene.http, f"/mailboxes/{scene.ids['mailbox_id']}")
        await expect(page.get_by_text("By the abuse rules")).to_be_visible()
        lift = page.get_by_role("button", name="Lift suspension")
        await expect(lift).to_have_attribute("aria-disabled", "true")
        await lift.focus()
        await expect(page.get_by_role("tooltip")).to_contain_text("Only an admin or super admin can lift")
        await page.get_by_role("tab", name="Settings").click()
        await expect(page.get_by_label("Quota")).to_have_value("5 MB")


async def create_suspended_mailbox(scene: Scene, role: str) -> str:
    """Create a mailbox, suspended by an administrator with the role; return its address."""
    local = f"loud-{role.replace('_', '-')}"
    box = {"domain_id": scene.ids["domain_id"], "local_part": local, "password": PASSWORD}
    mailbox = await scene.super_admin.call("POST", "/mailboxes", box)
    await scene.caller(role).call(
        "POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "sent the same letter 4,000 times"}
    )
    return mailbox["address"]


async def test_the_overview_links_to_recent_messages_and_problems(browser: Browser, scene: Scene):
    # The overview shows the newest messages only, and other tests have sent messages before.
    lost = await scene.send(subject="Lost on its way", to=[{"email": "bounce@elsewhere.test"}])
    await wait_until(scene, f"/messages/{lost['id']}", lambda message: message["status"] == "bounced")
    await scene.deliver(f"team@{EXAMPLE}", "Is it blue, too?")
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await expect(page.get_by_role("link", name="Is it blue, too?").first).to_be_visible()
        await page.get_by_role("link", name="Bounced", exact=True).click()
        await expect(page).to_have_url(re.compile(r"/messages\?status=bounced&since=[0-9T%A-]+$"))
        await expect(page.get_by_role("heading", level=1, name="Messages")).to_be_visible()
        await expect(page.get_by_role("link", name="Lost on its way")).to_be_visible()
        await expect(page.get_by_role("link", name="Is it blue, too?")).to_have_count(0)


async def test_the_overview_shows_unhealthy_services(browser: Browser, scene: Scene):
    health = {"status": "degraded", "checks": [{"component": "disk", "status": "degraded"}]}
    down = {"code": "UNAVAILABLE", "message": "The server is down.", "details": health | {"status": "down"}}
    webhook = (await scene.super_admin.call("GET", "/webhooks"))[0]
    webhooks = [webhook | {"disabled_at": "2026-01-01T00:00:00.000Z", "active": False}]

    async def answer(route: Route) -> None:
        await route.fulfill(json={"data": data, "error": None, "meta": {}})

    async def refuse(route: Route) -> None:
        await route.fulfill(status=503, json={"data": None, "error": down, "meta": {}})

    async with open_context(browser, scene.super_admin) as browser_context:
        page = await browser_context.new_page()
        data: object = health
        await page.route("**/api/v1/health", answer)
        await visit(page, scene.http, "/")
        await expect(page.get_by_text("1 service is unhealthy")).to_be_visible()
        await expect(page.locator(".note").get_by_text("disk", exact=True)).to_be_visible()
        await expect(page.locator(".tile", has_text="Server")).to_contain_text("degraded")
        data = webhooks
        await page.route("**/api/v1/health", refuse)
        await page.route("**/api/v1/webhooks", answer)
        await visit(page, scene.http, "/")
        await expect(page.locator(".tile", has_text="Server")).to_contain_text("down")
        await expect(page.locator(".tile", has_text="Webhooks")).to_contain_text("1 disabled")
        await page.get_by_role("link", name="Webhooks").last.click()
        await expect(page.get_by_text("disabled after failures", exact=True)).to_be_visible()


async def test_a_message_is_found_by_its_ids_and_tag(browser: Browser, scene: Scene):
    message = await scene.super_admin.call("GET", f"/messages/{scene.ids['message_id']}")
    async with open_page(browser, scene, LEAST) as page:
        for word, name in (
            (f"<{message['message_id']}>", "Message-ID"),
            (message["queue_id"], "queue ID"),
            (message["id"], "ID"),
            ("orders", "tag"),
        ):
            await visit(page, scene.http, "/messages")
            await page.keyboard.press("/")
            await expect(page.get_by_label("Search by sender, recipient")).to_be_focused()
            await page.keyboard.type(word)
            result = page.get_by_role("status").filter(has_text=f"Exact match by {name}:")
            await result.get_by_role("link").first.click()
            if name != "tag":
                await expect(page.get_by_role("heading", level=1, name=message["subject"])).to_be_visible()


async def test_a_long_list_loads_more_and_is_sorted_by_the_url(browser: Browser, scene: Scene):
    domain = await scene.super_admin.call("POST", "/domains", {"name": "many.test"})
    for number in range(30):
        alias = {"domain_id": domain["id"], "source_local_part": f"a{number:02}", "destination": f"alice@{EXAMPLE}"}
        await scene.super_admin.call("POST", "/aliases", alias)
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/aliases?domain={domain['id']}")
        await expect(page.get_by_role("row")).to_have_count(26)
        await expect(page.get_by_text("a29", exact=False).first).to_be_visible()
        await page.get_by_role("button", name="Load more").click()
        await expect(page.get_by_role("row")).to_have_count(31)
        await expect(page.get_by_text("30 entries", exact=True)).to_be_visible()
        for form, name in (("New alias", "New alias"), ("Edit a04", "Edit alias")):
            await page.get_by_role("button", name=form).click()
            await expect(page.get_by_role("dialog", name=name).get_by_label("Active")).to_be_visible()
            await page.keyboard.press("Escape")
            await expect(page).not_to_have_url(re.compile("new=|edit="))
            await expect(page.get_by_role("row")).to_have_count(31)
        await page.get_by_role("button", name="Created").click()
        await expect(page.get_by_role("row").nth(1)).to_contain_text("a00")


async def test_leaving_unsaved_input_asks_first(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/domains")
        await page.get_by_role("button", name="New domain").click()
        form, question = (
            page.get_by_role("dialog", name="New domain"),
            page.get_by_role("dialog", name="Discard changes?"),
        )
        await page.get_by_label("Domain name").fill("unsaved.test")
        await page.keyboard.press("Escape")
        await question.get_by_role("button", name="Keep editing").click()
        await expect(form.get_by_label("Domain name")).to_have_value("unsaved.test")
        await page.keyboard.press("Escape")
        await expect(question).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(question).to_be_hidden()
        await form.get_by_role("button", name="Cancel").click()
        await question.get_by_role("button", name="Discard").click()
        await expect(form).to_be_hidden()
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}?tab=settings")
        await page.get_by_label("Description").fill("unsaved")
        await page.get_by_role("tab", name="Overview").click()
        await question.get_by_role("button", name="Discard").click()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_label("Description").fill("saved")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
        await page.get_by_role("tab", name="Overview").click()
        await expect(page.get_by_label("Description")).to_be_hidden()
        await expect(question).to_be_hidden()
