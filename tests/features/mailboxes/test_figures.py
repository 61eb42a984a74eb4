"""What Dovecot says of mailboxes, written to their rows: nobody is waited for, who is gone passed over."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from mailkeep.features.mailboxes import service
from mailkeep.features.mailboxes.model import Figures, Login
from tests.client import DOMAIN_IDS, EXAMPLE, Api

NOBODY = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


async def test_figures_show_in_the_mailbox_and_its_domain_and_change_nothing_else(api: Api) -> None:
    alice, bob = [await api.mailbox(f"{name}@{EXAMPLE}") for name in ("alice", "bob")]
    before = (await api.sue.get(f"/mailboxes/{alice}")).data
    api.clock.advance(hours=1)
    at = api.clock()
    async with api.app.db.tx() as conn:
        told = [Figures(alice, at, 700, 2), Figures(bob, at, 300, 1), Figures(NOBODY, at, 1, 1)]
        assert await service.tell_figures(conn, told) == []
    assert (await api.sue.get(f"/mailboxes/{alice}")).data == before | {"used_bytes": 700, "message_count": 2}
    assert (await api.sue.get(f"/domains/{DOMAIN_IDS[EXAMPLE]}")).data["usage"]["bytes"] == 1000


async def test_words_and_counts_come_in_their_order(api: Api) -> None:
    alice = await api.mailbox()
    at = api.clock()

    async def after(told: Figures | None = None, counted: Figures | None = None) -> tuple[int, object]:
        async with api.app.db.tx() as conn:
            if told:
                await service.tell_figures(conn, [told])
            if counted:
                await service.count_figures(conn, [counted])
        (row,) = await api.sql("SELECT used_bytes, figures_counted_at FROM mailboxes")
        return row["used_bytes"], row["figures_counted_at"]

    def figures(later: int, used: int, *, doubtful: bool = False) -> Figures:
        return Figures(alice, at + timedelta(seconds=later), used, 1, doubtful)

    assert await after(told=figures(10, 100)) == (100, None)
    assert await after(told=figures(5, 50)) == (100, None)
    assert await after(counted=figures(10, 50)) == (100, None)
    counted_at = at + timedelta(seconds=20)
    assert await after(counted=figures(20, 200)) == (200, counted_at)
    assert await after(told=figures(15, 150)) == (200, counted_at)
    assert await after(told=figures(30, 300)) == (300, counted_at)
    assert await after(told=figures(40, 300, doubtful=True)) == (300, None)


async def test_who_is_held_is_told_and_not_waited_for(api: Api) -> None:
    alice, bob = [await api.mailbox(f"{name}@{EXAMPLE}") for name in ("alice", "bob")]
    at = api.clock()
    async with api.app.db.tx() as other, api.app.db.tx() as conn:
        await other.execute("SELECT id FROM mailboxes WHERE id = %(id)s FOR UPDATE", {"id": alice})
        assert await service.tell_figures(conn, [Figures(alice, at, 1, 1), Figures(bob, at, 2, 2)]) == [alice]
        logins = [Login(alice, at, "imap", "192.0.2.1"), Login(bob, at, "pop3", "192.0.2.1")]
        assert await service.set_logins(conn, logins) == [alice]
    rows = await api.sql("SELECT used_bytes, last_login_protocol AS protocol FROM mailboxes ORDER BY local_key")
    assert [(row["used_bytes"], row["protocol"]) for row in rows] == [(0, None), (2, "pop3")]


async def test_the_last_login_is_the_newest(api: Api) -> None:
    alice = await api.mailbox()
    at = api.clock()
    for later, protocol, ip in ((0, "imap", "192.0.2.1"), (60, "smtp", "2001:db8::1"), (30, "pop3", "192.0.2.2")):
        async with api.app.db.tx() as conn:
            login = Login(alice, at + timedelta(seconds=later), protocol, ip)
            assert await service.set_logins(conn, [login, Login(NOBODY, at, "imap", "")]) == []
    shown = (await api.sue.get(f"/mailboxes/{alice}")).data["last_login"]
    assert shown == {"at": "2026-03-01T12:01:00.000Z", "protocol": "smtp", "ip": "2001:db8::1"}


async def test_a_walk_sees_all_that_can_be_used(api: Api) -> None:
    asleep = await api.domain("asleep.test", active=False)
    boxes = [await api.mailbox(f"box{number}@{EXAMPLE}", used_bytes=number) for number in range(5)]
    await api.mailbox(f"off@{EXAMPLE}", active=False)
    await api.mailbox(f"gone@{EXAMPLE}", deleted_at=api.clock())
    await api.mailbox("alice@asleep.test", domain_id=asleep)
    seen: list[tuple[UUID, str, bool]] = []
    last: UUID | None = None
    async with api.app.db.autocommit() as conn:
        while page := await service.kept(conn, last, 2):
            seen += [(each.mailbox_id, each.login, each.holds_any) for each in page]
            last = page[-1].mailbox_id
    assert seen == [(box, f"box{number}@{EXAMPLE}", number > 0) for number, box in enumerate(boxes)]
