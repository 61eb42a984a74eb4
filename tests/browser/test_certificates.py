"""The screen of certificates: what is wrong with a name, renewal and revocation."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from playwright.async_api import Browser, Locator, Page, expect
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7
from mailkeep.run.runtime.context import attach
from tests.browser.front import Front
from tests.browser.screens import WIDE, open_page, visit
from tests.browser.test_everyday import expect_notification
from tests.support.client import insert_row


def certificate(at: datetime, name: str, **more: Any) -> dict[str, Any]:
    return {"id": uuid7(at), "name": name, "next_attempt_at": at + timedelta(hours=1), "created_at": at, **more}


async def insert_certificates(front: Front) -> None:
    async with attach(front.scene.instance.data_dir, "tests") as app, app.db.autocommit() as conn:
        at = app.clock()
        issued = {
            "source": "acme", "chain": "PEM", "key_sealed": b"sealed", "names": ["mx.example.test"],
            "issuer": "CN=Authority", "serial": "1f", "not_before": at, "not_after": at + timedelta(days=90),
            "renew_at": at + timedelta(days=60),
        }  # fmt: skip
        await insert_row(conn, "certificates", certificate(at, "server", **issued))
        cursor = await conn.execute("SELECT id, name FROM domains ORDER BY name LIMIT 1")
        domain = await cursor.fetchone()
        assert domain
        problem = "mta-sts.example.test accepts no connection on port 80."
        checks = Jsonb([{"name": "mta-sts.example.test", "status": "failed", "problem": problem}])
        row = certificate(at, domain["name"], domain_id=domain["id"], checks=checks, problem=problem)
        await insert_row(conn, "certificates", row)


def row_of(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


async def test_certificates_are_renewed_and_revoked(browser: Browser, front: Front):
    await insert_certificates(front)
    async with open_page(browser, front, "super_admin") as page:
        await visit(page, front.http, "/certificates")
        server = row_of(page, "This server")
        await expect(server.get_by_text("valid", exact=True)).to_be_visible()
        await expect(page.get_by_text("mta-sts.example.test accepts no connection on port 80.")).to_have_count(1)
        await expect(server.get_by_text("Issued by CN=Authority")).to_be_visible()
        # The names, and the buttons at the end of the row.
        box = await server.get_by_text("mx.example.test").bounding_box()
        assert box
        assert box["width"] > 100
        card = await page.get_by_role("table").bounding_box()
        revoke = await server.get_by_role("button", name="Revoke certificate of this server").bounding_box()
        assert card
        assert revoke
        assert revoke["x"] + revoke["width"] < card["x"] + card["width"] <= WIDE["width"]
        await server.get_by_role("button", name="Renew certificate of this server").click()
        await page.get_by_role("dialog").get_by_role("button", name="Renew").click()
        await expect_notification(page, "The certificate of this server is being renewed.")
        await server.get_by_role("button", name="Revoke certificate of this server").click()
        await page.get_by_role("dialog").get_by_role("button", name="Replace and revoke").click()
        await expect_notification(page, "The certificate of this server is being replaced and revoked.")
        await expect(server.get_by_text("being revoked", exact=True)).to_be_visible()
        await expect(server.get_by_role("button", name="Revoke certificate of this server")).to_have_count(0)
