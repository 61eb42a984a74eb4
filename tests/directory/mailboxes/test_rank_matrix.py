"""Nobody changes what belongs to the mailbox of an administrator of higher rank: each caller, each rank, each route."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mailkeep.core.ids import uuid7
from mailkeep.run.runtime.router import ENDPOINTS
from tests.support.client import EXAMPLE, OTHER, Api, reason

RANKS = {"dora": 0, "scoped": 1, "adam": 1, "sue": 2, "unscoped": 2}
OWNERS = {"dora": 0, "adam": 1, "sue": 2}
# Bodies of all routes that change a mailbox, its state, or what belongs to it; None: no body.
ROUTES: Mapping[str, Any] = {
    "PATCH /mailboxes/{id}": {},
    "DELETE /mailboxes/{id}": None,
    "POST /mailboxes/{id}/restore": None,
    "POST /mailboxes/{id}/recalculate": None,
    "POST /mailboxes/{id}/invite": {},
    "POST /mailboxes/{id}/suspend": {"reason": "spam"},
    "POST /mailboxes/{id}/unsuspend": None,
    "POST /mailboxes/{id}/app-passwords": {"name": "Phone"},
    "DELETE /mailboxes/{id}/app-passwords/{app_password_id}": None,
    "PUT /mailboxes/{id}/vacation": {"text": "Away.", "active": False},
    "DELETE /mailboxes/{id}/vacation": None,
    "PUT /mailboxes/{id}/sieve/{name}": {"script": "keep;"},
    "DELETE /mailboxes/{id}/sieve/{name}": None,
    "POST /mailboxes/{id}/sieve/{name}/activate": None,
    "POST /mailboxes/{id}/sieve/deactivate": None,
    "PATCH /mailboxes/{id}/filtering": {"junk_score": 3},
    "POST /mailboxes/{id}/filtering/entries": {"list": "allow", "kind": "address", "value": "thief@else.test"},
    "POST /mailboxes/{id}/filtering/entries/import": {
        "items": [{"list": "allow", "kind": "address", "value": "thief@else.test"}]
    },
    "DELETE /mailboxes/{id}/filtering/entries/{entry_id}": None,
    "POST /mailboxes/{id}/filtering/test": {"from": "ann@else.test"},
    "POST /mailboxes/{id}/junk/{message_id}/release": {},
    "POST /mailboxes/{id}/setup-link": None,
    "DELETE /mailboxes/{id}/setup-link": None,
}
FIELDS: Mapping[str, Any] = {
    "local_part": "moved",
    "password": "seven green bottles",
    "password_hash": "{SHA}x",
    "quota_bytes": 1,
    "active": False,
    "protocols": {"imap": False},
    "forward": {"destinations": ["thief@else.test"]},
    "send_as": [EXAMPLE],
    "require_app_passwords": True,
}
# What does not affect the owner's access and mail.
OPEN = {
    "POST /mailboxes/{id}/recalculate", "POST /mailboxes/{id}/filtering/test", "POST /mailboxes/{id}/setup-link",
    "DELETE /mailboxes/{id}/setup-link", "name", "time_zone",
}  # fmt: skip
# Only admins change Sieve scripts of others.
NEEDS_ADMIN = "/sieve/"


def test_the_matrix_names_every_route_and_field():
    changing = {
        f"{each.method} {each.path}"
        for each in ENDPOINTS
        if each.path.startswith("/mailboxes/{id}") and each.method != "GET"
    }
    assert changing == set(ROUTES)
    (patch,) = [each for each in ENDPOINTS if (each.method, each.path) == ("PATCH", "/mailboxes/{id}")]
    assert isinstance(patch.body, type)
    assert set(patch.body.__struct_fields__) == {*FIELDS, "name", "time_zone", "domain_id"}


@pytest.mark.parametrize("owner", OWNERS)
async def test_only_the_same_or_a_higher_rank_changes_a_mailbox(api: Api, owner: str):
    box = await api.mailbox(f"{owner}@{EXAMPLE}")
    password = await api.app_password(box)
    await api.vacation(box)
    trashed = await api.mailbox(f"{owner}+old@{EXAMPLE}", deleted_at=api.clock())
    other_domain = (await api.sql("SELECT id FROM domains WHERE name = %(name)s", name=OTHER))[0]["id"]
    fields = [*FIELDS.items(), ("domain_id", other_domain)]
    for name, rank in RANKS.items():
        client, may = api.callers[name], rank >= OWNERS[owner]
        for route, body in ROUTES.items():
            method, path = route.split()
            path = path.replace("{app_password_id}", str(password)).replace("{name}", "main")
            path = path.replace("{entry_id}", str(uuid7(api.clock()))).replace("{message_id}", str(uuid7(api.clock())))
            path = path.replace("{id}", str(trashed if path.endswith("/restore") else box))
            bodies = [{field: value} for field, value in fields] if route == "PATCH /mailboxes/{id}" else [body]
            for each in bodies:
                if may:
                    continue
                answer = await client(method, path, each)
                if route in OPEN:
                    assert answer.status != 403, (name, route)
                elif NEEDS_ADMIN in route and rank == 0:
                    assert answer.code == "FORBIDDEN", (name, route)
                elif each is not None and "domain_id" in each and rank == 0:
                    assert answer.code == "FORBIDDEN", (name, route)  # for the other domain, or the rank
                elif each is not None and "domain_id" in each and name == "scoped":
                    assert answer.code == "API_KEY_DOMAIN_SCOPE", (name, route)
                else:
                    assert (answer.code, reason(answer)) == ("FORBIDDEN", "higher_rank"), (name, route, each)
    (row,) = await api.sql("SELECT * FROM mailboxes WHERE id = %(id)s", id=box)
    assert (row["local_part"], row["active"], row["quota_bytes"], row["imap"]) == (owner, True, 0, True)
    assert (row["forward_destinations"], row["require_app_passwords"]) == ([], None)
    assert [len(await api.sql(f"SELECT FROM {table}"))
            for table in ("app_passwords", "vacations", "send_as", "suspensions")] == [1, 1, 0, 0]  # fmt: skip
    # Who may, can: the highest rank, and the owner's own.
    for name in ("sue", owner):
        assert (await api.callers[name].patch(f"/mailboxes/{box}", {"send_as": [EXAMPLE]})).status == 200
        assert (await api.callers[name].patch(f"/mailboxes/{box}", {"send_as": []})).status == 200
        new = await api.callers[name].post(f"/mailboxes/{box}/app-passwords", {"name": name})
        assert new.status == 201
