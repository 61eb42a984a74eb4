"""The page for mailbox owners with the real daemons: settings of a mail program, junk, filters, sign-ins."""

from __future__ import annotations

import asyncio
import imaplib
import os

from playwright.async_api import Browser, Page, expect

from tests.browser.owners import open_own_page, sign_in
from tests.browser.screens import PHONE, require_dashboard, visit
from tests.stack.harness import ADDRESS, HOSTNAME, PASSWORD, Stack, eventually, trusting

NAME = f"own-page-{os.getpid()}.test"  # each process of the test run has its own domain


async def read_settings(page: Page, protocol: str) -> tuple[str, int]:
    """The server and the port that the page shows for a protocol."""
    section = page.locator("section").filter(has=page.get_by_role("heading", name=protocol))
    values = await section.locator(".copyable code").all_inner_texts()
    return values[0], int(values[1])


def send_spam(stack: Stack, address: str) -> None:
    """A message without the fields that every mail client writes."""
    with stack.smtp() as client:
        message = "From: someone@remote.test\r\nSubject: Watches\r\n\r\nLimited offer. Order tonight.\r\n"
        client.sendmail("someone@remote.test", [address], message)


def count_news(port: int, address: str, password: str) -> int:
    """Sign in to IMAP as a mail program does; returns the number of messages in the folder News."""
    with imaplib.IMAP4_SSL(ADDRESS, port, ssl_context=trusting(), timeout=60) as client:
        client.login(address, password)
        return int(client.select("News")[1][0] or 0)


async def release_junk(page: Page, stack: Stack, address: str) -> None:
    """Release the spam to the inbox and always allow its sender; take the second back."""
    await visit(page, stack.api, "/me/junk")
    spam = page.get_by_role("table", name="Junk and refused mail").get_by_role("row").filter(has_text="Watches")
    await expect(spam).to_contain_text("reaches the Junk threshold of the mailbox")
    await spam.get_by_role("button", name="Release").click()
    await page.get_by_role("dialog").locator("input[name=allow]").check()
    await page.get_by_role("dialog").get_by_role("button", name="Release").click()
    note = page.get_by_role("status").filter(has_text="Watches is in the inbox.")
    await expect(note).to_contain_text("someone@remote.test is on the allow list")
    await expect(note).to_contain_text("does not prove")  # the message has no DKIM signature
    await note.get_by_role("button", name="Undo").click()
    await expect(note).to_contain_text("someone@remote.test is no longer on the allow list")
    assert await asyncio.to_thread(stack.mail_of, address, "Junk") == []
    await expect(spam.get_by_role("button", name="Release")).to_have_count(0)


async def test_a_program_is_set_up_mail_is_filtered_and_junk_and_sign_ins_are_listed(
    browser: Browser, stack: Stack
) -> None:
    require_dashboard()
    domain = await asyncio.to_thread(stack.make_domain, NAME)
    mailbox = await asyncio.to_thread(stack.make_mailbox, domain, "olga")
    address = mailbox["address"]
    async with open_own_page(browser, stack.api, await sign_in(stack.api, address, PASSWORD), viewport=PHONE) as page:
        await visit(page, stack.api, "/me/filters")
        await page.get_by_role("button", name="New script").click()
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("button", name="Add a filter").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Sender").fill("@remote.test")
        await dialog.get_by_label("Folder").fill("News")
        await dialog.get_by_role("button", name="Add to script").click()
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_role("button", name="Activate main").click()
        await expect(page.get_by_text("main filters new mail from now on.")).to_be_visible()
        await asyncio.to_thread(stack.deliver, address, "Hello")
        filtering = f"/mailboxes/{mailbox['id']}/filtering"
        await asyncio.to_thread(stack.do, "PATCH", filtering, {"junk_score": 1})
        await asyncio.to_thread(send_spam, stack, address)
        await asyncio.to_thread(eventually, lambda: stack.mail_of(address, "Junk"), 60, "the spam")

        await visit(page, stack.api, "/me/app-passwords")
        await page.get_by_role("button", name="New app password").first.click()
        await dialog.get_by_label("Name").fill("Olga's phone")
        await dialog.get_by_role("button", name="Create app password").click()
        secret = await dialog.get_by_test_id("secret").inner_text()
        await dialog.get_by_role("button", name="I've saved it").click()
        await visit(page, stack.api, "/me/device")
        host, port = await read_settings(page, "Incoming mail: IMAP")
        assert host == HOSTNAME
        assert await asyncio.to_thread(count_news, port, address, secret) == 1

        await release_junk(page, stack, address)
        await visit(page, stack.api, "/me/security")
        row = page.get_by_role("row").filter(has_text="Olga's phone")
        for _ in range(60):  # sign-ins are recorded in batches
            if await row.count():
                break
            await page.wait_for_timeout(1000)
            await visit(page, stack.api, "/me/security")
        await expect(row).to_contain_text("IMAP")
        await expect(row).to_contain_text("127.0.0.1")
