"""A change and its entry are one transaction: a rollback removes both."""

from __future__ import annotations

from typing import Any

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.features.record.audit import store
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, Api

DOMAIN_ID = str(DOMAIN_IDS[EXAMPLE])
CHANGES: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("POST", "/domains", {"name": "new.test"}, "SELECT FROM domains WHERE name = 'new.test'"),
    (
        "POST",
        "/mailboxes",
        {"domain_id": DOMAIN_ID, "local_part": "new", "password_hash": "{SHA}x"},
        "SELECT FROM mailboxes",
    ),
    (
        "POST",
        "/aliases",
        {"domain_id": DOMAIN_ID, "source_local_part": "new", "destination": "a@elsewhere.test"},
        "SELECT FROM aliases",
    ),
    ("POST", "/api-keys", {"name": "new"}, "SELECT FROM api_keys WHERE name = 'new'"),
    (
        "PATCH",
        f"/admins/{ADMIN_IDS['adam']}",
        {"role": "domain_admin"},
        "SELECT FROM admins WHERE email = 'adam@example.test' AND role <> 'admin'",
    ),
    (
        "POST",
        "/auth/logout-all",
        {},
        "SELECT WHERE NOT EXISTS (SELECT FROM sessions s JOIN admins a ON a.id = s.admin_id AND role = 'super_admin')",
    ),
)


async def test_a_rolled_back_change_has_no_entry(api: Api, monkeypatch: pytest.MonkeyPatch):
    insert = store.insert

    async def insert_then_fail(conn: Any, entry: Any) -> None:
        await insert(conn, entry)
        if entry.outcome == "success":
            raise Unavailable  # in the last moment before the commit

    for method, path, body, changed in CHANGES:
        with monkeypatch.context() as failing:
            failing.setattr(store, "insert", insert_then_fail)
            assert (await api.sue(method, path, body)).status == 503
        assert await api.sql(changed) == [], path  # type: ignore[arg-type]
        assert await api.sql("SELECT action FROM audit_entries WHERE outcome = 'success'") == [], path
    for method, path, body, changed in CHANGES:
        assert (await api.sue(method, path, body)).status < 300, path
        assert len(await api.sql(changed)) == 1, path  # type: ignore[arg-type]
    rows = await api.sql("SELECT outcome FROM audit_entries")
    assert [row["outcome"] for row in rows] == ["success"] * len(CHANGES)
