"""The mailbox sessions that a change ends: the rows that triggers insert, and the rules that read them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mailkeep.features.directory.mailbox_sessions import rules, service
from mailkeep.features.directory.mailbox_sessions.model import SessionEnd
from tests.support.builders import require_app_passwords
from tests.support.client import DOMAIN_IDS, EXAMPLE, START, Api

ALICE = f"alice@{EXAMPLE}"
ALL = ("imap", "pop3", "sieve", "smtp")


async def pending(api: Api) -> list[SessionEnd]:
    async with api.app.db.autocommit() as conn:
        return await service.list_pending_ends(conn)


@pytest.mark.parametrize(
    "change, protocols",
    [
        ({"active": False}, ALL),
        ({"local_part": "alicia"}, ALL),
        ({"protocols": {"imap": False}}, ("imap",)),
        ({"protocols": {"pop3": False, "sieve": False}}, ("pop3", "sieve")),
        ({"name": "Alice", "quota_bytes": 1000}, ()),
        ({"protocols": {"imap": True}}, ()),
    ],
)
async def test_a_change_of_access_ends_the_sessions_that_had_it(
    api: Api, change: dict[str, Any], protocols: tuple[str, ...]
) -> None:
    mailbox_id = await api.mailbox(ALICE)
    api.clock.now += timedelta(seconds=5)
    assert (await api.sue.patch(f"/mailboxes/{mailbox_id}", change)).status == 200
    found = [(each.subject, each.protocols, each.changed_at) for each in await pending(api)]
    assert found == ([(ALICE, protocols, api.clock())] if protocols else [])


@pytest.mark.parametrize("query", ["", "?purge=true"])
async def test_a_mailbox_that_is_deleted_ends_its_sessions(api: Api, query: str) -> None:
    mailbox_id = await api.mailbox(ALICE)
    assert (await api.sue.delete(f"/mailboxes/{mailbox_id}{query}")).status == 200
    assert [(each.subject, each.protocols) for each in await pending(api)] == [(ALICE, ALL)]


async def test_a_deactivated_domain_ends_all_its_sessions(api: Api) -> None:
    await api.mailbox(ALICE)
    assert (await api.sue.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"active": False})).status == 200
    (end,) = await pending(api)
    assert (end.subject, end.protocols) == (f"@{EXAMPLE}", ALL)
    assert rules.ends_session(end, ALICE, "imap", end.changed_at)
    assert not rules.ends_session(end, f"alice@sub.{EXAMPLE}", "imap", end.changed_at)
    async with api.app.db.tx() as conn:
        await service.prune(conn, api.clock() + timedelta(days=31))
    assert await pending(api) == []


async def test_only_sessions_of_the_own_password_end_with_it(api: Api) -> None:
    """If it changes, or if app passwords are required from now on, whatever requires them."""
    alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}", require_app_passwords=False)
    domain = f"/domains/{DOMAIN_IDS[EXAMPLE]}"

    async def ended(path: str | None, **changes: Any) -> list[str]:
        await api.sql("DELETE FROM session_ends")
        if path is None:
            await require_app_passwords(api, changes["server"])
        else:
            assert (await api.sue.patch(path, changes)).status == 200
        found = await pending(api)
        assert {(each.protocols, each.password_only, each.changed_at) for each in found} <= {(ALL, True, api.clock())}
        return sorted(each.subject for each in found)

    require, inherit = {"require_app_passwords": True}, {"require_app_passwords": None}
    assert await ended(f"/mailboxes/{alice}", password="another password, a long one") == [ALICE]
    assert await ended(f"/mailboxes/{alice}", **require) == [ALICE]
    assert await ended(domain, **require) == []
    assert await ended(f"/mailboxes/{alice}", **inherit) == []
    assert await ended(domain, require_app_passwords=False) == []
    assert await ended(domain, **require) == [ALICE]
    assert await ended(domain, **inherit) == []
    assert await ended(f"/mailboxes/{bob}", **inherit) == []
    assert await ended(None, server=True) == [ALICE, f"bob@{EXAMPLE}"]
    assert await ended(domain, **require) == []
    assert await ended(None, server=False) == []
    assert await ended(f"/mailboxes/{bob}", name="Bob") == []


def test_sessions_of_others_other_protocols_and_later_ones_stay() -> None:
    end = SessionEnd(1, ALICE, ("imap",), START)
    assert rules.ends_session(end, ALICE, "imap", START)
    assert not rules.ends_session(end, f"bob@{EXAMPLE}", "imap", START)
    assert not rules.ends_session(end, ALICE, "pop3", START)
    assert not rules.ends_session(end, ALICE, "imap", START + timedelta(seconds=11))


def test_sessions_of_app_passwords_end_with_their_mailbox_or_number_alone() -> None:
    def ends(subject: str, login: str, *, password_only: bool = False) -> bool:
        return rules.ends_session(SessionEnd(1, subject, ALL, START, password_only), login, "imap", START)

    with_number = f"{ALICE}/23"
    assert ends(ALICE, with_number)
    assert ends(f"@{EXAMPLE}", with_number)
    assert ends(with_number, with_number)
    assert not ends(f"{ALICE}/2", with_number)
    assert not ends(with_number, ALICE)
    assert not ends(ALICE, with_number, password_only=True)
    assert ends(ALICE, ALICE, password_only=True)
    assert ends(f"a/23@{EXAMPLE}", f"a/23@{EXAMPLE}", password_only=True)
