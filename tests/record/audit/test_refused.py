"""Refused calls neither flood the log nor show the administrator of another tenant."""

from datetime import timedelta
from typing import Any

from mailkeep.features.record.audit import service
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, KEY_IDS, Api

EXAMPLE_ID = str(DOMAIN_IDS[EXAMPLE])
FOREIGN = {"domain_id": EXAMPLE_ID, "source_local_part": "x", "destination": "x@remote.test"}


async def entries(api: Api) -> list[dict[str, Any]]:
    return await api.sql("SELECT * FROM audit_entries WHERE outcome <> 'success' ORDER BY id")


async def test_refused_calls_beyond_60_a_minute_share_an_entry(api: Api):
    """2,000 refused calls in ten seconds."""
    for number in range(200):
        if number % 2:
            assert (await api.otto.post("/aliases", FOREIGN)).code == "FORBIDDEN"
        else:
            assert (await api.otto.patch(f"/domains/{EXAMPLE_ID}", {"active": False})).code == "FORBIDDEN"
    assert (await api.dora.delete(f"/domains/{EXAMPLE_ID}")).code == "FORBIDDEN"  # another principal's own count
    assert len(await entries(api)) == 61
    api.clock.advance(minutes=1)
    await service.record_summaries(api.app, api.clock())
    await service.record_summaries(api.app, api.clock())
    *_, summary = await entries(api)
    assert len(await entries(api)) == 62
    assert (summary["action"], summary["outcome"], summary["admin_id"]) == (
        "denied.summary",
        "denied",
        ADMIN_IDS["otto"],
    )
    assert summary["details"] == {"count": 140, "actions": ["alias.create", "domain.update"]}
    # A key is a principal of its own, and the count starts again each minute.
    for _ in range(61):
        await api.otto.post("/aliases", FOREIGN)
        assert (await api.scoped.post("/domains", {"name": "new.test"})).code == "API_KEY_DOMAIN_SCOPE"
    assert len(await entries(api)) == 62 + 120
    await service.record_summaries(api.app, None)  # as at the end of the process
    *_, first, second = await entries(api)
    assert {(row["key_id"], row["details"]["count"]) for row in (first, second)} == {(None, 1), (KEY_IDS["scoped"], 1)}


async def test_another_tenants_administrator_is_shown_by_role_and_id_only(api: Api):
    for client in (api.otto, api.adam, api.dora):
        await client("POST", "/aliases", FOREIGN | {"destination": "-"}, headers={"user-agent": "Secret/1"})
        await client("POST", "/aliases", FOREIGN | {"destination": f"x@{EXAMPLE}"}, headers={"user-agent": "Secret/1"})
        api.clock.now += timedelta(seconds=1)

    async def seen(name: str) -> dict[str | None, set[tuple[Any, ...]]]:
        rows = [row for row in (await api.callers[name].get("/audit")).data if row["outcome"] != "success"]
        found: dict[str | None, set[tuple[Any, ...]]] = {}
        for row in rows:
            shown = (row["actor"]["label"], row["ip_address"], row["user_agent"])
            found.setdefault(row["admin_id"], set()).add(shown)
        return found

    otto, adam, dora = (str(ADMIN_IDS[name]) for name in ("otto", "adam", "dora"))
    whole = {name: {(f"{name}@example.test", "192.0.2.1", "Secret/1")} for name in ("otto", "adam", "dora")}
    by_role = {otto: {("domain_admin", None, None)}, adam: {("admin", None, None)}}
    assert await seen("dora") == by_role | {dora: whole["dora"]}
    # A scoped key sees only its owner.
    assert await seen("scoped") == {
        otto: {("domain_admin", None, None)},
        dora: {("domain_admin", None, None)},
        adam: whole["adam"],
    }
    for name in ("adam", "sue"):
        assert await seen(name) == {otto: whole["otto"], adam: whole["adam"], dora: whole["dora"]}
    # Only super_admin may export.
    for name in ("dora", "otto", "adam", "scoped"):
        assert (await api.callers[name].get("/audit/export")).status == 403
    # A deleted administrator is visible to nobody.
    assert (await api.sue.delete(f"/admins/{otto}")).status == 200
    assert (await seen("dora"))[None] == {("administrator", None, None)}
    # Successful calls show the administrator, as before.
    assert (await api.sue.post("/aliases", FOREIGN)).status == 201
    assert (await api.dora.get("/audit", action="alias.create")).data[0]["actor"]["label"] == "sue@example.test"
