"""Takes screenshots of every screen, light and dark, wide and phone: `make screenshots [ARGS=FOLDER]`.
Only as root: the screen Services is that of a full instance.

They are written to docs/screenshots with 256 colours, which halves their size without a visible difference.
"""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from PIL import Image, ImageChops, ImageStat
from playwright.async_api import Browser, Page

from mailkeep.core.ids import uuid7
from mailkeep.features.access.sign_in_protection import store
from mailkeep.features.access.sign_in_protection.model import Attempt, NewBlock
from mailkeep.run.cli import install
from mailkeep.run.runtime.context import attach
from tests.browser import owners
from tests.browser.front import Front, run_front
from tests.browser.names import Names, run_names
from tests.browser.scene import (
    EXAMPLE,
    GTUBE,
    SHOP,
    Scene,
    count_recipients,
    log_in,
    report_alert,
    run_scene,
    send_to_group,
)
from tests.browser.screens import PHONE, ROOT, SCREENS, WIDE, Screen, navigate, open_context, visit
from tests.browser.test_certificates import insert_certificates
from tests.plugins.browser import PROGRAMS, launch, program
from tests.stack import harness
from tests.stack.harness import ADMIN, PASSWORD, Stack, eventually
from tests.support.scratch import new_directory

FOLDER = ROOT / "docs/screenshots"
FORMS: dict[str, dict[str, Any]] = {
    "wide-light": {"viewport": WIDE, "color_scheme": "light"},
    "wide-dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone-light": {"viewport": PHONE, "color_scheme": "light", "is_mobile": True},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark", "is_mobile": True},
}
OTHERS = (
    Screen("new-webhook", "/webhooks?new=yes"),
    Screen("new-key", "/api-keys?new=yes"),
    Screen("import-suppressions", "/suppressions?import=yes"),
    Screen("template-versions", "/templates/{template_id}?tab=versions"),
    Screen("settings-history", "/settings?tab=history"),
    Screen("alias-domain", "/domains/{alias_domain_id}"),
    Screen("junk-message", "/messages/{junk_id}"),
    Screen("analytics-hours", "/analytics?period=24h"),
    Screen("filtering-explained", "/domains/{domain_id}?tab=filtering&view=test&message={refused_id}"),
)
FILTER = (
    'require ["fileinto", "mailbox"];\nif header :contains "list-id" "news.example.org" {\n  fileinto :create "News";\n'
    "  stop;\n}\n"
)
DNS_SCREENS = {
    "dns": "/domains/{domain_id}?tab=dns",
    "dkim": "/domains/{domain_id}?tab=dkim",
    "server-dns": "/server-dns",
}
FILTERING_SCREENS = {"filtering": "/filtering", "own-spam": "/me/spam"}
SERVICES_TABS = ("state", "plan", "drift", "operations", "generations")
# The mean difference per pixel, of 255.
_MAX_DIFFERENCE = 0.2


async def take_screenshots(browser: Browser, scene: Scene, front: Front, folder: Path) -> list[Path]:
    """Take a screenshot of each screen in each form, as the super administrator; return the files."""
    written: list[Path] = []

    async def save_screenshot(page: Page, name: str, *, is_whole: bool = False) -> None:
        written.append(folder / f"{name}.png")
        written[-1].write_bytes(reduce_colors(await page.screenshot(full_page=is_whole)))

    link = await prepare(scene)
    await insert_certificates(front)
    _, unsubscribe = await send_to_group(scene, "reader@elsewhere.test")
    for form, options in FORMS.items():
        async with open_context(browser, None, reduced_motion="reduce", **options) as browser_context:
            page = await browser_context.new_page()
            await visit(page, scene.http, "/login")
            await save_screenshot(page, f"login-{form}")
            await visit(page, scene.http, link)
            await page.get_by_label("New password").wait_for()
            await save_screenshot(page, f"invitation-{form}")
            await visit(page, scene.http, unsubscribe)
            await save_screenshot(page, f"unsubscribe-{form}")
        async with open_context(browser, scene.super_admin, reduced_motion="reduce", **options) as browser_context:
            page = await browser_context.new_page()
            await visit(page, scene.http, "/")
            for screen in (*SCREENS, *OTHERS):
                if screen.name in ("queue", "services", "certificates", "filtering", "import-mailboxes", *DNS_SCREENS):
                    continue
                await navigate(page, screen.path_for(scene.ids))
                if screen.name == "events":
                    await page.get_by_text("live", exact=True).wait_for()
                    await scene.send(subject="Your order is on its way")
                    await page.get_by_text("mail.delivered").first.wait_for()
                await page.wait_for_timeout(150)
                await save_screenshot(page, f"{screen.name}-{form}", is_whole=screen.name.startswith("analytics"))
            await check_import(page, scene)
            await save_screenshot(page, f"import-mailboxes-{form}")
            await open_review(page, scene)
            await save_screenshot(page, f"settings-review-{form}")
            await invite(page, scene)
            await save_screenshot(page, f"invite-{form}")
            await reschedule(page, scene)
            await save_screenshot(page, f"reschedule-{form}")
            await show_restore(page, scene)
            await save_screenshot(page, f"restore-{form}")
            await visit(page, front.http, "/queue")
            await page.get_by_label("Select", exact=False).nth(1).check()
            await page.get_by_label("Select", exact=False).nth(2).check()
            await save_screenshot(page, f"queue-{form}")
            await visit(page, front.http, "/certificates")
            await save_screenshot(page, f"certificates-{form}")
            await show_script(page, front)
            await save_screenshot(page, f"sieve-{form}")
            await show_vacation(page, front)
            await save_screenshot(page, f"vacation-{form}")
    return written


async def prepare(scene: Scene) -> str:
    """Add what only the pictures show; returns the path of an invitation."""
    call, domain = scene.super_admin.call, scene.ids["domain_id"]
    # Something waits for a restart.
    await call("PATCH", "/config", {"changes": {"smtp.max_sessions": 400}, "comment": "For the new partner"})
    alias_domain = await call("POST", "/domains", {"name": "second-name.test", "alias_of": domain})
    scene.ids["alias_domain_id"] = alias_domain["id"]
    [shop] = [each for each in await call("GET", "/domains") if each["name"] == SHOP]
    for source, destination in (("info", f"former@{SHOP}"), ("press", f"alice@{EXAMPLE},former@{SHOP}")):
        await call(
            "POST", "/aliases", {"domain_id": shop["id"], "source_local_part": source, "destination": destination}
        )
    async with attach(scene.instance.data_dir, "screenshots") as app, app.db.tx() as conn:
        at = app.clock()
        for block in (
            NewBlock(f"mailbox:bob@{EXAMPLE}", None, 14, at + timedelta(minutes=15)),
            NewBlock(None, "198.51.100.23", 31, at + timedelta(hours=1)),
            NewBlock(f"mailbox:carla@{EXAMPLE}", "203.0.113.7", 52, at + timedelta(minutes=15)),
        ):
            await store.upsert_block(conn, uuid7(at), block, uuid7(at), at)
        for number in range(31):
            account = f"mailbox:{('alice', 'bob', 'sales')[number % 3]}@{EXAMPLE}"
            guess = Attempt(account, "198.51.100.23" if number % 4 else "203.0.113.7", f"{number:02}")
            await store.insert_failure(conn, uuid7(at), guess, at, known_source=False)
    for sender, recipients in ((f"newsletter@{EXAMPLE}", 934), (f"alice@{EXAMPLE}", 12), (f"bob@{EXAMPLE}", 3)):
        await count_recipients(scene, sender, recipients)
    await report_alert(scene, f"newsletter@{EXAMPLE}", "spike", "934 recipients since 09:00, where 156 are usual.")
    await prepare_filtering(scene)
    created = await call("POST", "/mailboxes", {"domain_id": domain, "local_part": "nora", "invite": True})
    return f"/invitation#{urlsplit(created['invitation']['url']).fragment}"


async def prepare_filtering(scene: Scene) -> None:
    """Entries of a domain and a mailbox, values of the mailbox, and mail that was filed in Junk and refused."""
    call, domain, mailbox = scene.super_admin.call, scene.ids["domain_id"], scene.ids["mailbox_id"]
    entries = [
        {"list": "deny", "kind": "domain", "value": "casino.test", "enforced": True, "comment": "Complaints in May"},
        {"list": "allow", "kind": "network", "value": "192.0.2.0/24", "comment": "The scanners"},
        {"list": "allow", "kind": "address", "value": "invoices@partner.test"},
        {"list": "deny", "kind": "address", "value": "offers@elsewhere.test"},
    ]
    for entry in entries:
        await call("POST", f"/domains/{domain}/filtering/entries", entry)
    for subject, sender in (("Win today", "Casino <win@casino.test>"), ("You have won", "Lottery <lottery@far.test>")):
        await scene.deliver(f"alice@{EXAMPLE}", subject, sender, text=GTUBE)
    await call("PATCH", f"/mailboxes/{mailbox}/filtering", {"reject_score": 12, "digest": "weekly"})
    for result in ("junk", "refused"):
        [message] = await call("GET", f"/mailboxes/{mailbox}/junk?result={result}")
        scene.ids[f"{result}_id"] = message["id"]


async def take_filtering_screenshots(browser: Browser, stack: Stack, folder: Path) -> list[Path]:
    """Where there is a filter: the settings of the server, and of an owner."""
    written: list[Path] = []
    await asyncio.to_thread(stack.do, "PATCH", "/filtering", {"reject_score": 15})
    domain = await asyncio.to_thread(stack.make_domain, "filtering.test")
    mailbox = await asyncio.to_thread(stack.make_mailbox, domain, "olga")
    await asyncio.to_thread(stack.do, "PATCH", f"/mailboxes/{mailbox['id']}/filtering", {"junk_score": 4})
    for form, options in FORMS.items():
        caller = await log_in(stack.api, ADMIN, PASSWORD)
        async with open_context(browser, caller, reduced_motion="reduce", **options) as context:
            await (await owners.sign_in(stack.api, mailbox["address"], PASSWORD)).enter(context)
            page = await context.new_page()
            for name, path in FILTERING_SCREENS.items():
                await visit(page, stack.api, path)
                await page.wait_for_timeout(150)
                written.append(folder / f"{name}-{form}.png")
                written[-1].write_bytes(reduce_colors(await page.screenshot()))
    return written


async def invite(page: Page, scene: Scene) -> None:
    """The link of a new invitation."""
    await visit(page, scene.http, f"/mailboxes/{scene.ids['mailbox_id']}?tab=settings")
    await page.get_by_role("button", name="Invite the owner").click()
    await page.get_by_role("button", name="Create link").click()
    await page.get_by_text("Invitation link", exact=True).wait_for()
    await page.wait_for_timeout(150)


async def reschedule(page: Page, scene: Scene) -> None:
    """The new time of a scheduled message."""
    await visit(page, scene.http, f"/messages/{scene.ids['scheduled_id']}")
    await page.get_by_role("button", name="Reschedule", exact=True).click()
    await page.get_by_role("dialog").get_by_label("Send at").wait_for()
    await page.wait_for_timeout(150)


async def show_restore(page: Page, scene: Scene) -> None:
    """What the restore of a mailbox would do."""
    path = f"/backups/{scene.ids['backup_id']}?domain={scene.ids['domain_id']}"
    await visit(page, scene.http, path)
    await page.get_by_role("button", name=f"Restore alice@{EXAMPLE}", exact=True).click()
    await page.get_by_role("button", name="Count what it would do").click()
    await page.get_by_text("Would restore", exact=False).wait_for(timeout=60_000)
    await page.wait_for_timeout(150)


async def take_held_screenshots(browser: Browser, front: Front, folder: Path) -> list[Path]:
    """What a full restore holds."""
    written: list[Path] = []
    async with attach(front.scene.instance.data_dir, "screenshots") as app, app.db.autocommit() as conn:
        await conn.execute("INSERT INTO restored_backup SELECT true, gen_random_uuid(), now(), now()")
    for form, options in FORMS.items():
        async with open_context(browser, front.caller("super_admin"), reduced_motion="reduce", **options) as context:
            page = await context.new_page()
            await visit(page, front.http, "/queue")
            await page.get_by_role("region", name="On hold after the restore").wait_for()
            written.append(folder / f"held-{form}.png")
            written[-1].write_bytes(reduce_colors(await page.screenshot()))
    return written


async def take_owners_screenshots(browser: Browser, front: Front, folder: Path) -> list[Path]:
    """The page for owners of mailboxes, as Alice."""
    written: list[Path] = []
    address = f"alice@{EXAMPLE}"
    path = f"/mailboxes/{front.scene.ids['mailbox_id']}"
    await front.caller("super_admin").call("PUT", f"{path}/sieve/main", {"script": FILTER})
    await front.caller("super_admin").call("POST", f"{path}/sieve/main/activate")
    # Messages are larger than the quota.
    await front.caller("super_admin").call("PATCH", path, {"quota_bytes": 100})
    await front.scene.deliver(address, "Photos of the sofa")
    await front.caller("super_admin").call("PATCH", path, {"quota_bytes": 10 << 10})
    for form, options in FORMS.items():
        async with open_context(browser, None, reduced_motion="reduce", **options) as browser_context:
            page = await browser_context.new_page()
            await visit(page, front.http, owners.LOGIN)
            await page.screenshot(path=folder / f"own-login-{form}.png")
            await (await owners.sign_in(front.http, address)).enter(browser_context)
            for screen in owners.SCREENS:
                if screen.name in FILTERING_SCREENS:
                    continue
                # Junk is in the Maildir of the embedded profile.
                http = front.scene.http if screen.name == "own-junk" else front.http
                await visit(page, http, screen.path + ("?script=main" if screen.name == "own-filters" else ""))
                await page.wait_for_timeout(150)
                await page.screenshot(path=folder / f"{screen.name}-{form}.png")
        names = [each.name for each in owners.SCREENS if each.name not in FILTERING_SCREENS]
        written += [folder / f"{name}-{form}.png" for name in ("own-login", *names)]
    for picture in written:
        picture.write_bytes(reduce_colors(picture.read_bytes()))
    return written + await take_setup_screenshots(browser, front, folder)


async def take_setup_screenshots(browser: Browser, front: Front, folder: Path) -> list[Path]:
    """The page of a setup link, as another device sees it."""
    written: list[Path] = []
    path = f"/mailboxes/{front.scene.ids['mailbox_id']}/setup-link"
    link = urlsplit((await front.caller("super_admin").call("POST", path))["url"]).path
    for form, options in FORMS.items():
        async with open_context(browser, None, reduced_motion="reduce", **options) as context:
            page = await context.new_page()
            await page.goto(front.http + link)
            written.append(folder / f"setup-{form}.png")
            written[-1].write_bytes(reduce_colors(await page.screenshot()))
    return written


async def take_dns_screenshots(browser: Browser, names: Names, folder: Path) -> list[Path]:
    """Records that are right, wrong and missing, a key to publish, and an address in a blocklist."""
    written: list[Path] = []
    path = f"/domains/{names.domain_id}"
    await names.publish(f"{path}/dns")
    await names.publish("/dns/server")
    names.list_address("bl.mailkeep.test")
    for server in names.servers:
        server.publish(EXAMPLE, "TXT", "v=spf1 ip4:198.51.100.7 -all")
    names.servers[0].withdraw(f"_dmarc.{EXAMPLE}")
    await names.call("POST", f"{path}/dkim-keys", {"algorithm": "rsa2048", "selector": "mail2027"})
    await asyncio.sleep(10)  # the pause after the first check
    for each in (f"{path}/dns", "/dns/server"):
        await names.call("POST", f"{each}/check")
        while (await names.call("GET", each))["check"]["state"] != "idle":
            await asyncio.sleep(0.2)
    for form, options in FORMS.items():
        async with open_context(browser, names.caller("super_admin"), reduced_motion="reduce", **options) as context:
            page = await context.new_page()
            for name, each in DNS_SCREENS.items():
                await visit(page, names.http, each.format(domain_id=names.domain_id))
                await page.wait_for_timeout(150)
                written.append(folder / f"{name}-{form}.png")
                written[-1].write_bytes(reduce_colors(await page.screenshot()))
    return written


async def take_services_screenshots(browser: Browser, stack: Stack, folder: Path) -> list[Path]:
    """The tabs of the screen Services, with a change that is not applied yet, an edit by hand and operations."""
    written: list[Path] = []
    for service, action in (("sendmail", "restart"), ("rspamd", "reload")):
        await asyncio.to_thread(perform, stack, service, action)
    lists = stack.data_dir / "rspamd" / "conf" / "local.d" / "greylist.conf"
    lists.write_text(lists.read_text() + "expire = 3d;\n")
    changes = {"filter.dns_servers": stack.filter_servers(2), "smtp.max_sessions": 400}
    await asyncio.to_thread(stack.do, "PATCH", "/config", {"changes": changes})
    for form, options in FORMS.items():
        caller = await log_in(stack.api, ADMIN, PASSWORD)
        async with open_context(browser, caller, reduced_motion="reduce", **options) as browser_context:
            page = await browser_context.new_page()
            for tab in SERVICES_TABS:
                await visit(page, stack.api, f"/services?tab={tab}")
                await page.wait_for_timeout(150)
                written.append(folder / f"services-{tab}-{form}.png")
                written[-1].write_bytes(reduce_colors(await page.screenshot()))
    return written


def perform(stack: Stack, service: str, action: str) -> None:
    operation_id = stack.do("POST", f"/orchestrator/services/{service}/{action}")["operation_id"]
    eventually(lambda: stack.do("GET", f"/orchestrator/operations/{operation_id}")["state"] != "running", 60)


async def show_script(page: Page, front: Front) -> None:
    """The editor of a Sieve script with an error."""
    path = f"/mailboxes/{front.scene.ids['mailbox_id']}"
    script = 'require "fileinto";\nif header :contains "list-id" "news.example.org" {\n  fileinto "News";\n}\n'
    await front.caller("super_admin").call("PUT", f"{path}/sieve/main", {"script": script})
    await visit(page, front.http, f"{path}?tab=sieve&script=main")
    field = page.get_by_label("Script", exact=True)
    await field.fill(script + "foo;\n")
    await page.get_by_role("button", name="Check", exact=True).click()
    await page.get_by_role("button", name="Line 5").wait_for()
    await field.scroll_into_view_if_needed()


async def check_import(page: Page, scene: Scene) -> None:
    """The result of the check of a table with faulty rows."""
    await visit(page, scene.http, "/mailboxes/import")
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose file").click()
    rows = ("lena@example.test;Lena;a long word;yes", "max;Max;a long word;yes", "nils@example.test;Nils;short;yes")
    table = "\n".join(("Email;Full name;Password;Enabled", *rows)).encode()
    await (await chooser.value).set_files({"name": "staff.csv", "mimeType": "text/csv", "buffer": table})
    await page.get_by_role("button", name="Check 3 rows").click()
    await page.get_by_role("table", name="Errors").wait_for(timeout=60_000)
    await page.get_by_role("heading", name="Result of the check").scroll_into_view_if_needed()


async def show_vacation(page: Page, front: Front) -> None:
    """The vacation and the forward of a mailbox."""
    path = f"/mailboxes/{front.scene.ids['mailbox_id']}"
    text = "I am away until 15 August. Bob (bob@example.test) can help."
    period = {"start_at": "2036-08-01T16:00:00Z", "end_at": "2036-08-15T06:00:00Z"}
    await front.caller("super_admin").call("PUT", f"{path}/vacation", {"subject": "Away", "text": text, **period})
    await visit(page, front.http, f"{path}?tab=vacation")
    await page.get_by_label("Reply", exact=True).wait_for()


async def open_review(page: Page, scene: Scene) -> None:
    """The review of a change on the screen Settings, with its plan."""
    await visit(page, scene.http, "/settings?q=smtp")
    await page.get_by_role("button", name="Change smtp.timeout_seconds").click()
    await page.get_by_role("textbox", name="smtp.timeout_seconds").fill("600")
    await page.get_by_role("button", name="Review", exact=True).click()
    await page.get_by_role("heading", name="Plan", exact=True).wait_for()
    await page.wait_for_timeout(150)


def reduce_colors(picture: bytes) -> bytes:
    """Reduce a PNG to a palette of 256 colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    reduced = image.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    difference = ImageStat.Stat(ImageChops.difference(image, reduced.convert("RGB"))).mean
    assert max(difference) < _MAX_DIFFERENCE, difference
    content = io.BytesIO()
    reduced.save(content, "PNG", optimize=True)
    return content.getvalue()


async def main() -> int:
    executable = program()
    if executable is None:
        print(f"Chromium is not installed. On Debian: apt install {PROGRAMS[0]}", file=sys.stderr)
        return 1
    if missing := install.make_plan().steps:
        print(f"The full profile needs: {'; '.join(missing)} (`mailkeep install` does it)", file=sys.stderr)
        return 1
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with run_scene(Path(folder)) as scene, run_front(scene) as front, launch(executable) as browser:
            written = await take_screenshots(browser, scene, front, target)
            written += await take_owners_screenshots(browser, front, target)
            written += await take_held_screenshots(browser, front, target)
    with tempfile.TemporaryDirectory() as folder:
        async with run_names(Path(folder)) as names, launch(executable) as browser:
            written += await take_dns_screenshots(browser, names, target)
    stack_folder = new_directory("mailkeep-screenshots-", 0o755, programs=True)
    try:
        await asyncio.to_thread(harness.start, stack_folder)
        async with launch(executable) as browser:
            stack = Stack(stack_folder)
            written += await take_filtering_screenshots(browser, stack, target)
            written += await take_services_screenshots(browser, stack, target)
    finally:
        harness.stop(stack_folder)
        shutil.rmtree(stack_folder, ignore_errors=True)
    for old in set(target.glob("*.png")) - set(written):
        old.unlink()
    print(f"{len(written)} pictures, {sum(each.stat().st_size for each in written) >> 10} KiB in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
