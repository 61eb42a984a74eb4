"""Junk in the embedded profile: the list, and the release to the inbox."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from mailkeep.core.clock import iso
from mailkeep.core.ids import uuid7
from mailkeep.features.directory.mailboxes.model import maildir_of
from mailkeep.features.mailflow.receiving.model import RejectedRecipient
from mailkeep.features.mailflow.receiving.rejections import record_rejection
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE, Api, faults, reason
from tests.support.junk import insert_junk

ALICE = f"alice@{EXAMPLE}"
GTUBE = b"XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
DENIED = {"spam_action": "reject", "spam_decided_by": {"scope": "mailbox", "rule": "deny_entry", "entry_id": None}}


def files(api: Api, mailbox_id: UUID, folder: str = "") -> list[Path]:
    """The messages in the inbox, or in another folder."""
    return sorted(path for path in (maildir_of(api.app.data_dir, mailbox_id) / folder).glob("???/*"))


async def allowed(api: Api) -> list[tuple[UUID, str, str]]:
    rows = await api.sql("SELECT mailbox_id, list, value FROM filter_entries ORDER BY id")
    return [(row["mailbox_id"], row["list"], row["value"]) for row in rows]


class TestList:
    async def test_what_the_filter_filed_or_refused_is_listed_with_the_reason(self, post: Post):
        api = post.api
        alice = await api.mailbox(ALICE)
        await post.deliver(ALICE)  # not spam
        await post.deliver(ALICE, content=LETTER.replace(b"Hi.", GTUBE))
        refused = await insert_junk(api, alice, **DENIED)
        await insert_junk(api, await api.mailbox(f"bob@{EXAMPLE}"))
        full = RejectedRecipient("192.0.2.9", "someone@elsewhere.test", ALICE, 552, "5.2.2", "552 full")
        await record_rejection(api.app, full)  # refused, but not by the filter
        owner = await api.owner(alice)
        listed = (await owner.get("/me/junk")).data
        assert [(each["result"], each["can_release"]) for each in listed] == [("refused", False), ("junk", True)]
        assert listed[0] == {
            "id": str(refused.id), "from": "shop@elsewhere.test", "subject": "Offer", "at": iso(refused.created_at),
            "score": 7.5, "decided_by": {"scope": "mailbox", "rule": "deny_entry", "entry_id": None},
            "result": "refused", "reply": "Refused as spam", "can_release": False,
        }  # fmt: skip
        assert (listed[1]["subject"], listed[1]["reply"]) == ("Hello", None)
        assert (await api.dora.get(f"/mailboxes/{alice}/junk")).data == listed
        for number, result in enumerate(("refused", "junk")):
            assert (await owner.get("/me/junk", result=result)).data == [listed[number]]
        first = await owner.get("/me/junk", limit=1)
        cursor = first.json["meta"]["pagination"]["next_cursor"]
        assert [*first.data, *(await owner.get("/me/junk", limit=1, cursor=cursor)).data] == listed
        assert (await owner.get("/me/junk", order="asc")).data == listed[::-1]

    async def test_what_the_owner_has_moved_or_deleted_can_not_be_released(self, api: Api):
        alice = await api.mailbox(ALICE)
        kept, moved, deleted = [await insert_junk(api, alice) for _ in range(3)]
        by_id = {path.name.partition(".")[0]: path for path in files(api, alice, ".Junk")}
        inbox = maildir_of(api.app.data_dir, alice)
        (inbox / "cur").mkdir()
        for message, folder in ((kept, inbox / ".Junk"), (moved, inbox)):  # read, so that flags are in the name
            path = by_id[message.queue_id or ""]
            path.rename(folder / "cur" / f"{path.name}:2,S")
        by_id[deleted.queue_id or ""].unlink()
        listed = (await api.dora.get(f"/mailboxes/{alice}/junk", order="asc")).data
        assert [each["can_release"] for each in listed] == [True, False, False]
        path = f"/mailboxes/{alice}/junk"
        assert reason(await api.dora.post(f"{path}/{deleted.id}/release", {})) == "deleted"
        assert (await api.dora.post(f"{path}/{moved.id}/release", {})).status == 200  # where it should be
        entries = await api.audit_entries("junk.release")
        assert [entry["outcome"] for entry in entries] == ["failed"]

    async def test_of_a_period(self, api: Api):
        alice = await api.mailbox(ALICE)
        await insert_junk(api, alice)
        api.clock.advance(days=31)
        owner = await api.owner(alice)
        assert (await owner.get("/me/junk")).data == []
        assert len((await owner.get("/me/junk", since=iso(api.clock() - timedelta(days=32)))).data) == 1
        assert faults(await owner.get("/me/junk", since=iso(api.clock() - timedelta(days=91)))) == ["since"]


class TestRelease:
    async def test_moves_the_message_with_its_flags_once(self, api: Api):
        alice = await api.mailbox(ALICE)
        message = await insert_junk(api, alice)
        [before] = files(api, alice, ".Junk")
        content = before.read_bytes()
        before.rename(before.parent.parent / "cur" / f"{before.name}:2,FS")
        owner = await api.owner(alice)
        answers = await asyncio.gather(*(owner.post(f"/me/junk/{message.id}/release", {}) for _ in range(5)))
        assert [answer.data for answer in answers] == [
            {"id": str(message.id), "allow_entry_id": None, "warnings": []}
        ] * 5
        [released] = files(api, alice)
        assert (released.name, released.read_bytes()) == (f"{before.name}:2,FS", content)
        assert files(api, alice, ".Junk") == []
        [listed] = (await owner.get("/me/junk")).data
        assert listed["can_release"] is False
        [entry] = await api.audit_entries("junk.release")
        assert (entry["actor_type"], entry["resource_id"]) == ("mailbox", str(alice))
        assert entry["details"]["message_id"] == str(message.id)

    async def test_what_can_not_be_released(self, post: Post):
        api = post.api
        alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
        await post.deliver(ALICE)
        [received] = await post.messages()
        refused, others = await insert_junk(api, alice, **DENIED), await insert_junk(api, bob)
        owner = await api.owner(alice)
        answer = await owner.post(f"/me/junk/{refused.id}/release", {})
        assert (answer.code, reason(answer)) == ("CONFLICT", "refused")
        for message_id in (received["id"], others.id, uuid7(api.clock()), UUID(int=0)):
            assert (await owner.post(f"/me/junk/{message_id}/release", {})).code == "NOT_FOUND"
        assert (await api.otto.post(f"/mailboxes/{bob}/junk/{others.id}/release", {})).code == "FORBIDDEN"
        sue = await api.mailbox(f"sue@{EXAMPLE}")  # of a super_admin
        theirs = await insert_junk(api, sue)
        assert (await api.dora.post(f"/mailboxes/{sue}/junk/{theirs.id}/release", {})).code == "FORBIDDEN"
        assert (await (await api.owner(sue)).post(f"/me/junk/{theirs.id}/release", {})).status == 200
        api.clock.advance(days=91)
        assert (await api.dora.post(f"/mailboxes/{bob}/junk/{others.id}/release", {})).code == "NOT_FOUND"
        assert len(files(api, bob, ".Junk")) == 1


class TestAllow:
    async def test_the_author_is_allowed_for_the_mailbox_only_once(self, api: Api):
        alice = await api.mailbox(ALICE)
        auth = {"spf": "pass", "dkim": "pass", "dmarc": "pass", "from": "pass"}
        message = await insert_junk(api, alice, author="Shop@Elsewhere.test", auth=auth)
        path = f"/mailboxes/{alice}/junk/{message.id}/release"
        first = await api.dora.post(path, {"allow": True})
        assert first.data["warnings"] == []
        assert (await api.dora.post(path, {"allow": True})).data == first.data
        assert await allowed(api) == [(alice, "allow", "shop@elsewhere.test")]
        assert len(files(api, alice)) == 1

    async def test_an_entry_that_would_not_apply_is_a_warning(self, api: Api):
        alice = await api.mailbox(ALICE)
        message = await insert_junk(api, alice, auth={"spf": "fail", "dmarc": "fail", "from": "fail"})
        owner = await api.owner(alice)
        [warning] = (await owner.post(f"/me/junk/{message.id}/release", {"allow": True})).data["warnings"]
        assert "does not prove that it is from shop@elsewhere.test" in warning
        await api.sql(
            "INSERT INTO filter_entries (id, list, kind, value, enforced, created_by, created_at)"
            " VALUES (gen_random_uuid(), 'deny', 'domain', 'elsewhere.test', true, 'sue', %(at)s)",
            at=api.clock(),
        )
        [warning] = (await owner.post(f"/me/junk/{message.id}/release", {"allow": True})).data["warnings"]
        assert "A deny entry of the server has priority" in warning

    @pytest.mark.parametrize(
        "header",
        [
            b"Subject: no author",
            b"From: a@elsewhere.test, b@elsewhere.test",
            b"From: a@elsewhere.test\r\nFrom: b@elsewhere.test",
            b"From: Undisclosed:;",
        ],
    )
    async def test_without_one_author_nothing_is_released(self, api: Api, header: bytes):
        alice = await api.mailbox(ALICE)
        message = await insert_junk(api, alice, content=header + b"\r\n\r\nBuy.\r\n")
        owner = await api.owner(alice)
        assert faults(await owner.post(f"/me/junk/{message.id}/release", {"allow": True})) == ["allow"]
        assert (await allowed(api), len(files(api, alice, ".Junk"))) == ([], 1)
        assert (await owner.post(f"/me/junk/{message.id}/release", {"allow": False})).status == 200

    async def test_with_a_full_list_the_message_is_released(self, api: Api):
        alice = await api.mailbox(ALICE)
        await api.sql(
            """
            INSERT INTO filter_entries (id, mailbox_id, list, kind, value, created_by, created_at)
            SELECT gen_random_uuid(), %(alice)s, 'deny', 'address', n || '@other.test', 'test', %(at)s
            FROM generate_series(1, 1000) n
            """,
            alice=alice,
            at=api.clock(),
        )
        message = await insert_junk(api, alice)
        answer = await (await api.owner(alice)).post(f"/me/junk/{message.id}/release", {"allow": True})
        assert answer.data["allow_entry_id"] is None
        assert "was not added to the allow list" in answer.data["warnings"][0]
        assert len(files(api, alice)) == 1


async def test_in_the_full_profile_mail_can_not_be_released_while_node_is_away(api: Api):
    alice = await api.mailbox(ALICE)
    await insert_junk(api, alice)
    api.app.settings = replace(api.app.settings, mta=replace(api.app.settings.mta, mode="postfix"))
    [listed] = (await api.dora.get(f"/mailboxes/{alice}/junk")).data
    assert listed["can_release"] is False
    assert len(files(api, alice, ".Junk")) == 1
