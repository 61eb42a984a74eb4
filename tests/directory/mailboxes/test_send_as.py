"""`send_as`: from which further addresses a mailbox may send, who may permit it, and where it is checked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.sieve_mail.service import MailRefused, sign_reply
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.run.processes.keys import KeysListener
from tests.support.builders import DOMAIN_ID, create_domain, create_mailbox
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, Api, faults, reason

ALICE = f"alice@{EXAMPLE}"


async def senders(api: Api, local: str, domain: str) -> list[str]:
    rows = await api.sql("SELECT s FROM sender_logins(%(local)s, %(domain)s) s ORDER BY 1", local=local, domain=domain)
    return [row["s"] for row in rows]


async def alice(api: Api, *entries: str) -> str:
    return (await create_mailbox(api, "alice", send_as=list(entries)))["id"]


async def test_entries_are_normalized_ordered_and_replaced(api: Api):
    await create_domain(api, "bücher.test")
    made = await create_mailbox(
        api, "alice", send_as=["Sales@OTHER.test", " sales@other.test ", "bücher.test", "Ünder@bücher.test"]
    )
    wanted = ["Sales@other.test", "xn--bcher-kva.test", "Ünder@bücher.test"]
    assert sorted(made["send_as"]) == sorted(wanted)
    path = f"/mailboxes/{made['id']}"
    assert (await api.sue.get(path)).data["send_as"] == made["send_as"]
    # The same entries change nothing, whatever their spelling and order.
    again = await api.sue.patch(path, {"send_as": ["xn--bcher-kva.test", "SALES@other.test", "ünder@bücher.test"]})
    assert (again.data["send_as"], again.data["updated_at"]) == (made["send_as"], made["updated_at"])
    api.clock.advance(seconds=1)
    changed = await api.sue.patch(path, {"send_as": ["info@other.test"]})
    assert changed.data["send_as"] == ["info@other.test"]
    (entry,) = await api.audit_entries("mailbox.update")
    assert entry["details"]["after"]["send_as"] == ["info@other.test"]
    assert (await api.sue.patch(path, {"send_as": []})).data["send_as"] == []


@pytest.mark.parametrize(
    "entries, field",
    [
        (["x@"], "send_as[0]"),
        (["other.test", "@other.test"], "send_as[1]"),
        (["localhost"], "send_as[0]"),
        (["x@y"], "send_as[0]"),
        (["other.test", "x@unmanaged.test"], "send_as[1]"),
        ([f"x{n}@other.test" for n in range(101)], "send_as"),
    ],
)
async def test_invalid_entries_are_refused(api: Api, entries: list[Any], field: str):
    body = {"domain_id": DOMAIN_ID, "local_part": "alice", "password_hash": "{SHA}x", "send_as": entries}
    box = await api.mailbox(f"bob@{EXAMPLE}")
    for answer in (
        await api.sue.post("/mailboxes", body),
        await api.sue.patch(f"/mailboxes/{box}", {"send_as": entries}),
    ):
        assert (answer.status, answer.code) == (400, "INVALID_FIELD")
        assert faults(answer) == [field]
    assert await api.sql("SELECT FROM send_as") == []


async def test_new_entries_need_rights_to_their_domain(api: Api):
    """Those that somebody else has added stay, and may be removed."""
    made = await alice(api, f"sales@{OTHER}")
    path = f"/mailboxes/{made}"
    for client, code in ((api.dora, "FORBIDDEN"), (api.scoped, "API_KEY_DOMAIN_SCOPE")):
        for entry in (OTHER, f"info@{OTHER}"):
            assert (await client.patch(path, {"send_as": [f"sales@{OTHER}", entry]})).code == code
        assert (await client.patch(path, {"send_as": [f"sales@{OTHER}", f"info@{EXAMPLE}"]})).status == 200
        assert (await client.patch(path, {"send_as": [f"sales@{OTHER}"]})).status == 200
    assert (await api.dora.patch(path, {"send_as": []})).status == 200
    assert (await api.dora.patch(path, {"send_as": [f"sales@{OTHER}"]})).code == "FORBIDDEN"
    await api.sue.patch(f"/domains/{DOMAIN_IDS[OTHER]}", {"active": False})
    assert (await api.sue.patch(path, {"send_as": [f"sales@{OTHER}"]})).code == "DOMAIN_INACTIVE"


async def test_it_is_checked_at_each_message(api: Api):
    brand = await create_domain(api, "brand.test")
    made = await alice(api, f"Sales@{OTHER}", "brand.test")
    other = await api.mailbox(f"sales@{OTHER}")
    assert await senders(api, "SALES+x", OTHER.upper()) == [ALICE, f"sales@{OTHER}"]
    assert await senders(api, "anybody", "brand.test") == [ALICE]
    assert await senders(api, "info", OTHER) == []
    (row,) = await api.sql("SELECT s FROM mta_senders('anybody', 'brand.test') s")
    assert row["s"].startswith(f"{ALICE}/")
    for path in (f"/domains/{brand}", f"/mailboxes/{made}", f"/domains/{DOMAIN_ID}"):
        assert (await api.sue.patch(path, {"active": False})).status == 200
        assert await senders(api, "anybody", "brand.test") == [], path
        assert (await api.sue.patch(path, {"active": True})).status == 200
    assert await senders(api, "anybody", "brand.test") == [ALICE]
    # An alias domain of a permitted domain, and one that is permitted itself.
    await create_domain(api, "label.test", alias_of=brand)
    assert await senders(api, "anybody", "label.test") == [ALICE]
    await create_domain(api, "outlet.test", alias_of=str(DOMAIN_IDS[OTHER]))
    assert await senders(api, "sales", "outlet.test") == [ALICE, f"sales@{OTHER}"]
    assert (await api.sue.patch(f"/mailboxes/{made}", {"send_as": ["outlet.test"]})).status == 200
    assert await senders(api, "sales", "outlet.test") == [ALICE, f"sales@{OTHER}"]
    assert await senders(api, "sales", OTHER) == [f"sales@{OTHER}"]
    for each in (made, other):
        await api.sue.delete(f"/mailboxes/{each}")
    assert await senders(api, "sales", "outlet.test") == []


async def test_an_alias_domain_has_the_senders_of_its_target(api: Api):
    made = await create_domain(api, "alias.test", alias_of=DOMAIN_ID)
    await api.mailbox(ALICE)
    await api.alias(f"team@{EXAMPLE}", [ALICE])
    await api.alias(f"@{EXAMPLE}", [ALICE])
    for local in ("Alice", "alice+news", "team"):
        assert await senders(api, local, "alias.test") == [ALICE]
    assert await senders(api, "anybody", "alias.test") == []
    for each in (made, DOMAIN_ID):
        await api.sue.patch(f"/domains/{each}", {"active": False})
        assert await senders(api, "alice", "alias.test") == []
        await api.sue.patch(f"/domains/{each}", {"active": True})


@pytest.mark.parametrize("owner, rank", [("dora", 0), ("adam", 1), ("sue", 2)])
async def test_the_address_of_a_higher_rank_is_not_permitted(api: Api, owner: str, rank: int):
    """A single address is refused; of a whole domain it is left out, also after a promotion and by alias domains."""
    box = await api.mailbox(ALICE)
    await create_domain(api, "alias.test", alias_of=DOMAIN_ID)
    path = f"/mailboxes/{box}"
    for name, own in (("dora", 0), ("scoped", 1), ("adam", 1), ("sue", 2)):
        client = api.callers[name]
        for entry in (f"{owner}@{EXAMPLE}", f"{owner.upper()}+x@{EXAMPLE}"):
            answer = await client.patch(path, {"send_as": [entry]})
            expected = (200, None) if own >= rank else (403, "higher_rank")
            assert (answer.status, reason(answer) if answer.code else None) == expected, (name, entry)
        assert (await client.patch(path, {"send_as": []})).status == 200
        assert (await client.patch(path, {"send_as": [EXAMPLE]})).status == 200
        for domain in (EXAMPLE, "alias.test"):
            assert await senders(api, "anybody", domain) == [ALICE]
            assert await senders(api, f"{owner}+x", domain) == ([ALICE] if own >= rank else []), name
        # An entry that stays keeps its rank.
        assert (await api.sue.patch(path, {"send_as": [EXAMPLE, OTHER]})).status == 200
        assert await senders(api, owner, EXAMPLE) == ([ALICE] if own >= rank else []), name
        assert (await api.sue.patch(path, {"send_as": []})).status == 200
    assert (await api.dora.patch(path, {"send_as": [f"nora@{EXAMPLE}"]})).status == 200
    assert await senders(api, "nora", EXAMPLE) == [ALICE]
    await api.sql("UPDATE admins SET email = %(key)s, email_key = %(key)s WHERE id = %(id)s",
                  key=f"nora@{EXAMPLE}", id=ADMIN_IDS[owner])  # fmt: skip
    assert await senders(api, "nora", EXAMPLE) == ([ALICE] if rank == 0 else [])


async def test_the_filter_and_sieve_ask_the_same(api: Api, tmp_path: Path):
    """Signing of mail from clients, and Sieve's replies."""
    brand = await create_domain(api, "brand.test")
    made = await alice(api, "brand.test")
    listener = KeysListener(api.app, HitCounter(api.app))

    async def status(sender: str) -> int:
        return (await listener.answer(f"/keys/{quote(sender)}/{quote(f'{ALICE}/1')}"))[0]

    async def reply(sender: str) -> bool:
        path = tmp_path / f"{time.time_ns()}.1"
        head = f"mailbox {made}\nsender \nrecipient asker@else.test\n\n"
        path.write_bytes(head.encode() + f"From: {sender}\r\nSubject: Auto\r\n\r\nAway.\r\n".encode())
        try:
            return b"DKIM-Signature" in (await sign_reply(api.app, sieve_spool.read(path))).signature
        except MailRefused:
            return False

    assert [await status("x@brand.test"), await status(f"x@{OTHER}")] == [200, 403]
    assert [await reply("x@brand.test"), await reply(f"x@{OTHER}")] == [True, False]
    assert (await api.sue.delete(f"/domains/{brand}")).status == 200
    await create_domain(api, "brand.test")
    assert await status("x@brand.test") == 403
    assert not await reply("x@brand.test")
    assert (await api.sue.get(f"/mailboxes/{made}")).data["send_as"] == []
